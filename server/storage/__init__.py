"""What is kept on disk: one SQLite file, written from one thread."""
