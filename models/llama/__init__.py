"""Language models over llama.cpp."""
