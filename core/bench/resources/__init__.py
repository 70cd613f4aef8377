"""Files of the bench: which rows of the public sets may be learnt from, as fingerprints."""
