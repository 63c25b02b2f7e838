"""How a change is applied: append, overwrite, replace, merge or full; one file each, behind `Work` and `Applied`."""
