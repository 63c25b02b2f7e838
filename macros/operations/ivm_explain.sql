{#- dbt run-operation ivm_explain --args '{model: m}' -#}
{% macro ivm_explain(model) %}
  {%- if execute -%}
    {%- set ivm = dbt_ivm.ivm_python() -%}
    {%- set unique_id = dbt_ivm.ivm_node_id(model) -%}
    {%- set upstream = dbt_ivm.ivm_upstream(graph.nodes[unique_id]) -%}
    {%- do log(ivm.explain(ref, unique_id, adapter, dbt_ivm.ivm_execute, invocation_id, upstream), info=true) -%}
  {%- endif -%}
{% endmacro %}
