"""Qt item models without widgets."""
