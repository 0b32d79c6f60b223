"""The companion's server: one turn's path runs gateway → session → agent, models, expression."""

__version__ = "0.1.0"
