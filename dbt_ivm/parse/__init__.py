"""Compiled SQL to algebra: names resolved as Spark resolves them, everything else refused with a code."""
