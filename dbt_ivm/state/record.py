"""The record of a published version: where the state stands and which source versions it reflects.

It rides as a comment in the public view's text, so pointer and watermark can never disagree. The JSON is escaped so that
neither the end of a comment nor the beginning of a variable can occur in it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

MARKER = "ivm "
MAX_TEXT = 32_700
"""The embedded metastore refuses longer view texts, after 20 retries and 40 s."""


@dataclass(frozen=True)
class SourceMark:
    id: str
    version: int
    timestamp: str


@dataclass(frozen=True)
class Record:
    definition: str
    state: str
    version: int
    timestamp: str
    incremental: bool
    reason: str = ""
    schema: str = ""
    """Fingerprint of the used columns' types: a source whose used columns change rebuilds the view."""
    rows: int = -1
    docs: str = ""
    sources: dict[str, SourceMark] = field(default_factory=dict)

    def to_comment(self) -> str:
        """
        >>> Record("d", "s", 1, "", True, sources={"a*/b": SourceMark("${x}", 2, "")}).to_comment().count("*/")
        0
        """
        text = json.dumps(asdict(self), separators=(",", ":"), ensure_ascii=True)
        return MARKER + text.replace("/", "\\/").replace("$", "\\u0024")

    @classmethod
    def from_text(cls, view_text: str) -> Record | None:
        """
        >>> record = Record("d", "s", 1, "", True, sources={"a*/b": SourceMark("${x}", 2, "")})
        >>> Record.from_text(f"SELECT /* {record.to_comment()} */ 1") == record
        True
        >>> Record.from_text("SELECT 1") is None
        True
        """
        start = view_text.find("/* " + MARKER + "{")
        end = view_text.find("*/", start)
        if start < 0 or end < 0:
            return None
        try:
            values = json.loads(view_text[start + 3 + len(MARKER) : end])
            values["sources"] = {name: SourceMark(**mark) for name, mark in values["sources"].items()}
            return cls(**values)
        except (ValueError, TypeError, KeyError):
            return None
