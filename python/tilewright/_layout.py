# SPDX-License-Identifier: Apache-2.0
"""_layout.py  The layout algebra: immutable values, evaluated by the library."""
import math
import re

import numpy

from . import _tw
from ._errors import LayoutError
from ._operations import OPERATIONS

# Operations whose answer is a truth value.
_PREDICATES = frozenset(("compatible", "congruent", "weakly_congruent", "elem_less", "lex_less",
                         "colex_less", "evenly_divides"))
_INTEGER = re.compile(r"-?\d+")
_SYMBOLIC = re.compile(r"(Sw<[\d,-]+> o \S+ o )?[($\d]\S*:\S+")  # $0: known at run time only
_SWIZZLE = re.compile(r"Sw<(\d+),(\d+),(-?\d+)> o (.+?) o (.+)", re.S)


def _parsed(text):
    """A tree of integers as nested tuples; the text itself where it is no such tree."""
    if _INTEGER.fullmatch(text):
        return int(text)
    if not re.fullmatch(r"[\d,() -]+", text):
        return text
    import json
    return _tuples(json.loads(text.replace("(", "[").replace(")", "]")))


def _tuples(x):
    return tuple(_tuples(y) for y in x) if isinstance(x, list) else x


def _text(x, within=""):
    """An argument of an operation in the notation of docs/layouts.md."""
    if isinstance(x, Layout):
        if x.base:
            raise LayoutError(
                f"TW0101: argument of {within or 'an operation'}: got {x}, need a layout that "
                "begins at offset 0; x.without_base() does",
                "TW0101", f"argument of {within or 'an operation'}", str(x),
                "a layout that begins at offset 0", "x.without_base() does")
        return x.text
    if isinstance(x, str):
        return x
    if x is None or (isinstance(x, slice) and x == slice(None)):
        return "_"
    if isinstance(x, (tuple, list)):
        return "(" + ",".join(_text(y, within) for y in x) + ")"
    try:
        return str(x.__index__())
    except AttributeError:
        raise LayoutError(
            f"TW0101: argument of {within or 'a layout'}: got {type(x).__name__} {x}, need a "
            "layout, integers, tuples of them, or None or : for _", "TW0101",
            f"argument of {within or 'a layout'}", f"{type(x).__name__} {x}",
            "a layout, integers, tuples of them, or None or : for _") from None


def _value(text, predicate=False):
    """The value of an answer: a Layout, integers, a truth value or a text."""
    import json
    answer = json.loads(text)
    res = answer["res"]
    if "n" in answer or _SYMBOLIC.fullmatch(res):
        return Layout._of(res, answer.get("base", 0))
    value = _parsed(res)
    return bool(value) if predicate and isinstance(value, int) else value


def evaluate(expression):
    """The value of an expression, such as "zipped_divide((4,8):(8,1), (2,4))".

    Returns:
        Layout, int, nested tuples of int, or str: what the command prints.
    """
    name = expression.split("(", 1)[0].strip()
    return _value(_tw.layout_json(expression), name in _PREDICATES)


def apply(name, *arguments):
    """An operation by its name."""
    if name == "slice" and len(arguments) == 2 and isinstance(arguments[0], Layout):
        return arguments[0]._at((arguments[1],))  # with the offset where it begins
    expression = name + "(" + ", ".join(_text(x, name) for x in arguments) + ")"
    return _value(_tw.layout_json(expression), name in _PREDICATES)


class Layout:
    """A function from coordinates to offsets, written shape:stride. Immutable and hashable.

    `layout("(4,8):(8,1)")`, `Layout((4, 8), (8, 1))` and `Layout((4, 8))`, which is column-major,
    make one. Every operation of `tilewright layout --ops` is a method: `L.zipped_divide((2, 4))`,
    and a function of `tilewright.layouts`.

        L(13), L(1, 3)      the offset of an index, of a coordinate
        L[:, 2]             the slice; its `base` is where it begins
        A @ B               the composition A(B(c))
        A == B              the same shape and strides
        numpy.asarray(L)    all offsets, an array of the sizes of the modes
        L.view(x)           the elements of a NumPy array that L points at, without a copy

    Attributes:
        text: the layout in the notation of docs/layouts.md, without its base.
        base: the offset that is added; of a layout of coordinates a tuple. 0 unless it is a slice.
        shape, stride: int or nested tuples of int.
    """

    __slots__ = ("text", "base", "_hash")

    def __new__(cls, shape, stride=None):
        text = _text(shape) if stride is None else f"{_text(shape)}:{_text(stride)}"
        made = _value(_tw.layout_json(text))
        if not isinstance(made, Layout):
            raise LayoutError(f"TW0101: text of a layout: got {text}, need shape:stride", "TW0101",
                              "text of a layout", text, "shape:stride")
        return made

    @classmethod
    def _of(cls, text, base):
        self = object.__new__(cls)
        if isinstance(base, str):
            base = _parsed(base)
        set_ = object.__setattr__
        set_(self, "text", text)
        set_(self, "base", base)
        set_(self, "_hash", hash((text, base)))
        return self

    def __setattr__(self, name, value):
        raise AttributeError("layouts are immutable")

    def __reduce__(self):
        return _again, (self.text, self.base)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def without_base(self):
        """The layout that begins at offset 0."""
        return _again(self.text, 0) if self.base else self

    @property
    def shape(self):
        return _value(_tw.layout_json(f"shape({self.text})"))

    @property
    def stride(self):
        return _value(_tw.layout_json(f"stride({self.text})"))

    def __len__(self):
        return apply("size", self.without_base())

    def __call__(self, *coordinate):
        return self._at(coordinate)

    def __getitem__(self, coordinate):
        return self._at(coordinate if isinstance(coordinate, tuple) else (coordinate,))

    def _at(self, coordinate):
        text = _text(coordinate[0] if len(coordinate) == 1 else coordinate, "a coordinate")
        if not text.startswith("("):
            text = f"({text})"
        return self._moved(evaluate(f"{self.text}{text}"))

    def _moved(self, value):
        """An offset or a layout that begins at this one's base."""
        if not self.base:
            return value
        if isinstance(value, Layout):
            return Layout._of(value.text, _sum(self.base, value.base))
        return _sum(self.base, value)

    def __matmul__(self, other):
        return self._moved(apply("composition", self.without_base(), other))

    def __rmatmul__(self, other):
        return Layout(other) @ self

    def __eq__(self, other):
        if isinstance(other, str):
            try:
                other = Layout(other)
            except LayoutError:
                return False
        if not isinstance(other, Layout):
            return NotImplemented
        return self.text == other.text and self.base == other.base

    def __hash__(self):
        return self._hash

    def __str__(self):
        return f"{_written(self.base)} o {self.text}" if self.base else self.text

    def __repr__(self):
        return f"layout({str(self)!r})"

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("the offsets of a layout are computed: they are always a new array")
        return _offsets(self).astype(dtype or numpy.int64, copy=False)

    def view(self, x):
        """The elements of x that the layout points at: an array with a dimension for each leaf of
        the shape, without a copy.

        Args:
            x: a NumPy array of one dimension, whose elements lie one after another.
        """
        if "Sw<" in self.text or "@" in self.text:
            raise LayoutError(f"TW0101: layout of a view: got {self}, need strides alone", "TW0101",
                              "layout of a view", str(self), "strides alone",
                              "x[numpy.asarray(L)] copies the elements")
        if x.ndim != 1 or not x.flags.c_contiguous:
            raise LayoutError("TW0101: array of a view: need one dimension without gaps", "TW0101",
                              "array of a view", str(x.shape), "one dimension without gaps")
        shape, stride = _leaves(self.shape), _leaves(self.stride)
        steps = [(n - 1) * s for n, s in zip(shape, stride)]
        low = self.base + sum(min(s, 0) for s in steps)
        high = self.base + sum(max(s, 0) for s in steps)
        if low < 0 or high >= x.size:
            raise LayoutError(
                f"TW0101: array of a view: got {x.size} elements, need offsets {low} to {high}",
                "TW0101", "array of a view", f"{x.size} elements", f"offsets {low} to {high}")
        return numpy.lib.stride_tricks.as_strided(
            x[self.base:], shape, [s * x.itemsize for s in stride])

    def svg(self):
        """The picture of the layout, an SVG document (str)."""
        return _tw.layout_svg(self.text)

    def _repr_svg_(self):
        try:
            return self.svg()
        except LayoutError:  # too large for a picture: the notebook prints the text
            return None


def _again(text, base):
    return Layout._of(text, base)


def _written(base):
    return "(" + ",".join(map(str, base)) + ")" if isinstance(base, tuple) else str(base)


def _sum(a, b):
    if isinstance(a, tuple) and isinstance(b, tuple):
        return tuple(_sum(x, y) for x, y in zip(a, b))
    return b if a == 0 else a if b == 0 else a + b


def _leaves(tree):
    return [tree] if isinstance(tree, int) else [x for y in tree for x in _leaves(y)]


def _size(tree):
    return tree if isinstance(tree, int) else math.prod(_size(x) for x in tree)


def _offsets(layout):
    """All offsets, by index, in an array of the sizes of the modes."""
    text, swizzle = layout.text, None
    if found := _SWIZZLE.fullmatch(text):
        bits, base, shift = (int(x) for x in found.groups()[:3])
        swizzle = bits, base, shift, int(found[4])
        text = found[5]
    plain = _again(text, 0)
    shape, stride = plain.shape, plain.stride
    if not all(isinstance(x, int) for x in _leaves_of_any((shape, stride))) or isinstance(
            layout.base, tuple):
        raise LayoutError(f"TW0129: offsets of {layout}: need numbers for all extents and "
                          "strides", "TW0129",
                          f"offsets of {layout}", text, "numbers for all extents and strides",
                          "L(coordinate) is a coordinate")
    offsets = numpy.zeros((), numpy.int64)
    for extent, step in reversed(list(zip(_leaves(shape), _leaves(stride)))):
        offsets = (offsets[..., None] + numpy.arange(extent, dtype=numpy.int64) * step).reshape(-1)
    if swizzle:
        bits, base, shift, start = swizzle
        offsets = offsets + start
        mask = ((1 << bits) - 1) << (base + max(shift, 0))
        taken = offsets & mask
        offsets = offsets ^ (taken >> shift if shift >= 0 else taken << -shift)
    modes = (_size(shape),) if isinstance(shape, int) else tuple(_size(x) for x in shape)
    return (offsets + layout.base).reshape(modes, order="F")


def _leaves_of_any(tree):
    return [x for y in tree for x in _leaves_of_any(y)] if isinstance(tree, tuple) else [tree]


def layout(text, stride=None):
    """Makes a layout: from a text such as "(4,8):(8,1)", or from a shape and its strides.

    Returns:
        Layout.
    """
    return Layout(text, stride)


def _method(name, text):
    def method(self, *arguments):
        return apply(name, self, *arguments)
    method.__name__, method.__qualname__, method.__doc__ = name, f"Layout.{name}", text
    return method


for _name, _help in OPERATIONS.items():
    if not hasattr(Layout, _name):
        setattr(Layout, _name, _method(_name, _help))
