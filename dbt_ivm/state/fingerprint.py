"""Fingerprints: short, stable, of meaning rather than of formatting."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

LAYOUT_VERSION = 1
"""Raised when the state's layout changes: every view is then rebuilt once, and says so."""


def fingerprint(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def definition_of(normalised_sql: str, upstream_views: Iterable[tuple[str, str]], shape: object) -> str:
    """Of the SELECT, the views it is analysed through, and the configuration that shapes the state."""
    return fingerprint(LAYOUT_VERSION, normalised_sql, sorted(upstream_views), shape)
