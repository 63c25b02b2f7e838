{#- (schema, name) of what a node reads, through ephemeral models: all that is known where a SELECT cannot be read. -#}
{% macro ivm_upstream(node) %}
  {%- set names = [] -%}
  {%- for unique_id in node.depends_on.nodes -%}
    {%- set upstream = graph.nodes.get(unique_id) or graph.sources.get(unique_id) -%}
    {%- if upstream and upstream.config.materialized == 'ephemeral' -%}
      {%- do names.extend(dbt_ivm.ivm_upstream(upstream)) -%}
    {%- elif upstream -%}
      {%- do names.append([upstream.schema, upstream.identifier or upstream.alias or upstream.name]) -%}
    {%- endif -%}
  {%- endfor -%}
  {{ return(names) }}
{% endmacro %}
