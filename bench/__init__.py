"""The figures that the program keeps, each a command: ``python -m bench.NAME``."""
