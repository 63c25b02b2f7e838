{#- The view equals its SELECT over the recorded source versions, as a bag: rows of a side that the other lacks. -#}
{% test equals_recompute(model, float_digits=none) %}
  {%- if execute -%}
    {%- set unique_id = dbt_ivm.ivm_node_id(model.identifier, model.schema) -%}
    {{ dbt_ivm.ivm_python().difference(ref, unique_id, adapter, dbt_ivm.ivm_execute, invocation_id, float_digits) }}
  {%- endif -%}
{% endtest %}
