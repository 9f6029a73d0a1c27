# SPDX-License-Identifier: Apache-2.0
"""_grouped.py  grouped_gemm(): groups of unequal size, whose sizes are in an array."""
from ._arrays import JaxKind, kind_of
from ._errors import refused
from ._gemm import Call, tensor_of
from ._scaled import Scaled

FORMS = ("ends", "starts", "sizes", "counts")


def call_of_groups(a, b, form, numbers, axis, expected_size, status, *rest):
    """A Call with groups. rest: the arguments of Call from c on."""
    call = Call(a, b, *rest)
    call.tensors += [tensor_of(numbers, form), None if status is None else
                     tensor_of(status, "status")]
    call.words += (form, axis, expected_size)
    return call


def grouped_gemm(a, b, *, ends=None, starts=None, sizes=None, counts=None, axis=None,
                 expected_size=0, out=None, out_dtype=None, c=None, alpha=1.0, beta=None, bias=None,
                 activation=None, gate=None, scale_a=None, scale_b=None, scale_a_as=None,
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
        a, b: arrays, or Scaled.
        ends: int32 or int64, (G,): the index after the last row of each group (torch's offs).
        starts: (G + 1,): the first row of each group, then the end of the last (cu_seqlens).
        sizes: (G,): the number of rows of each group, one group after the other (JAX, DeepGEMM).
        counts: (G,): of slots, the number of rows that are used (DeepGEMM's masked layout).
        axis: of slots "m" (rows, the default) or "n" (columns); else by the dimensions.
        expected_size: the size that most groups have, for the planner; 0: equal groups.
        c: as the result.
        bias: of groups of rows (G, n), or (m, 1); of groups of columns (n,), or (G, m, 1); of slots
            (G, n), or (G, m, 1).
        status: one uint32 or int32 on a GPU, 0 before: the kernel writes 1 + the first group whose
            size is not possible, and takes the nearest one. In host memory that size is refused.
        The other arguments: as of gemm().

    Returns:
        The result, of a's kind of array.

    Raises:
        RefusedError: also of groups without a kernel: docs/groups.md has the kernels.
    """
    given = [(form, x) for form, x in zip(FORMS, (ends, starts, sizes, counts)) if x is not None]
    if len(given) != 1:
        raise refused("TW0484", "sizes of the groups",
                      " and ".join(form for form, _ in given) or "nothing",
                      f"one of {', '.join(FORMS)}")
    form, numbers = given[0]
    kind = kind_of(a.data if isinstance(a, Scaled) else a)
    if kind is JaxKind:
        raise refused("TW0483", "type of a", "an array of JAX", "an array of NumPy, torch or CuPy",
                      "tilewright.jax.ragged_dot() takes arrays of JAX")
    call = call_of_groups(a, b, form, numbers, axis, expected_size, status, c, bias, scale_a,
                          scale_b, scale_a_as, scale_b_as, None, alpha, beta, activation, gate,
                          promote, invariant, device)
    result = call.result(out, out_dtype)
    kind.run(call, stream, workspace)
    return result
