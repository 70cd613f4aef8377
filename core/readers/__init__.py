"""Foreign text files to values; knows no store."""
