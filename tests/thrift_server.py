"""Spark's Thrift server inside the suite's own JVM: other processes share its metastore, which Derby alone would not admit."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

HOST = "127.0.0.1"


@dataclass(frozen=True)
class ThriftServer:
    host: str
    port: int

    def output(self, schema: str, **extra) -> dict:
        """A target of a dbt profile."""
        return {
            "type": "spark",
            "method": "thrift",
            "host": self.host,
            "port": self.port,
            "user": "dbt",
            "schema": schema,
            "threads": 1,
            # The server answers a poll when the statement ends; waiting in between would only add to it.
            "poll_interval": 0,
            **extra,
        }


def start_thrift_server(spark) -> tuple[ThriftServer, object]:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port = probe.getsockname()[1]
    session = spark._jsparkSession
    for key, value in {
        "hive.server2.thrift.port": str(port),
        "hive.server2.thrift.bind.host": HOST,
        "hive.server2.authentication": "NONE",
    }.items():
        session.conf().set(key, value)
    servers = spark._jvm.org.apache.spark.sql.hive.thriftserver.HiveThriftServer2
    # In a thread of its own: in one that has spoken to the metastore, Hive would go on with the settings of that time.
    with ThreadPoolExecutor(1) as fresh:
        server = fresh.submit(servers.startWithContext, session.sqlContext()).result()
    _await(port)
    return ThriftServer(HOST, port), server


def _await(port: int) -> None:
    """The server binds its port in a thread of its own."""
    deadline = time.monotonic() + 60
    while True:
        try:
            socket.create_connection((HOST, port), timeout=5).close()
            return
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
