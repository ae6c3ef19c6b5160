"""The C kernels: built where there is a compiler, skipped (NumPy twins) where there is none."""

import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel

HERE = Path(__file__).parent
KERNELS = Path("src") / "unjudged" / "kernels"


def files(suffix: str) -> list[str]:
    return sorted((KERNELS / path.name).as_posix() for path in (HERE / KERNELS).glob(f"*{suffix}"))


FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))  # has no limited API


class Wheel(bdist_wheel):
    """A wheel whose name tells whether the C kernels are in it."""

    def get_tag(self):
        folder = Path(self.get_finalized_command("build").build_lib, "unjudged", "kernels")
        built = any(path.suffix in (".so", ".pyd") for path in folder.glob("_c*"))
        return super().get_tag() if built else ("py3", "none", "any")


setup(
    cmdclass={"bdist_wheel": Wheel},
    ext_modules=[
        Extension(
            "unjudged.kernels._c",
            files(".c"),
            depends=files(".h"),
            extra_compile_args=[] if sys.platform == "win32" else ["-O3", "-ffp-contract=off", "-fvisibility=hidden"],
            define_macros=[("Py_GIL_DISABLED", "1")] if FREE_THREADED else [],
            py_limited_api=not FREE_THREADED,
            optional=True,
        )
    ],
    options={} if FREE_THREADED else {"bdist_wheel": {"py_limited_api": "cp311"}},
)
