"""Conducts dbt processes statement by statement: where one dies, where it waits, what happens in between."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Listener
from pathlib import Path
from typing import Any

from tests.crash.zygote import GO

_COMMENT = re.compile(r"^\s*/\*(.*?)\*/\s*", re.S)
PATIENCE = 300
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

    @property
    def is_publish(self) -> bool:
        return self.sql.upper().startswith(("ALTER VIEW", "CREATE OR REPLACE VIEW"))

    @property
    def shape(self) -> str:
        """What it does to what: the same in every run, whatever versions and batches it names."""
        return " ".join(re.sub(r"\d+", "", self.sql).split()[:5])


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
        assert self.connection.poll(PATIENCE), f"nothing heard of process {self.pid} for {PATIENCE} s"
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
    """Starts dbt processes; several threads may use it, each with runs of its own."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.lock = threading.Lock()
        self.arrived: dict[tuple[str, int], Connection] = {}
        self.listener = Listener(("127.0.0.1", 0), backlog=16)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.zygote", str(self.listener.address[1])],
            cwd=Path(__file__).parents[2],
            stdout=log.open("a"),
            stderr=subprocess.STDOUT,
        )
        self.zygote = self.listener.accept()

    def parse(self, folder: Path) -> None:
        success, problem, threads = self._order("parse", str(folder))
        assert success, problem
        assert threads == 1, "a process with threads must not be forked"

    def start(self, folder: Path, *args: str) -> Run:
        options = ["--project-dir", str(folder), "--profiles-dir", str(folder)]
        pid = self._order("run", str(folder), [*args, *options], str(self.log))
        return Run(self, pid, self._accept(("run", pid)))

    def lingering(self, pid: int) -> Connection:
        """The process that keeps a dead one's connection to the server open; ends when this is closed."""
        return self._accept(("lingering", pid))

    def wait(self, pid: int) -> int:
        return self._order("wait", pid)

    def close(self) -> None:
        self.zygote.close()
        self.process.wait(30)
        self.listener.close()

    def _order(self, *order: Any) -> Any:
        with self.lock:
            self.zygote.send(order)
            return self.zygote.recv()

    def _accept(self, who: tuple[str, int]) -> Connection:
        with self.lock:
            while who not in self.arrived:
                connection = self.listener.accept()
                self.arrived[connection.recv()] = connection
            return self.arrived.pop(who)
