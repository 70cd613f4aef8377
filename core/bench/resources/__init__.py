"""Files of the bench: which rows of the sets with official splits may be learnt from, as fingerprints."""
