{% macro ivm_report(response) %}
  {%- do log(model.name ~ ' ' ~ response, info=true) -%}
  {%- for hint in response.hints -%}
    {%- do log(model.name ~ ' hint: ' ~ hint, info=true) -%}
  {%- endfor -%}
{% endmacro %}
