"""The list of tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

from bench.tasks import (
    gradio,
    jupyterlab,
    node_red,
    oscar,
    streamlit,
    tinymce,
    todomvc,
    wagtail,
    wordpress,
)
from bench.tasks.agent import Agent
from bench.tasks.applications import Application

Script: TypeAlias = Callable[[Agent, Application], None]


@dataclass(frozen=True, slots=True)
class Task:
    """One task.

    application: starts the application, with its data below a folder.
    by_roost: does one step in each call.
    by_batches: does the steps whose targets are known together, in batches.
    check: raises ``AssertionError`` if the task's result is not in the application's data.
    """

    application: Callable[[Path], AbstractContextManager[Application]]
    by_roost: Script
    by_batches: Script
    by_playwright: Script
    check: Callable[[Application, Agent], None]


def _task(module: ModuleType) -> Task:
    return Task(
        module.application, module.by_roost, module.by_batches, module.by_playwright, module.check
    )


TASKS: Mapping[str, Task] = {
    "JupyterLab": _task(jupyterlab),
    "Node-RED": _task(node_red),
    "WordPress": _task(wordpress),
    "TinyMCE": _task(tinymce),
    "Wagtail": _task(wagtail),
    "Oscar": _task(oscar),
    "Streamlit": _task(streamlit),
    "Gradio": _task(gradio),
    "TodoMVC": _task(todomvc),
}
