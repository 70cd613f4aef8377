"""The starter set: condition files, concepts and safety rules written for this program, read as resources."""
