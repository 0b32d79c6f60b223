"""A GGUF file that the companion runs itself, in a process of its own."""
