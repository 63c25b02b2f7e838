"""Packaging of dbt-ivm: the planner as a Python package. The macros travel as a dbt package (dbt_project.yml)."""

from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
README = HERE / "README.md"

SPARK = ["pyspark==4.1.4"]
THRIFT = ["dbt-spark[PyHive]>=1.11,<1.12"]
DEV = [
    "pytest==9.2.0",
    # The newest releases of these two have left Python 3.10 behind.
    "hypothesis==6.170.15; python_version >= '3.11'",
    "hypothesis==6.168.5; python_version < '3.11'",
    "duckdb==2.0.0; python_version >= '3.11'",
    "duckdb==1.5.6; python_version < '3.11'",
    "ruff==0.17.5",
    "mypy==1.19.1",
    "sqlfluff==4.5.0",
]

setup(
    name="dbt-ivm",
    version="0.1.0",
    description="Incremental materialized views for open-source Spark, declared in dbt",
    long_description=README.read_text(encoding="utf-8") if README.exists() else "",
    long_description_content_type="text/markdown",
    packages=find_packages(include=["dbt_ivm", "dbt_ivm.*"]),
    package_data={"dbt_ivm": ["py.typed"]},
    python_requires=">=3.10",
    install_requires=[
        # dbt-core 1.12 fetches a component from outside the package index while it installs.
        "dbt-core>=1.11,<1.12",
        "dbt-spark>=1.11,<1.12",
        "sqlglot>=30,<31",
    ],
    extras_require={
        "spark": SPARK,
        "thrift": THRIFT,
        "dev": DEV + SPARK + THRIFT,
    },
    classifiers=[
        "Development Status :: 3 - Alpha",
        "Intended Audience :: Developers",
        "Operating System :: OS Independent",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.10",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Topic :: Database",
    ],
)
