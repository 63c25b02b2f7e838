{#- Every statement of a refresh goes through here. -#}
{% macro ivm_execute(sql, fetch=false) %}
  {%- set response, table = adapter.execute(sql, auto_begin=false, fetch=fetch) -%}
  {{ return(table) }}
{% endmacro %}
