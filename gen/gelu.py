#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the coefficients of gelu_erf in include/tilewright/kernel/sm90/epilogue/ops.hpp.

The normal distribution Phi(x) is 1 / (1 + 2^(-x p(x^2))). p is fitted to |x| < 5 by weighted least
squares, whose weights are raised where the error is largest until it is nearly the same everywhere.
"""
from fractions import Fraction
from math import cos, erfc, log2, pi, sqrt
import struct

LIMIT, DEGREE, POINTS, ROUNDS = 5.0, 7, 800, 150


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def chebyshev(u):
    row = [1.0, u]
    while len(row) <= DEGREE:
        row.append(2 * u * row[-1] - row[-2])
    return row


def least_squares(rows, wanted, weights):
    """Orthogonalises the weighted columns, twice, and substitutes back."""
    count = DEGREE + 1
    columns = [[r[j] * w for r, w in zip(rows, weights)] for j in range(count)]
    b = [y * w for y, w in zip(wanted, weights)]
    q, upper = [], [[0.0] * count for _ in range(count)]
    for j, v in enumerate(columns):
        for _ in range(2):
            for k, unit in enumerate(q):
                s = sum(x * y for x, y in zip(unit, v))
                upper[k][j] += s
                v = [y - s * x for x, y in zip(unit, v)]
        upper[j][j] = sqrt(sum(x * x for x in v))
        q.append([x / upper[j][j] for x in v])
    c = [sum(x * y for x, y in zip(unit, b)) for unit in q]
    for j in reversed(range(count)):
        c[j] = (c[j] - sum(upper[j][k] * c[k] for k in range(j + 1, count))) / upper[j][j]
    return c


def fit():
    xs = [LIMIT * (1 - cos((i + 0.5) * pi / POINTS)) / 2 + 1e-4 for i in range(POINTS)]
    tails = [0.5 * erfc(x / sqrt(2)) for x in xs]
    wanted = [(log2(1 - t) - log2(t)) / x for t, x in zip(tails, xs)]
    rows = [chebyshev(2 * x * x / LIMIT**2 - 1) for x in xs]
    goal = [max(t * (1 - t), 1e-4) * x for t, x in zip(tails, xs)]
    weights, best = goal[:], None
    for _ in range(ROUNDS):
        c = least_squares(rows, wanted, weights)
        errors = [abs(sum(x * y for x, y in zip(r, c)) - y) * g
                  for r, y, g in zip(rows, wanted, goal)]
        if best is None or max(errors) < best[0]:
            best = max(errors), c
        weights = [w * (0.7 + 0.6 * e / max(errors)) for w, e in zip(weights, errors)]
        scale = sum(goal) / sum(weights)
        weights = [w * scale for w in weights]
    return best[1]


def times(a, b):
    r = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            r[i + j] += x * y
    return r


def monomials(c):
    u = [Fraction(-1), Fraction(2) / Fraction(LIMIT**2)]
    terms = [[Fraction(1)], u]
    while len(terms) < len(c):
        next_term = times([Fraction(2)], times(u, terms[-1]))
        for i, x in enumerate(terms[-2]):
            next_term[i] -= x
        terms.append(next_term)
    total = [Fraction(0)] * len(c)
    for factor, term in zip(c, terms):
        for i, x in enumerate(term):
            total[i] += Fraction(factor) * x
    return [single(float(x)) for x in total]


if __name__ == "__main__":
    for power, coefficient in enumerate(monomials(fit())):
        print(f"t^{power}: {coefficient:.9g}F")
