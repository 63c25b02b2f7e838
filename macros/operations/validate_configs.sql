{#- Runs before anything else does: all wrong options of all selected ivm models in one error. -#}
{% macro validate_configs() %}
  {%- if execute -%}
    {{ dbt_ivm.ivm_python().validate(graph.nodes.values() | list, selected_resources) }}
  {%- endif -%}
{% endmacro %}
