"""``python -m server.cli``, for where the ``pet`` script is not on the path."""

from server.cli import main

main()
