"""Conducts dbt processes statement by statement: where one dies, where it waits, what happens in between."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import Any

from tests.crash.zygote import GO

_COMMENT = re.compile(r"^\s*/\*(.*?)\*/\s*", re.S)
_WRITES = ("INSERT", "CREATE", "ALTER", "DELETE", "MERGE", "RESTORE", "UPDATE", "DROP")


@dataclass(frozen=True)
class Event:
    """A statement about to be sent, or one whose result has come."""

    moment: str
    node: str
    """Name of the model, empty for what dbt does for itself."""
    sql: str

    @property
    def is_write(self) -> bool:
        return self.sql.upper().startswith(_WRITES)


@dataclass
class Result:
    success: bool
    problem: str
    nodes: list[tuple[str, str, str, dict]] = field(default_factory=list)

    def response(self, model: str) -> dict:
        return next(response for name, _, _, response in self.nodes if name == model)

    @property
    def messages(self) -> str:
        return "\n".join([self.problem, *(f"{name}: {status}: {text}" for name, status, text, _ in self.nodes)])


class Run:
    """One dbt process."""

    def __init__(self, conductor: Conductor, pid: int, connection: Connection) -> None:
        self.conductor, self.pid, self.connection = conductor, pid, connection
        self.result: Result | None = None

    def next(self) -> Event | None:
        """The next statement, before or after; the process waits there. None: it has ended."""
        try:
            moment, content = self.connection.recv()
        except EOFError:
            self.connection.close()
            return None
        if moment == "done":
            self.result = Result(*content)
            self.connection.close()
            return None
        comment = _COMMENT.match(content)
        node = json.loads(comment.group(1)).get("node_id", "") if comment else ""
        return Event(moment, node.rpartition(".")[2], content[comment.end() :] if comment else content)

    def answer(self, action: str) -> None:
        self.connection.send(action)

    def play(self, react: Callable[[Event], str | None] = lambda event: None) -> Result | None:
        """To the end; None if the process was killed."""
        while (event := self.next()) is not None:
            self.answer(react(event) or GO)
        status = self.conductor.wait(self.pid)
        assert status == (0 if self.result else -9), status
        return self.result


class Conductor:
    def __init__(self, log: Path) -> None:
        self.log = log
        self.listener = Listener(("127.0.0.1", 0))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.zygote", str(self.listener.address[1])],
            cwd=Path(__file__).parents[2],
            stdout=log.open("a"),
            stderr=subprocess.STDOUT,
        )
        self.zygote = self.listener.accept()

    def parse(self, folder: Path) -> None:
        self.zygote.send(("parse", str(folder)))
        success, problem, threads = self.zygote.recv()
        assert success, problem
        assert threads == 1, "a process with threads must not be forked"

    def start(self, folder: Path, *args: str, settings: dict[str, Any] | None = None) -> Run:
        options = ["--project-dir", str(folder), "--profiles-dir", str(folder)]
        self.zygote.send(("run", str(folder), [*args, *options], settings or {}, str(self.log)))
        pid = self.zygote.recv()
        return Run(self, pid, self.listener.accept())

    def lingering(self) -> Connection:
        """The process that keeps a dead one's connection open; ends when this is closed."""
        connection = self.listener.accept()
        assert connection.recv() == "lingering"
        return connection

    def wait(self, pid: int) -> int:
        self.zygote.send(("wait", pid))
        return self.zygote.recv()

    def close(self) -> None:
        self.zygote.close()
        self.process.wait(30)
        self.listener.close()
