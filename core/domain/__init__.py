"""The values everything else speaks in; pure, no I/O."""
