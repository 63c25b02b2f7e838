"""The conversation with Spark: generators that yield statements and receive rows; the bridge runs them."""
