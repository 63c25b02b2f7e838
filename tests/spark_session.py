"""An embedded Spark with Delta, quiet and small."""

from __future__ import annotations

from pathlib import Path

PACKAGES = "io.delta:delta-spark_4.1_2.13:4.4.0"


def settings(folder: Path) -> dict[str, str]:
    return {
        "spark.master": "local[2]",
        "spark.jars.packages": PACKAGES,
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder / 'metastore'};create=true",
        # Many small statements in a short life: the second compiler and parallel collection cost more than they bring.
        "spark.driver.extraJavaOptions": (
            f"-Dderby.stream.error.file={folder / 'derby.log'} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        ),
        "spark.driver.memory": "3g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.shuffle.partitions": "1",
        "spark.default.parallelism": "1",
        "spark.sql.session.timeZone": "UTC",
    }


def start_spark(folder: Path):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.enableHiveSupport()
    for key, value in settings(folder).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark
