"""Topic subsets."""

from __future__ import annotations

from collections.abc import Sequence

from unjudged.collection import Collection
from unjudged.collection.history import change
from unjudged.collection.topics import chosen_topics
from unjudged.errors import UsageError, nearest


@change
def only(collection: Collection, topics: str | Sequence[str]) -> Collection:
    """These topics alone: `"601-650,700"` or a list of ids. Gains and H stay those of the full collection."""
    if isinstance(topics, str):
        chosen, step = chosen_topics(topics, list(collection.topics)), f"topics {topics}"
    else:
        known = {topic: i for i, topic in enumerate(collection.topics)}
        for topic in topics:
            if str(topic) not in known:
                raise UsageError(f"no judged topic {str(topic)!r}{nearest(str(topic), known)}")
        chosen, step = [known[str(topic)] for topic in topics], f"{len(topics)} named topics"
    return collection.only(chosen, f"{step}: {len(set(chosen))} of {len(collection.topics)} kept")
