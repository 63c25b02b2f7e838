"""What a view is: typed, immutable relations over signed multisets. This room knows nobody."""
