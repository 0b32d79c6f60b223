"""lab.toml: its schema, finding, reading, editing and watching it, and what lies in the data folder."""
