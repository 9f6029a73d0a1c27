// SPDX-License-Identifier: Apache-2.0
// layout.hpp  All of the layout algebra; the essay on what a layout is.
//
// A layout is a function from coordinates to offsets, written shape:stride. Each leaf of the shape
// is an extent, each leaf of the stride says how far one step along it goes:
//
//     L = (4,8):(8,1)          a row-major 4 x 8 matrix       L(i, j) = 8 i + j
//
//               j  0   1   2   3   4   5   6   7
//         i  0     0   1   2   3   4   5   6   7
//            1     8   9  10  11  12  13  14  15
//            2    16  17  18  19  20  21  22  23
//            3    24  25  26  27  28  29  30  31
//
// A mode may be a tuple itself. The same coordinate i then counts through its leaves, the first
// one fastest:
//
//     M = ((2,2),8):((1,16),2)        i = (i0, i1)      M(i, j) = i0 + 16 i1 + 2 j
//
//         i = 0, 1, 2, 3  is  (0,0), (1,0), (0,1), (1,1)  at offsets  0, 1, 16, 17
//
// So one layout has coordinates of several kinds: M(13), M(1, 3) and M((1,0), 3) are the same
// cell. Everything else follows from reading a layout as a function on 0 .. size - 1:
//
//     coalesce(A)            the same function with fewer leaves
//     composition(A, B)      A(B(c)): take of A what B points at, in B's shape
//     complement(A, m)       what has to be added to A to reach every offset below m
//     logical_divide(A, T)   A composed with (T, complement of T): a tile, and where the tiles are
//     logical_product(A, B)  A, and B copies of it side by side
//     swizzled(S, A)         the offsets of A with some of their bits xored: S(A(c))
//
// Composition is the one idea: partitioning a tile among threads is the composition of the tile
// with the map (thread, value) -> coordinate; a divide is a composition with a permutation.
//
//     (4,8):(8,1)  divided by  (2,4)      zipped_divide = ((2,4),(2,2)):((8,1),(16,4))
//
//            0   1   2   3 |  4   5   6   7
//            8   9  10  11 | 12  13  14  15         tile (r,c) at offset 16 r + 4 c,
//           ---------------+---------------         inside it (i,j) at 8 i + j
//           16  17  18  19 | 20  21  22  23
//           24  25  26  27 | 28  29  30  31
//
// Extents and strides may be known at run time only: $0 is argument 0. The matrix of a kernel is
// ($0,$1):($2,1), rows, columns and pitch, and the algebra above works on it while it compiles:
//
//     ($0,$1):($2,1)  divided by  (128,64)  is  ((128,64),($0/128,$1/64)):(($2,1),(128$2,64))
//
// with $0/128 = ceil($0 / 128). What would depend on a value is refused; bind.hpp puts values in.
//
// Layouts here are ordinary values of one structural class, and the algebra is ordinary constexpr
// functions: the same code answers at compile time, at run time and on the command line. Where an
// operation has no right answer it refuses (rules.hpp), also where other libraries return a wrong
// layout: docs/layouts.md lists the differences.
#pragma once

#include "tilewright/layout/rules.hpp"  // first: compilers show this path in every refusal

#include "tilewright/layout/argument.hpp"
#include "tilewright/layout/basis.hpp"
#include "tilewright/layout/bind.hpp"
#include "tilewright/layout/bits.hpp"
#include "tilewright/layout/coalesce.hpp"
#include "tilewright/layout/common.hpp"
#include "tilewright/layout/complement.hpp"
#include "tilewright/layout/composition.hpp"
#include "tilewright/layout/construct.hpp"
#include "tilewright/layout/divide.hpp"
#include "tilewright/layout/evaluate.hpp"
#include "tilewright/layout/inverse.hpp"
#include "tilewright/layout/like.hpp"
#include "tilewright/layout/local.hpp"
#include "tilewright/layout/modes.hpp"
#include "tilewright/layout/offset.hpp"
#include "tilewright/layout/parse.hpp"
#include "tilewright/layout/print.hpp"
#include "tilewright/layout/product.hpp"
#include "tilewright/layout/recast.hpp"
#include "tilewright/layout/shapes.hpp"
#include "tilewright/layout/slice.hpp"
#include "tilewright/layout/swizzle.hpp"
#include "tilewright/layout/tile_to_shape.hpp"
#include "tilewright/layout/tiler.hpp"
#include "tilewright/layout/tree.hpp"
#include "tilewright/layout/value.hpp"
