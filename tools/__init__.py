"""The tools a workflow may call; this list is explicit."""
