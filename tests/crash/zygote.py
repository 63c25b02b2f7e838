"""A process that has imported dbt and parsed a project once, and forks a real dbt process for every run.

It never connects to Spark itself and has no threads, so a fork of it is as good as a fresh start, without the seconds.
Every statement of a forked run is announced to the suite, which answers what shall happen to the process there.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from multiprocessing.connection import Client, Connection
from typing import Any

GO = "go"
KILL = "kill"
"""SIGKILL here: before the statement is sent, or after its result came back."""
KILL_SENT = "kill when sent"
"""SIGKILL once the server has accepted the statement; the server sees the connection break and may cancel it."""
KILL_LINGER = "kill when sent, connection stays"
"""The same, but the server does not notice: the statement goes on and completes."""


class Rehearsal:
    """Announces statements of this process and does what is answered."""

    def __init__(self, suite: Connection, address: Any) -> None:
        self.suite = suite
        self.address = address
        self.lock = threading.Lock()
        self.when_sent = GO

    def ask(self, moment: str, sql: str) -> str:
        with self.lock:
            self.suite.send((moment, sql))
            answer = self.suite.recv()
        if answer == KILL:
            _die()
        return answer

    def install(self) -> None:
        from dbt.adapters.spark.connections import PyhiveConnectionWrapper
        from pyhive.hive import Cursor

        execute, send = PyhiveConnectionWrapper.execute, Cursor.execute

        def announced(wrapper: Any, sql: str, bindings: Any = None) -> None:
            self.when_sent = self.ask("before", sql)
            execute(wrapper, sql, bindings)
            self.ask("after", sql)

        def sent(cursor: Any, *args: Any, **kwargs: Any) -> None:
            send(cursor, *args, **kwargs)
            if self.when_sent == KILL_LINGER:
                self.keep_connections()
            if self.when_sent != GO:
                _die()

        PyhiveConnectionWrapper.execute = announced
        Cursor.execute = sent

    def keep_connections(self) -> None:
        """A second process holds this one's connection to the server open until the suite lets it go."""
        if os.fork() == 0:
            self.suite.close()
            with Client(self.address) as suite:
                suite.send(("lingering", os.getppid()))
                suite.poll(None)
            os._exit(0)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def run(address: Any, manifest: Any, args: list[str], log: str) -> None:
    with open(log, "a") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    suite = Client(address)
    suite.send(("run", os.getpid()))
    Rehearsal(suite, address).install()
    from dbt.cli.main import dbtRunner

    result = dbtRunner(manifest=manifest).invoke(args)
    nodes = [
        (node.node.name, str(node.status), node.message or "", dict(node.adapter_response or {}))
        for node in getattr(result.result, "results", None) or ()
    ]
    suite.send(("done", (bool(result.success), str(result.exception or ""), nodes)))
    suite.close()


def main(port: int) -> None:
    address = ("127.0.0.1", port)
    suite = Client(address)
    from dbt.cli.main import dbtRunner

    manifests: dict[str, Any] = {}
    while True:
        try:
            order, *rest = suite.recv()
        except EOFError:
            return
        if order == "parse":
            (folder,) = rest
            result = dbtRunner().invoke(["--quiet", "parse", "--project-dir", folder, "--profiles-dir", folder])
            manifests[folder] = result.result
            suite.send((bool(result.success), str(result.exception or ""), threading.active_count()))
        elif order == "run":
            folder, args, log = rest
            pid = os.fork()
            if pid == 0:
                suite.close()
                try:
                    run(address, manifests[folder], args, log)
                finally:
                    os._exit(0)
            suite.send(pid)
        else:
            suite.send(os.waitstatus_to_exitcode(os.waitpid(rest[0], 0)[1]))


if __name__ == "__main__":
    main(int(sys.argv[1]))
