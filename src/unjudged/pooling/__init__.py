"""Pools: how deep, from which runs, who contributed what (METHODS B.2, CORRECTION 3)."""
