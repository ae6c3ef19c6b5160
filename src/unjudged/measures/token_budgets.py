"""Cut-offs in tokens: `recall@2000tokens` is recall of what fits into 2000 tokens, as a prompt would be filled.

Lists are cut at tokens when runs are read (`tokens` and `lengths` of `load`), since the lengths of the chunks are the
runs' and not the judgments'. Here the spelling is taken apart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from unjudged.errors import UsageError

_IN_TOKENS = re.compile(
    r"(?P<measure>[^@]+(?:@\d+)?)@(?P<many>\d+)(?P<thousand>k)?[ _-]?(tokens?|toks?)", re.IGNORECASE
)


def in_tokens(text: str) -> tuple[str, int] | None:
    """The measure and its budget of tokens (`recall@2k_tokens`: R, 2000); None for other spellings."""
    found = _IN_TOKENS.fullmatch(text.strip())
    if found is None:
        return None
    from unjudged.measures._grammar import in_any_case, registered

    name = found["measure"].strip()
    whole = registered(name) or in_any_case(name)  # not what trec_eval calls so, which may be a set of cut-offs
    return str(whole) if whole else name, int(found["many"]) * (1000 if found["thousand"] else 1)


def budget_of(parts: Sequence[str], given: int | None = None) -> tuple[list[str], int | None]:
    """The measures without their budget, and the one budget they share; `given` is one that was set beside them."""
    taken = {part: in_tokens(part) for part in parts}
    budgets = {found[1] for found in taken.values() if found} | ({given} if given is not None else set())
    if not any(taken.values()):
        return list(parts), given
    first = next(part for part, found in taken.items() if found)
    if other := next((part for part, found in taken.items() if not found), None) if given is None else None:
        raise UsageError(
            f"{first} cuts every list at its tokens, and {other} is asked of whole lists: "
            "ask for them one after another"
        )
    if len(budgets) > 1:
        raise UsageError(
            f"lists are cut at one number of tokens, not at {' and '.join(map(str, sorted(budgets)))}: "
            "ask for them one after another"
        )
    (budget,) = budgets
    return [found[0] if found else part for part, found in taken.items()], budget
