"""A model card: what a model is, how it was trained and how to use it, as Markdown."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .format import held_out_line

if TYPE_CHECKING:
    from ..storage.model import Model

CARD = """---
{head}
---

# {name}

{about}

## How to use it

```sh
rosenblatt predict {file} new.csv
```

```python
import rosenblatt

model = rosenblatt.load("{file}")
model.predict("new.csv")  # or a data frame, or a list of dicts
```

{input}

## How well it does

{results}

## What it looks at

{columns}

## For the author to fill in

- **Intended use**: who may use it for what, and who must not.
- **Training data**: where they come from, when they were collected, and under which licence.
- **Limits**: on which groups or cases it errs more. Errors to look at are in the report of
  `rosenblatt score {file} DATA --report report.html`.
- **Licence** of the model, also in the first lines of this page (`license:`).
"""


def make_card(model: "Model", about: list[str], columns: list[str], path: Path) -> str:
    """Write the card of a model from sentences about it and its most important columns.

    The lines between ``---`` are those that model hubs read.
    """
    return CARD.format(
        head="\n".join(f"{key}: {json.dumps(value)}" for key, value in make_head(model).items()),
        name=path.stem,
        file=path.name,
        about="\n".join(f"- {line}" for line in about),
        input=describe_input(model),
        results=describe_results(model, path.name),
        columns="\n".join(f"    {line}" for line in columns) or "Its weights are not of columns.",
    )


def write_card(text: str, path: Path) -> None:
    """Write a card; a file of that name is replaced once the new one is complete."""
    from ..disk import replace_file

    with replace_file(path) as temporary:
        temporary.write_text(text, "utf-8")


TASKS = {"numbers": "regression", "ranking": "ranking"}
"""What model hubs call the task, if it is not classification."""


def make_head(model: "Model") -> dict[str, Any]:
    """The lines that model hubs read."""
    recipe = model.features.get("recipe") or {}
    kind = "text" if recipe.get("text") else "tabular"
    task = f"{kind}-{TASKS.get(model.target, 'classification')}"
    if not recipe and model.estimator.startswith("Sequence"):
        task = "token-classification"
    tags = ["rosenblatt", "perceptron", "online-learning", model.estimator]
    return {"library_name": "rosenblatt", "pipeline_tag": task, "tags": tags}


def describe_input(model: "Model") -> str:
    """The columns that a row needs."""
    columns = (model.features.get("recipe") or {}).get("columns")
    if not columns:
        return "Rows are as in the training data."
    names = [str(name).replace("|", "\\|").replace("<", "&lt;") for name, _ in columns]
    rows = "\n".join(f"| {name} | {way} |" for name, (_, way) in zip(names, columns, strict=True))
    return f"A row has these columns:\n\n| column | read as |\n|---|---|\n{rows}"


def describe_results(model: "Model", file: str) -> str:
    """The held-out error, if there is one."""
    held = model.facts.get("held_out")
    if not held or not held.get("rows"):
        return (
            "The model file holds no error on other rows: it was trained without `--holdout`. "
            f"Write it here, from `rosenblatt score {file} unseen.csv`."
        )
    if "errors" not in held:
        return f"On held-out rows: {held_out_line(model.facts)}."
    share = held["errors"] / held["rows"]
    return f"Error on {held['rows']:,} held-out rows: {share:.2%}."
