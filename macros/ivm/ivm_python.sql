{#- The planner. A project that has the dbt package but not the Python package gets one clear sentence. -#}
{% macro ivm_python() %}
  {%- if modules.ivm is not defined -%}
    {%- do exceptions.raise_compiler_error(
          "dbt_ivm's Python half is missing: pip install dbt-ivm in the environment that runs dbt"
    ) -%}
  {%- endif -%}
  {{ return(modules.ivm) }}
{% endmacro %}
