"""What a refresh leaves behind: the state table's layout, and the record that rides in the public view's text. Values only."""
