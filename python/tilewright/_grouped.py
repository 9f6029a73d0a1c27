# SPDX-License-Identifier: Apache-2.0
"""_grouped.py  grouped_gemm(): groups of unequal size, whose sizes are in an array."""
from ._arrays import JaxKind, kind_of
from ._errors import refused
from ._gemm import Call, tensor_of
from ._scaled import Scaled

FORMS = ("ends", "starts", "sizes", "rows", "counts")
# The tensors of groups, in the order of _tw, and their names as arguments.
_TENSORS = ("status", "row_weight", "group_alpha", "gather", "scatter")


def with_groups(call, form, numbers, axis=None, expected_size=0, choices=1, status=None,
                row_weight=None, group_alpha=None, gather=None, scatter=None, as_spec=None):
    """A Call with groups. as_spec: reads tensors that may have no data, for plans."""
    of = tensor_of if as_spec is None else lambda x, name: tensor_of(as_spec(x), name)
    given = (status, row_weight, group_alpha, gather, scatter)
    call.tensors += [of(numbers, form)] + [None if x is None else of(x, name)
                                           for x, name in zip(given, _TENSORS)]
    words = call.words
    call.words = words[:7] + (form, axis, expected_size, choices) + words[11:]
    return call


def form_of(ends, starts, sizes, rows, counts):
    """The form of the sizes, and their array."""
    given = [(form, x) for form, x in zip(FORMS, (ends, starts, sizes, rows, counts))
             if x is not None]
    if len(given) != 1:
        raise refused("TW0484", "sizes of the groups",
                      " and ".join(form for form, _ in given) or "nothing",
                      f"one of {', '.join(FORMS)}")
    return given[0]


def grouped_gemm(a, b, *, ends=None, starts=None, sizes=None, rows=None, counts=None, axis=None,
                 expected_size=0, out=None, out_dtype=None, c=None, alpha=1.0, group_alpha=None,
                 beta=None, bias=None, activation=None, gate=None, row_weight=None, gather=None,
                 choices=1, scatter=None, scale_a=None, scale_b=None, scale_a_as=None,
                 scale_b_as=None, promote=128, invariant=False, device=None, stream=None,
                 workspace=None, status=None):
    """GEMMs of groups of unequal size in one launch: the sizes are in an array of a's device.

    The dimensions of a and b say which extent the G groups divide:

        a (m, k), b (G, k, n)     rows of a: the experts of a layer     result (m, n)
        a (G, m, k), b (k, n)     columns of b                          result (m, n)
        a (m, k), b (k, n)        k: gradients of weights               result (G, m, n)
        a (G, m, k), b (G, k, n)  slots: the first rows of each         result (G, m, n)

    Elements of the result that belong to no group are not written.

    Args:
        a, b: arrays, or Scaled. b: or Prepared, 4-bit weights.
        ends: int32 or int64, (G,): the index after the last row of each group (torch's offs).
        starts: (G + 1,): the first row of each group, then the end of the last (cu_seqlens).
        sizes: (G,): the number of rows of each group, one group after the other (JAX, DeepGEMM).
        rows: (m,): the group of each row, -1 of none; groups begin at multiples of 128 (DeepGEMM's
            contiguous layout).
        counts: (G,): of slots, the number of rows that are used (DeepGEMM's masked layout).
        axis: of slots "m" (rows, the default) or "n" (columns); else by the dimensions.
        expected_size: the size that most groups have, for the planner; 0: equal groups.
        c: as the result.
        group_alpha: float32 (G,): multiplies alpha, a value for each group.
        bias: of groups of rows (G, n), or (m, 1); of groups of columns (n,), or (G, m, 1); of slots
            (G, n), or (G, m, 1).
        row_weight: float32, a value for each row of the result: multiplies it after bias,
            activation and gate, before c is added (a router's weights). Of groups of columns a
            value for each column.
        gather: int32 (m,): row i is computed from row gather[i] // choices of a, which may have any
            number of rows. Of many rows the plan makes a copy in the order of the groups, in the
            workspace. Of groups of columns: columns of b.
        choices: the experts that a router chooses for each token: gather has numbers of pairs
            (token, choice).
        scatter: int32 (m,): row i is written to row scatter[i] of the result, which has m rows
            unless `out` has more. c has the rows of the result.
        status: one uint32 or int32 on a GPU, 0 before: the kernel writes 1 + the first group whose
            size is not possible, and takes the nearest one; 2^31 + the index of a number of gather
            or scatter that names no row. In host memory these are refused (TW0496).
        The other arguments: as of gemm().

    Returns:
        The result, of a's kind of array.

    Raises:
        RefusedError: also of groups without a kernel: docs/groups.md has the kernels.
    """
    form, numbers = form_of(ends, starts, sizes, rows, counts)
    if isinstance(b, (list, tuple)):
        raise refused("TW0483", "type of b", type(b).__name__, "one array (G, k, n), or Prepared",
                      "numpy.stack() or torch.stack() the matrices once; prepare() takes lists")
    kind = kind_of(a.data if isinstance(a, Scaled) else a)
    if kind is JaxKind:
        raise refused("TW0483", "type of a", "an array of JAX", "an array of NumPy, torch or CuPy",
                      "tilewright.jax.ragged_dot() takes arrays of JAX")
    call = Call(a, b, c, bias, scale_a, scale_b, scale_a_as, scale_b_as, None, alpha, beta,
                activation, gate, promote, invariant, device)
    with_groups(call, form, numbers, axis, expected_size, choices, status, row_weight, group_alpha,
                gather, scatter)
    result = call.result(out, out_dtype, None, stream)
    kind.run(call, stream, workspace)
    return result
