"""One JVM for the whole suite."""

from __future__ import annotations

import itertools

import pytest

from tests.spark_driver import SparkDriver
from tests.spark_session import start_spark
from tests.thrift_server import ThriftServer, start_thrift_server

_SCHEMAS = itertools.count(1)


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    return start_spark(tmp_path_factory.mktemp("spark"))


@pytest.fixture(scope="session")
def thrift(spark) -> ThriftServer:
    """For dbt processes beside this one: they share its Spark and its metastore."""
    server, handle = start_thrift_server(spark)
    yield server
    handle.stop()


@pytest.fixture
def driver(spark) -> SparkDriver:
    schema = f"case_{next(_SCHEMAS)}"
    spark.sql(f"CREATE SCHEMA {schema}")
    yield SparkDriver(spark, schema)
    spark.sql(f"DROP SCHEMA {schema} CASCADE")
