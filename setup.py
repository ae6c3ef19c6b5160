"""The C kernels: built where there is a compiler, skipped (NumPy twins) where there is none."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "unjudged.kernels._c",
            ["src/unjudged/kernels/_c.c"],
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
