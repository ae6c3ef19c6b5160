"""Statistics over matrices of scores: arrays in, numbers out; they know no runs, topics or files."""
