"""The workflows: plain functions from a case and a run to an assessment."""
