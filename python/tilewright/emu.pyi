# SPDX-License-Identifier: Apache-2.0
from typing import Any, NamedTuple, Sequence

from . import TilewrightError

SCHEDULES: dict[str, tuple[int, int]]
WRAPPED: list[str]

class Finding(NamedTuple):
    code: str
    kind: str
    text: str
    times: int

class Report:
    run: Run
    findings: list[Finding]
    wrong: int
    compared: int
    first_wrong: str
    failed: str
    def __init__(self, run: Run) -> None: ...
    def __bool__(self) -> bool: ...
    @property
    def codes(self) -> list[str]: ...

class Run:
    kernel: Kernel
    shape: tuple[int, ...]
    schedule: str
    seed: int
    bug: str | None
    def __init__(self, kernel: Kernel, shape: tuple[int, ...], schedule: str, seed: int,
                 bug: str | None, options: dict[str, Any]) -> None: ...
    def __call__(self) -> Report: ...

class Kernel:
    name: str
    extent_names: tuple[str, ...]
    shapes: list[tuple[int, ...]]
    bugs: dict[str, str]
    def __init__(self, plugin: Any, face: Any) -> None: ...
    def run(self, shape: Sequence[int] | None = None, *, schedule: str = "eager", seed: int = 1,
            bug: str | None = None, **options: Any) -> Report: ...
    def runs(self, shapes: Sequence[Sequence[int]] | None = None, *,
             schedules: Sequence[str] = ..., seeds: int = 1, bug: str | None = None,
             **options: Any) -> list[Run]: ...

class Plugin(dict[str, Kernel]):
    path: str
    def __init__(self, path: str, kernels: dict[str, Kernel]) -> None: ...
    def runs(self, **options: Any) -> list[Run]: ...

class BuildError(TilewrightError): ...

def load(path: str) -> Plugin: ...
def include_dir() -> str: ...
def build(*sources: str, output: str | None = None, options: Sequence[str] = ()) -> str: ...
