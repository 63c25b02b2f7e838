"""An embedded Spark with Delta, quiet and small."""

from __future__ import annotations

from pathlib import Path

PACKAGES = "io.delta:delta-spark_4.1_2.13:4.4.0"


def settings(folder: Path) -> dict[str, str]:
    return {
        "spark.master": "local[2]",
        "spark.app.name": "dbt_ivm tests",
        "spark.sql.catalogImplementation": "hive",
        "spark.jars.packages": PACKAGES,
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder / 'metastore'};create=true",
        # Many small statements in a short life: the second compiler and parallel collection cost more than they bring.
        "spark.driver.extraJavaOptions": (
            f"-Dderby.stream.error.file={folder / 'derby.log'} -XX:TieredStopAtLevel=1 "
            # One JVM compiles for the whole suite: at the default 48 MB it stops compiling, and everything crawls.
            "-XX:ReservedCodeCacheSize=256m -XX:+UseSerialGC"
        ),
        # A pool of ten connections runs dry: a Thrift client that dies takes its statement's connection with it.
        "spark.hadoop.datanucleus.connectionPoolingType": "NONE",
        "spark.driver.memory": "3g",
        "spark.ui.enabled": "false",
        "spark.sql.ui.explainMode": "simple",
        # A few rows a table: planning in stages and compiling code for each of thousands of queries is most of their time
        # (an insert, a count and a delete: 3.3 s with both, 2.0 s without). Demo and installation test run with both.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.ui.showConsoleProgress": "false",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.shuffle.partitions": "1",
        "spark.default.parallelism": "1",
        "spark.sql.session.timeZone": "UTC",
    }


def start_spark(folder: Path):
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    context = SparkContext.getOrCreate(SparkConf().setAll(settings(folder).items()))
    _keep_jars_open(context._jvm, context._gateway)
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def _keep_jars_open(jvm, gateway) -> None:
    """A Thrift session that ends closes the class loaders between Spark's session and the JVM's own, the one with Delta
    among them. A loader that hides its parent ends that walk before it begins."""
    thread = jvm.java.lang.Thread.currentThread()
    no_jars = gateway.new_array(jvm.java.net.URL, 0)
    loader = jvm.org.apache.spark.util.ChildFirstURLClassLoader(no_jars, thread.getContextClassLoader())
    thread.setContextClassLoader(loader)
