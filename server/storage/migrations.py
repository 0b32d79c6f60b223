"""The database's versions: entry ``n`` leads from version ``n`` to ``n + 1``. Never change a
released entry, append one."""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE sessions (
            id TEXT PRIMARY KEY,
            shared INTEGER NOT NULL DEFAULT 0,
            created_at TEXT NOT NULL,
            last_turn INTEGER NOT NULL DEFAULT 0,
            reserved_seq INTEGER NOT NULL DEFAULT 0
        ) STRICT
        """,
        "CREATE UNIQUE INDEX one_shared_session ON sessions (shared) WHERE shared = 1",
        """
        CREATE TABLE messages (
            position INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            session TEXT NOT NULL,
            turn INTEGER NOT NULL,
            role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
            text TEXT NOT NULL,
            at TEXT NOT NULL,
            state TEXT NOT NULL CHECK (state IN ('streaming', 'whole', 'interrupted')),
            images INTEGER NOT NULL DEFAULT 0,
            origin TEXT NOT NULL DEFAULT 'user',
            error TEXT
        ) STRICT
        """,
        "CREATE INDEX messages_of_session ON messages (session, position)",
        """
        CREATE TABLE usage (
            day TEXT NOT NULL,
            role TEXT NOT NULL,
            prompt INTEGER NOT NULL,
            completion INTEGER NOT NULL,
            PRIMARY KEY (day, role)
        ) STRICT
        """,
    ),
    (
        "ALTER TABLE sessions ADD COLUMN state TEXT",
        """
        CREATE TABLE consents (
            capability TEXT NOT NULL,
            subject TEXT NOT NULL,
            allowed INTEGER NOT NULL,
            PRIMARY KEY (capability, subject)
        ) STRICT
        """,
    ),
)
