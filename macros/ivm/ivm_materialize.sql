{#- Setup, refresh, teardown. Deciding is the planner's; this macro only runs what it says, through dbt's adapter. -#}
{% macro ivm_materialize() %}
  {%- set target_relation = this.incorporate(type='view') -%}
  {%- set existing_relation = adapter.get_relation(database=none, schema=this.schema, identifier=this.identifier) -%}

  {{ run_hooks(pre_hooks) }}

  {%- if config.get('contract') and config.get('contract').enforced -%}
    {%- do get_assert_columns_equivalent(sql) -%}
  {%- endif -%}
  {%- set state_schema = config.get('state_schema') -%}
  {%- if state_schema and state_schema != this.schema -%}
    {%- do create_schema(api.Relation.create(schema=state_schema)) -%}
  {%- endif -%}

  {%- set response = modules.ivm.refresh(
        model, model.config, sql, adapter, dbt_ivm.ivm_execute, invocation_id, should_full_refresh(),
        dbt_ivm.ivm_upstream(model)
  ) -%}
  {%- do store_raw_result(
        'main', message=response._message, code=response.code, rows_affected=response.rows_affected
  ) -%}
  {%- do load_result('main').update({'response': response}) -%}
  {%- do dbt_ivm.ivm_report(response) -%}

  {%- if response.strategy != 'no_op' -%}
    {%- set revoke = should_revoke(existing_relation, full_refresh_mode=False) -%}
    {%- do apply_grants(target_relation, config.get('grants'), revoke) -%}
    {%- do dbt_ivm.ivm_describe_relation(target_relation) -%}
  {%- endif -%}

  {{ run_hooks(post_hooks) }}

  {{ return({'relations': [target_relation]}) }}
{% endmacro %}
