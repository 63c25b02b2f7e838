"""What macros may call, as `modules.ivm`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dbt_common.exceptions import CompilationError, DbtRuntimeError

from dbt_ivm.bridge.config import MATERIALIZATIONS, validate_all
from dbt_ivm.bridge.driver import drive
from dbt_ivm.bridge.models import compiled, docs_of, model_of, state_name
from dbt_ivm.bridge.response import IvmResponse, respond
from dbt_ivm.bridge.run import cached_information, environment_of
from dbt_ivm.bridge.target_files import write_explained, write_state
from dbt_ivm.errors import IvmError, StatementFailed
from dbt_ivm.explain.report import explain as explain_steps
from dbt_ivm.planner import refresh as refresh_steps
from dbt_ivm.protocol.docs import document, documented
from dbt_ivm.protocol.environment import source_name
from dbt_ivm.protocol.invariants import check as check_steps
from dbt_ivm.strategy.work import Statement


def exports() -> dict[str, Callable]:
    return {
        "refresh": refresh,
        "explain": explain,
        "validate": validate,
        "difference": difference,
        "state_name": state_name,
    }


@contextmanager
def readable_errors(name: str) -> Iterator[None]:
    """Problems reach the user as dbt's own errors: the sentence, not a stack trace."""
    try:
        yield
    except IvmError as problem:
        raise CompilationError(str(problem)) from problem
    except StatementFailed as problem:
        raise DbtRuntimeError(f"{name}: {problem}") from problem


def validate(nodes: Any, selected: Any) -> str:
    with readable_errors("dbt_ivm"):
        validate_all(node for node in nodes if not selected or node.get("unique_id") in selected)
    return ""


def refresh(
    ref: Any,
    node: dict,
    sql: str,
    adapter: Any,
    execute: Callable,
    invocation_id: str,
    full_refresh: bool,
    refs: list,
) -> IvmResponse:
    """Refreshes one model and its docs; the macro takes the line and the hints to the log."""
    started = time.monotonic()
    statements: list[Statement] = []
    env = environment_of(adapter, execute, invocation_id)
    with readable_errors(node["name"]):
        model = model_of(node, node["config"], sql, full_refresh, refs)
        present = documented(cached_information(adapter, model.target))
        outcome = drive(refresh_steps(model, env), execute, statements.append)
        docs = docs_of(node, node["config"])
        outcome.record = drive(document(model, docs, present, outcome, env), execute, statements.append)
    if any(statement.purpose == "undo" for statement in statements):
        outcome.hints.append(
            f"{source_name(model.state)} held commits that no run published (a run was killed, or somebody else wrote "
            "to it); they were undone, and the view never showed them"
        )
    response = respond(outcome, len(statements), time.monotonic() - started)
    response.hints = outcome.hints  # type: ignore[attr-defined]
    write_state(ref, adapter, invocation_id, node["unique_id"], response)
    return response


def difference(
    ref: Any, unique_id: str, adapter: Any, execute: Callable, invocation_id: str, float_digits: int | None = None
) -> str:
    node = _ivm_node(ref, unique_id)
    env = environment_of(adapter, execute, invocation_id)
    with readable_errors(node["name"]):
        model = model_of(node, node["config"], node["compiled_code"], False, [])
        return drive(check_steps(model, env, float_digits), execute, lambda statement: None)


def explain(ref: Any, unique_id: str, adapter: Any, execute: Callable, invocation_id: str, refs: list) -> str:
    node = _ivm_node(ref, unique_id)
    env = environment_of(adapter, execute, invocation_id)
    with readable_errors(node["name"]):
        model = model_of(node, node["config"], node["compiled_code"], False, refs)
        text = drive(explain_steps(model, env), execute, lambda statement: None)
    write_explained(ref, node["name"], text)
    return text


def _ivm_node(ref: Any, unique_id: str) -> dict:
    node = ref.manifest.nodes[unique_id]
    if node.config.materialized not in MATERIALIZATIONS:
        raise CompilationError(
            f"dbt_ivm: {node.name} is materialized as {node.config.materialized}, not as ivm: "
            "there is nothing to maintain. Configure materialized='ivm' first."
        )
    return compiled(ref, unique_id).to_dict()
