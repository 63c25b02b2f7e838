"""Algebra to Spark SQL, built from expressions; identifiers are always quoted."""
