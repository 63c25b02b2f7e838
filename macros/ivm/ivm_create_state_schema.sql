{#- A schema for states alone, made when the first of them is: dbt makes only the schemas of models. -#}
{% macro ivm_create_state_schema(schema, identifier) %}
  {%- if schema and not adapter.get_relation(database=none, schema=schema, identifier=identifier) -%}
    {%- do create_schema(api.Relation.create(schema=schema)) -%}
  {%- endif -%}
{% endmacro %}
