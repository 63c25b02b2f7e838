{#- The unique id of the model of this name, in any package. -#}
{% macro ivm_node_id(name, schema=none) %}
  {%- for node in graph.nodes.values() if node.resource_type == 'model' -%}
    {%- if (schema and node.schema == schema and node.alias == name) or (not schema and node.name == name) -%}
      {{ return(node.unique_id) }}
    {%- endif -%}
  {%- endfor -%}
  {%- do exceptions.raise_compiler_error("dbt_ivm: there is no model named '" ~ name ~ "'") -%}
{% endmacro %}
