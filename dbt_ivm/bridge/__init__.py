"""The only room that knows dbt."""
