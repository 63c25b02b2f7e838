{% materialization ivm, adapter='spark' %}
  {{ return(dbt_ivm.ivm_materialize()) }}
{% endmaterialization %}

{% materialization incremental_view, adapter='spark' %}
  {{ return(dbt_ivm.ivm_materialize()) }}
{% endmaterialization %}
