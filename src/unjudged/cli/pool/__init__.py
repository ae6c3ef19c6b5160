"""Pools: what is in a collection, how deep and from which runs it was judged, who contributed what."""

from __future__ import annotations

HELP = "what a pool is made of: depth, pooled runs, contributions; build new ones"

PARTS = ("describe", "contributions", "build")
