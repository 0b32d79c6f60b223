"""A session, its clients, its chat and the turns that run in it."""
