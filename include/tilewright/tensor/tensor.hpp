// SPDX-License-Identifier: Apache-2.0
// tensor.hpp  All of the tensors; the essay on what a tensor is.
//
// A layout says where things are, a pointer says from where: a tensor is both. Its layout is known
// to the compiler, so the arithmetic left in a kernel is what one would have written by hand:
//
//     constexpr layout stile = tile_to_shape(atom, make_shape(128, 64));    // swizzled
//     constexpr layout tv = "((8,16),8):((128,1),16)"_L;                    // (thread, value)
//
//     auto s = make_tensor<stile>(make_smem_ptr<1024>(buffer));
//     expect_shape<128, 64>(s);                                             // (m, k)
//     auto A = gmem_view<16>(a, m, k, lda);                                 // (m, k)
//     auto gA = local_tile<tile(128, 64)>(A, bx, by);                       // (128, 64)
//     auto from = partition<tile(16, 64), tv>(gA, thread);                  // (value, m, k)
//     auto to = partition<tile(16, 64), tv>(s, thread);                     // (value, m, k)
//     copy(from, to);                                                       // 16 bytes at a time
//
// Three things happen to a tensor: it is sliced, t(_, 2, k), which moves it and drops modes; it is
// rearranged, by the algebra, with_layout; it is read in other units, vec and recast. A tile and a
// thread's part are a rearrangement and a slice. What is checked costs nothing: shapes, vectors,
// alignment and thread-value layouts are types, and refused by the compiler with both numbers.
//
// Spaces: global, shared, registers (fragment.hpp), tensor memory (addresses, tmem.hpp) and
// coordinates (identity.hpp), whose elements are the coordinates themselves, for predicates.
#pragma once

#include "tilewright/tensor/rules.hpp"  // first: compilers show this path in every refusal

#include "tilewright/tensor/address.hpp"
#include "tilewright/tensor/algorithm.hpp"
#include "tilewright/tensor/common.hpp"
#include "tilewright/tensor/coordinate.hpp"
#include "tilewright/tensor/copy.hpp"
#include "tilewright/tensor/fragment.hpp"
#include "tilewright/tensor/gmem_view.hpp"
#include "tilewright/tensor/identity.hpp"
#include "tilewright/tensor/partition.hpp"
#include "tilewright/tensor/shape.hpp"
#include "tilewright/tensor/space.hpp"
#include "tilewright/tensor/tmem.hpp"
#include "tilewright/tensor/vec.hpp"
#include "tilewright/tensor/view.hpp"
