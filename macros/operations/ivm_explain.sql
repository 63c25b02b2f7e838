{#- dbt run-operation ivm_explain --args '{model: m}' -#}
{% macro ivm_explain(model) %}
  {%- if execute -%}
    {%- set unique_id = dbt_ivm.ivm_node_id(model) -%}
    {%- do log(modules.ivm.explain(ref, unique_id, adapter, dbt_ivm.ivm_execute, invocation_id), info=true) -%}
  {%- endif -%}
{% endmacro %}
