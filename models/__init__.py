"""Model files and native inference libraries; the only package that loads them."""
