# SPDX-License-Identifier: Apache-2.0
"""_types.py  Element types: names, the numbers of DLPack, and the types of NumPy."""
import ml_dtypes
import numpy

from ._errors import refused

# Of each type: the numbers of DLPack (code, bits, lanes), its other names.
_ROWS = {
    "float32": ((2, 32, 1), ("f32", "fp32", "float", "tf32")),
    "float16": ((2, 16, 1), ("f16", "fp16", "half")),
    "bfloat16": ((4, 16, 1), ("bf16",)),
    "float8_e4m3fn": ((10, 8, 1), ("e4m3", "e4m3fn", "fp8", "float8_e4m3")),
    "float8_e5m2": ((12, 8, 1), ("e5m2",)),
    "float8_e8m0fnu": ((14, 8, 1), ("ue8m0", "e8m0")),
    "float4_e2m1fn_x2": ((17, 4, 2), ("e2m1", "fp4", "float4_e2m1fn")),
    "int8": ((0, 8, 1), ("s8", "i8")),
    "uint8": ((1, 8, 1), ("u8",)),
    "int32": ((0, 32, 1), ("s32", "i32")),
    "uint32": ((1, 32, 1), ()),  # of a status
    # Types that no operand has; named in refusals.
    "float64": ((2, 64, 1), ("f64", "double")),
    "int16": ((0, 16, 1), ()),
    "int64": ((0, 64, 1), ()),
    "bool": ((6, 8, 1), ()),
    "complex64": ((5, 64, 1), ()),
    "complex128": ((5, 128, 1), ()),
}
DLPACK = {name: row[0] for name, row in _ROWS.items()}
NAMES = {numbers: name for name, numbers in DLPACK.items()}
_BY_WORD = {word: name for name, row in _ROWS.items() for word in (name, *row[1])}

# The types that NumPy has from ml_dtypes alone, and the bytes that they are viewed as.
_OF_ML_DTYPES = ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu")
NUMPY = {name: numpy.dtype(getattr(ml_dtypes, name) if name in _OF_ML_DTYPES else name)
         for name in _ROWS if not name.startswith("float4")}
NUMPY["float4_e2m1fn_x2"] = numpy.dtype("uint8")  # two elements in a byte
VIEWED = {NUMPY[name]: (numpy.dtype("uint16" if name == "bfloat16" else "uint8"), DLPACK[name])
          for name in _OF_ML_DTYPES}
PLAIN = {NUMPY[name] for name in _ROWS if name not in _OF_ML_DTYPES}


_known: dict = {}  # names of types that were given


def type_name(dtype, argument="dtype"):
    """The name of a type that is given as a word, or as NumPy, torch and JAX have it."""
    try:
        return _known[dtype]
    except (KeyError, TypeError):
        name = _name_of(dtype, argument)
    if len(_known) < 1000:
        _known[dtype] = name
    return name


def _name_of(dtype, argument):
    if not isinstance(dtype, str):
        given = dtype
        dtype = str(dtype).removeprefix("torch.")
        if dtype not in _BY_WORD:
            try:
                dtype = numpy.dtype(given).name
            except TypeError:
                pass
    if dtype in _BY_WORD:
        return _BY_WORD[dtype]
    raise refused("TW0483", f"type of {argument}" if argument != "dtype" else argument, dtype,
                  ", ".join(list(_ROWS)[:10]))


_ACTIVATIONS = {"swish": "silu", "gelu-tanh": "gelu", "none": "", "bilinear": "", "reglu": "relu",
                "geglu": "gelu", "geglu-erf": "gelu-erf", "swiglu": "silu",
                "swigluoai": "clamped-quick-gelu"}


def activation_word(activation):
    """The word of an activation for its derivative: other libraries' names and the names of gated
    units are taken too, as by the C library (dispatch/tensors/tensors.cpp)."""
    word = (activation or "").replace("_", "-")
    return _ACTIVATIONS.get(word, word)
