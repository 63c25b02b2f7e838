{#- The view's own comment; column comments ride on the state's columns. -#}
{% macro ivm_describe_relation(relation) %}
  {%- if config.persist_relation_docs() and model.description -%}
    {%- set text = model.description | replace("\\", "\\\\") | replace("'", "\\'") -%}
    {%- do dbt_ivm.ivm_execute("ALTER VIEW " ~ relation ~ " SET TBLPROPERTIES ('comment' = '" ~ text ~ "')") -%}
  {%- endif -%}
{% endmacro %}
