"""The C kernels: built where there is a compiler, skipped (NumPy twins) where there is none."""

import sys
from pathlib import Path

from setuptools import Extension, setup

HERE = Path(__file__).parent
KERNELS = Path("src") / "unjudged" / "kernels"


def files(suffix: str) -> list[str]:
    return sorted((KERNELS / path.name).as_posix() for path in (HERE / KERNELS).glob(f"*{suffix}"))


setup(
    ext_modules=[
        Extension(
            "unjudged.kernels._c",
            files(".c"),
            depends=files(".h"),
            extra_compile_args=[] if sys.platform == "win32" else ["-O3", "-ffp-contract=off", "-fvisibility=hidden"],
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
