# SPDX-License-Identifier: Apache-2.0
"""_jax_dist.py  GEMMs over the devices of an axis, inside of jax.shard_map: XLA exchanges rows by
its collectives, gemm() multiplies.

With path="pieces" each shard is exchanged by a separate collective-permute, which depends on no
other: XLA may run it during the GEMMs of other shards.
"""
import jax
import jax.numpy as jnp

from ._errors import refused
from ._scaled import Scaled

_PATHS = ("serial", "two-pieces", "pieces")


def _path(path):
    if path is None:
        return "serial"
    if path in _PATHS:
        return path
    raise refused("TW0904", "path of a GEMM over the devices of JAX", str(path),
                  "serial, two-pieces or pieces",
                  "other paths need memory that peers address in a custom call; torch and C++ have "
                  "them (docs/several-gpus.md)")


def _gemm(*operands, **options):
    from . import jax as gemms
    return gemms.gemm(*operands, **options)


def _size_and_place(axis_name):
    size = getattr(jax.lax, "axis_size", None)
    count = size(axis_name) if size is not None else jax.lax.psum(1, axis_name)
    return count, jax.lax.axis_index(axis_name)


def _sent(x, axis_name, devices, step):
    """x of the device `step` after this one, modulo the devices."""
    pairs = [(d, (d - step) % devices) for d in range(devices)]
    return jax.tree_util.tree_map(lambda v: jax.lax.ppermute(v, axis_name, pairs), x)


def all_gather_matmul(x, w, axis_name, *, path=None, **options):
    """act(X w + bias) inside of jax.shard_map, with X = the rows of x of all devices of the axis.

    Args:
        x: (rows of this device, k). An array, or a Scaled, whose scales travel with it.
        w: (k, n of this device), or a list of them: x is gathered once.
        axis_name: of the mesh.
        path: "serial" (None): XLA gathers x, then gemm() multiplies. "two-pieces": a GEMM of this
            device's rows, and one of all other rows (x without scales). "pieces": a GEMM of each
            device's rows, which XLA can run while other rows arrive; D is put together by a copy.
        The other arguments: as of gemm(). With pieces no scale_a (give a Scaled), no c, and no
            bias along the rows.

    Returns:
        jax.Array (rows of all devices, n), or a list of them.

    Raises:
        RefusedError: while tracing; TW0904 for other paths and arguments.
    """
    path = _path(path)
    if path == "serial":
        rows = jax.lax.all_gather(x, axis_name, tiled=True)
        if isinstance(w, (list, tuple)):
            return [_gemm(rows, w_, **options) for w_ in w]
        return _gemm(rows, w, **options)
    _check_rowless(options, path)
    devices, place = _size_and_place(axis_name)
    if path == "two-pieces" and isinstance(x, Scaled):
        raise refused("TW0904", "x with path two-pieces", "scales", "an array without scales",
                      'path="pieces" and path="serial" take scales')
    peers = [_sent(x, axis_name, devices, i) for i in range(1, devices)]
    if path == "two-pieces" and len(peers) > 1:
        peers = [jax.tree_util.tree_map(lambda *v: jnp.concatenate(v), *peers)]
    rows = x.shape[0]

    def product(w_):
        # The rows of the devices after this one follow its own.
        found = jnp.concatenate([_gemm(part, w_, **options) for part in (x, *peers)])
        return jnp.roll(found, place * rows, 0)

    return [product(w_) for w_ in w] if isinstance(w, (list, tuple)) else product(w)


def matmul_reduce_scatter(x, w, axis_name, *, path=None, float32_partials=False, **options):
    """Rows of the sum of x w over the devices of an axis, inside of jax.shard_map.

    Args:
        x: (m, k of this device); m is a multiple of the devices.
        w: (k of this device, n).
        axis_name: of the mesh.
        path: "serial" (None): gemm(), then jax.lax.psum_scatter. "two-pieces": a GEMM of the other
            devices' rows, then one of this device's. "pieces": a GEMM of each device's rows, which
            XLA can send during the next GEMM. On the last two the partial results are added in the
            order of the devices in float32.
        float32_partials: partial results are float32; else of the result's type.
        The other arguments: as of gemm(), without bias, activation, gate and c, which do not
            belong to the partial results.

    Returns:
        jax.Array (m / devices, n).

    Raises:
        RefusedError: while tracing; TW0904 for other paths and arguments.
    """
    path = _path(path)
    partial, dtype = _partial(x, w, float32_partials, options)
    if path == "serial":
        return jax.lax.psum_scatter(partial(x), axis_name, tiled=True).astype(dtype)
    return _sum_in_pieces(x, partial, axis_name, path, options).astype(dtype)


def matmul_all_reduce(x, w, axis_name, *, path=None, float32_partials=False, **options):
    """The sum of x w over the devices of an axis, inside of jax.shard_map: gemm(), then
    jax.lax.psum; on the paths of pieces matmul_reduce_scatter(), then jax.lax.all_gather. Its
    arguments: as of matmul_reduce_scatter().

    Returns:
        jax.Array (m, n), equal on all devices.
    """
    path = _path(path)
    partial, dtype = _partial(x, w, float32_partials, options)
    if path == "serial":
        return jax.lax.psum(partial(x), axis_name).astype(dtype)
    rows = _sum_in_pieces(x, partial, axis_name, path, options).astype(dtype)
    return jax.lax.all_gather(rows, axis_name, tiled=True)


def _sum_in_pieces(x, partial, axis_name, path, options):
    """This device's rows of the sum of the partial results, float32 or integers."""
    if isinstance(x, Scaled) or options.get("scale_a") is not None:
        raise refused("TW0904", f"x with path {path}", "scales", "an array without scales",
                      'path="serial" takes scales')
    if options.get("a_transposed"):
        raise refused("TW0904", f"a_transposed with path {path}", "True", "False",
                      "the rows of x are divided")
    devices, place = _size_and_place(axis_name)
    m = x.shape[0]
    if m % devices != 0:
        raise refused("TW0904", f"rows of x with path {path}", str(m),
                      f"a multiple of the {devices} devices", 'path="serial" of the all-reduce '
                      "takes any number")
    rows = m // devices
    mine_first = jnp.roll(x, -place * rows, 0)  # then the rows of the devices after this one
    parts = [mine_first[i * rows:(i + 1) * rows] for i in range(devices)]
    if path == "two-pieces" and devices > 1:
        others = partial(mine_first[rows:])
        to_send = [others[i * rows:(i + 1) * rows] for i in range(devices - 1)]
    else:
        to_send = [partial(part) for part in parts[1:]]
    # Partial results of the rows of device d + i travel from device d to device d + i.
    received = [_sent(part, axis_name, devices, -i) for i, part in enumerate(to_send, 1)]
    # Received from this device, from the one before it, and so on; now in the order of numbers.
    of_devices = jnp.roll(jnp.stack([partial(parts[0]), *received])[::-1], place + 1, 0)
    if jnp.issubdtype(of_devices.dtype, jnp.floating):
        of_devices = of_devices.astype(jnp.float32)
    total = of_devices[0]
    for d in range(1, devices):
        total = total + of_devices[d]
    return total


def _partial(x, w, float32_partials, options):
    """A function of rows of x that gives their partial results, and the type of the result."""
    for name in ("bias", "activation", "gate", "c"):
        if options.get(name) is not None:
            raise refused("TW0904", name, "given, with k divided over devices", "None",
                          "apply it to the sum")
    dtype = jax.eval_shape(lambda x_, w_: _gemm(x_, w_, **options), x, w).dtype
    wide = float32_partials and jnp.issubdtype(dtype, jnp.floating)
    rest = {**options, "out_dtype": "float32"} if wide else options
    return (lambda part: _gemm(part, w, **rest)), dtype


def _check_rowless(options, path):
    """Refuses options with a value for each row of D."""
    bias = options.get("bias")
    along_rows = bias is not None and bias.ndim == 2 and bias.shape[1] == 1
    for name, given in (("scale_a", options.get("scale_a") is not None), ("bias", along_rows),
                        ("c", options.get("c") is not None),
                        ("a_transposed", bool(options.get("a_transposed")))):
        if given:
            raise refused("TW0904", f"{name} with path {path}", "given",
                          "no values for each row of all devices",
                          "a Scaled x has its scales; path=\"serial\" takes all of them")
