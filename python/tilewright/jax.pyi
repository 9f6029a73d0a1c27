# SPDX-License-Identifier: Apache-2.0
from typing import Any

from . import Scaled

def gemm(a: Any, b: Any, *, out_dtype: Any = None, c: Any = None, alpha: float = 1.0,
         beta: float | None = None, bias: Any = None, activation: str | None = None,
         gate: str | None = None, scale_a: Any = None, scale_b: Any = None,
         scale_a_as: str | None = None, scale_b_as: str | None = None, promote: int = 128,
         invariant: bool = False, device: str | None = None, a_transposed: bool = False,
         b_transposed: bool = False) -> Any: ...
def gemm_of_arrays(a: Any, b: Any, *, out: Any, scale_out: Any, stream: Any, workspace: Any,
                   **options: Any) -> Any: ...
def quantize(x: Any, to: str, *, scaling: str | None = None, library: str = "flashinfer-k",
             power_of_two: bool = False, out: Any = None) -> Scaled: ...
def ragged_dot(lhs: Any, rhs: Any, group_sizes: Any, *, preferred_element_type: Any = None,
               device: str | None = None) -> Any: ...
