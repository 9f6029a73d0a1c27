# SPDX-License-Identifier: Apache-2.0
from typing import Any, Sequence

import torch

from . import Prepared, Scaled

def gemm(a: torch.Tensor | Scaled, b: torch.Tensor | Scaled | Prepared, *,
         out: torch.Tensor | None = None, out_dtype: Any = None, c: torch.Tensor | None = None, alpha: float = 1.0,
         beta: float | None = None, bias: torch.Tensor | None = None, activation: str | None = None,
         gate: str | None = None, scale_a: torch.Tensor | None = None,
         scale_b: torch.Tensor | None = None, scale_a_as: str | None = None,
         scale_b_as: str | None = None, promote: int = 128, invariant: bool = False,
         device: str | None = None) -> torch.Tensor: ...
def grouped_gemm(a: torch.Tensor | Scaled, b: torch.Tensor | Scaled | Prepared, *,
                 ends: torch.Tensor | None = None, starts: torch.Tensor | None = None,
                 sizes: torch.Tensor | None = None, rows: torch.Tensor | None = None,
                 counts: torch.Tensor | None = None, axis: str | None = None,
                 expected_size: int = 0, out_dtype: Any = None, c: torch.Tensor | None = None,
                 alpha: float = 1.0, group_alpha: torch.Tensor | None = None,
                 beta: float | None = None, bias: torch.Tensor | None = None,
                 activation: str | None = None, gate: str | None = None,
                 row_weight: torch.Tensor | None = None, gather: torch.Tensor | None = None,
                 choices: int = 1, scatter: torch.Tensor | None = None,
                 scale_a: torch.Tensor | None = None, scale_b: torch.Tensor | None = None,
                 scale_a_as: str | None = None, scale_b_as: str | None = None, promote: int = 128,
                 invariant: bool = False, device: str | None = None, zeros: bool = False
                 ) -> torch.Tensor: ...
def quantize(x: torch.Tensor, to: Any, *, scaling: str | None = None, library: str = "torch",
             power_of_two: bool = False) -> Scaled: ...

class Linear(torch.nn.Linear):
    activation: str | None
    gate: str | None
    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None,
                 dtype: torch.dtype | None = None, *, activation: str | None = None,
                 gate: str | None = None) -> None: ...
    def forward(self, input: torch.Tensor) -> torch.Tensor: ...
    def extra_repr(self) -> str: ...

# Recipes and swizzles: torch.nn.functional.ScalingType and SwizzleType, or lists of two levels.
_Scales = torch.Tensor | Sequence[torch.Tensor]

def scaled_mm(mat_a: torch.Tensor, mat_b: torch.Tensor, scale_a: _Scales, scale_recipe_a: Any,
              scale_b: _Scales, scale_recipe_b: Any, swizzle_a: Any = None, swizzle_b: Any = None,
              bias: torch.Tensor | None = None,
              output_dtype: torch.dtype | None = torch.bfloat16,
              contraction_dim: Sequence[int] = (), use_fast_accum: bool = False
              ) -> torch.Tensor: ...
def scaled_addmm(input: torch.Tensor, mat1: torch.Tensor, mat2: torch.Tensor, scale_a: _Scales,
                 scale_recipe_a: Any, scale_b: _Scales, scale_recipe_b: Any, swizzle_a: Any = None,
                 swizzle_b: Any = None, contraction_dim: Sequence[int] = (),
                 use_fast_accum: bool = False, *, beta: float = 1.0, alpha: float = 1.0
                 ) -> torch.Tensor: ...
def grouped_mm(mat_a: torch.Tensor, mat_b: torch.Tensor, *, offs: torch.Tensor | None = None,
               bias: torch.Tensor | None = None, out_dtype: torch.dtype | None = None
               ) -> torch.Tensor: ...
def scaled_grouped_mm(mat_a: torch.Tensor, mat_b: torch.Tensor, scale_a: _Scales,
                      scale_recipe_a: Any, scale_b: _Scales, scale_recipe_b: Any,
                      swizzle_a: Any = None, swizzle_b: Any = None,
                      bias: torch.Tensor | None = None, offs: torch.Tensor | None = None,
                      output_dtype: torch.dtype | None = torch.bfloat16,
                      contraction_dim: Sequence[int] = (), use_fast_accum: bool = False
                      ) -> torch.Tensor: ...
