"""How studies run: declaration, option groups, one collection at a time, work units, executors, work folder."""
