"""Where mutation starts: small files with everything that once went wrong, spellings of measures, the stored corpus."""

from __future__ import annotations

import base64
import random
import struct
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
SCANNED = ("twins", "lines")
"""Targets that start from the corpus of `scanner`."""

QRELS = (
    b"1 0 a 1\n1 0 b 0\n1 0 c 2\n2 0 a 0\n2 0 d 1\n",
    b"051\t0\tNA\t-1\r\n051 0 a#b 3\r\n# note\r\n\r\nq 0 \xff\xfe 1\r\n",
    b"1 0 a 1\n2 0 a 1\n1 0 b 0\n1 0 a 1\n",
    b"1 s1 a 1\n1 s2 b -2\n1 s2 c 0",
)
RUNS = (
    b"1 Q0 c 1 9.5 t\n1 Q0 x 2 8 t\n1 Q0 b 3 7.25 t\n2 Q0 a 1 3 t\n",
    b"1 Q0 a 1 1 t\n2 Q0 a 1 1 t\n1 Q0 b 2 1e-5 t\n2 Q0 d 2 inf t\n",
    b"  1\tQ0  a 0 +.5 t extra\r\n\r\n#c\r\n1 Q0 a 1 0.5 t\r\n1 Q0 b 2 -0 t\r\n",
    b"1 Q0 a 1 16777217 t\n1 Q0 b 2 16777216 t\n1 Q0 c 3 1e400 t\n",
    b"051 Q0 NA 1 nan t\n051 Q0 a#b 2 0x1 t\nq Q0 \xff\xfe 1 2,5 t\nq Q0 z\n",
    b"9 Q0 a 1 1 t\n1 Q0 a 1 1.0000000000000002 t\n1 Q0 b 1 1 t",
)
SPELLINGS = (
    *("AP", "nDCG@10", "P(rel=2)@5", "RBP(p=0.8)", "AP'", "nDCG'(dcg='jk')@1000", "Q(beta=0.5)@10", "ndcg_cut_10"),
    *("P.5,10", "map,recip_rank", "official", "sakai2009", "nDCG(gains={1:1,2:3})", "AP(norm='min')@5", "IPrec@0.1"),
    *("ERR(stop='ntcir')", "P(rel=2", "nDGC@10", "@", "P@@5", "RBP(p=nan)", "P(rel=1,rel=2)", "", " , ", "AP@1e9"),
)
NUMBERS = (
    *("0", "-0.0", "+1", ".5", "5.", "1e-5", "16777217", "9007199254740993", "123456789012345678901234567890"),
    *("2.2250738585072011e-308", "1.7976931348623159e308", "4.9e-324", "1e400", "-1e-400", "inf", "-Infinity", "nan"),
    *("0.1e1", "1e", "1e+", "e5", ".", "-", "0x1p3", "1,5", "1_0", "9999999999999999.5", "0.30000000000000004"),
    *("1.00000000000000011102230246251565404", "72057594037927945", "8.5e27", "1e-27", "1234567.12345678"),
)
WORDS = (
    b" ",
    b"\t",
    b"\n",
    b"\r\n",
    b"\0",
    b"#",
    b"nan",
    b"inf",
    b"-",
    b"1e",
    b"0x",
    b"Q0",
    b"'",
    b"(",
    b"@",
    b"\xff",
    b"\x1d",
    b"\x1b",
    b"\x1c",
)


PIECES = (
    b"\x1b\x04\x01% Q0 d% 1 % t\n",
    b"\x1b\xff\xff1 Q0 d% 1 -%.5 t\n",
    b"\x1b\x05\x001 Q0 a% 1 1 t\n\x1d\x1b\x02\x001 Q0 a% 1 % t\n",
    b"\x1b\x06\x002 Q0 some-long-name-% 17 1234567.12345678 the-tag\n",
    b"1 Q0 a 1 1\x1d.5 t\n1 Q0 b 2\x1d 1 t\n2 Q0\x1d",
    b"\x1c\x1f\x1f\x1d\x1c\x1fa\x1f\x01",  # topics without a name
    b"\x1c1\x1fa\nb\nx\x1f\x02\x03\x01\x1d\x1c2\x1f\x1f\x1d\x1c2\x1fd\x1f\xff\x1d1 Q0 c 1 1 t\n",
)


def stored(target: str) -> list[bytes]:
    """The corpus kept from earlier fuzzing: one input per line, base64."""
    path = CORPUS / f"{'scanner' if target in SCANNED else target}.txt"
    return [base64.b64decode(line) for line in path.read_text().splitlines()] if path.exists() else []


def store(target: str, inputs: list[bytes]) -> int:
    """Keeps these inputs in place of those kept so far; how many they are."""
    path = CORPUS / f"{target}.txt"
    path.parent.mkdir(exist_ok=True)
    kept = sorted({base64.b64encode(data).decode() for data in inputs}, key=lambda line: (len(line), line))
    path.write_text("".join(f"{line}\n" for line in kept))
    return len(kept)


def seeds(target: str) -> list[bytes]:
    """The inputs a target starts from."""
    if target == "numbers":
        made = [number.encode() for number in NUMBERS] + [
            struct.pack("<d", k / 7 * 10.0 ** (k % 20)) for k in range(40)
        ]
    elif target == "grammar":
        made = [spelling.encode() for spelling in SPELLINGS]
    elif target in ("arrays", "misuse", "calls", "pytrec_eval"):
        draw = random.Random(target)
        made = [bytes([k % 32]) + draw.randbytes(20 + 3 * (k % 30)) for k in range(128)]
    else:
        made = [bytes([option]) + q + b"\x1e" + r for option in range(0, 256, 37) for q in QRELS for r in RUNS]
        made += [bytes([option]) + QRELS[0] + b"\x1e" + p for option in range(0, 256, 67) for p in PIECES]
    return made + stored(target)


def mutated(data: bytes, draw: random.Random) -> bytes:
    """The data with one to four small changes."""
    out = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(out) + 1)
        kind = draw.randrange(6)
        if kind == 0 and out:
            out[at % len(out)] ^= 1 << draw.randrange(8)
        elif kind == 1:
            out[at:at] = draw.choice(WORDS)
        elif kind == 2:
            del out[at : at + draw.randint(1, 8)]
        elif kind == 3:
            start = draw.randrange(len(out) + 1)
            out[at:at] = out[start : start + draw.randint(1, 40)]
        elif kind == 4 and out:
            out[at % len(out)] = draw.randrange(256)
        else:
            out[at:at] = str(draw.choice((0, 1, -1, 2**31, 2**63, 0.1, 1e-300, 7))).encode()
    return bytes(out)
