"""Pools: how deep, from which runs, who contributed what."""
