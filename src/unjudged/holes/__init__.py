"""Holes, the unjudged documents a measure reads: what they are worth, what holds in spite of them, which to judge.

`model.chances` gives the chance of relevance of every unjudged document, `estimates.estimates` the score of every run
with its interval, `pairs.differences` better, worse or cannot tell for pairs of runs, `order` what to judge next.
docs/holes.md tells what is assumed and when it must not be believed.
"""
