"""Measurement of the product by itself."""
