"""Every refusal and every choice has a code, a one-line reason and, where one exists, a suggestion."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """Why a refresh did what it did; `code` is stable, scripts may read it."""

    code: str
    text: str
    suggestion: str = ""

    def __str__(self) -> str:
        return f"{self.text} [{self.code}]"


class IvmError(Exception):
    """Shown to the user as it is: what is wrong, and what to do."""


class NotIncremental(Exception):
    """The SELECT is outside the incremental classes; it is recomputed, with this reason."""

    def __init__(self, code: str, text: str, suggestion: str = "") -> None:
        super().__init__(text)
        self.reason = Reason(code, text, suggestion)


class StatementFailed(Exception):
    """A statement failed in Spark; carries Spark's own message."""
