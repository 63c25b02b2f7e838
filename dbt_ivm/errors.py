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


class Interleaved(IvmError):
    """Another run wrote the same state at the same time. Nothing of ours was published; trying again is safe."""

    def __init__(self, model: str, state: str) -> None:
        super().__init__(f"{model}: another run wrote {state} at the same time; nothing was published, run again")


class StatementFailed(Exception):
    """A statement failed in Spark; carries Spark's own message."""

    @property
    def is_conflict(self) -> bool:
        """Delta refused the commit because somebody else's came first.

        >>> StatementFailed("[DELTA_CONCURRENT_APPEND] ...").is_conflict
        True
        """
        text = str(self)
        return any(word in text for word in ("DELTA_CONCURRENT", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED"))

    @property
    def first_line(self) -> str:
        lines = [line.strip() for line in str(self).splitlines() if line.strip()]
        return lines[0][:200] if lines else "a statement failed"
