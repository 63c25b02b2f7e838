"""A small dbt project in a folder of its own."""

from __future__ import annotations

from pathlib import Path

import yaml

REPOSITORY = Path(__file__).parents[2]


def write_project(folder: Path, output: dict, models: dict[str, str]) -> None:
    (folder / "models").mkdir(parents=True)
    (folder / "dbt_packages").mkdir()
    (folder / "dbt_packages" / "dbt_ivm").symlink_to(REPOSITORY)
    profile = {"crash": {"target": "it", "outputs": {"it": output}}}
    (folder / "profiles.yml").write_text(yaml.safe_dump(profile))
    project = {
        "name": "crash",
        "version": "1.0",
        "config-version": 2,
        "profile": "crash",
        "model-paths": ["models"],
        "target-path": str(folder / "target"),
        "log-path": str(folder / "logs"),
        "flags": {"send_anonymous_usage_stats": False, "use_colors": False},
        "models": {"+materialized": "ivm"},
    }
    (folder / "dbt_project.yml").write_text(yaml.safe_dump(project))
    for name, sql in models.items():
        (folder / "models" / f"{name}.sql").write_text(sql)
    tests = {
        "version": 2,
        "models": [{"name": name, "data_tests": ["dbt_ivm.equals_recompute"]} for name in models],
    }
    (folder / "models" / "models.yml").write_text(yaml.safe_dump(tests))
