{#- Setup, refresh, teardown. Deciding is the planner's; this macro only runs what it says, through dbt's adapter. -#}
{% macro ivm_materialize() %}
  {%- set ivm = dbt_ivm.ivm_python() -%}
  {%- set target_relation = this.incorporate(type='view') -%}
  {%- set existing_relation = adapter.get_relation(database=none, schema=this.schema, identifier=this.identifier) -%}

  {{ run_hooks(pre_hooks) }}

  {%- if config.get('contract') and config.get('contract').enforced -%}
    {%- do get_assert_columns_equivalent(sql) -%}
  {%- endif -%}
  {%- do dbt_ivm.ivm_create_state_schema(config.get('state_schema'), ivm.state_name(this.identifier)) -%}

  {%- set response = ivm.refresh(
        ref, model, sql, adapter, dbt_ivm.ivm_execute, invocation_id, should_full_refresh(),
        dbt_ivm.ivm_upstream(model)
  ) -%}
  {%- do store_raw_result('main', message=response ~ '', code=response.code, rows_affected=response.rows_affected) -%}
  {%- do load_result('main').update({'response': response}) -%}
  {%- do dbt_ivm.ivm_report(response) -%}

  {%- set revoke = should_revoke(existing_relation, full_refresh_mode=False) -%}
  {%- do apply_grants(target_relation, config.get('grants'), revoke) -%}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target_relation]}) }}
{% endmacro %}
