// SPDX-License-Identifier: Apache-2.0
// execute.hpp  From atoms to instructions: partitions of tensors by tiled copies and tiled MMAs,
//              copy<tiled_copy>(from, to) and gemm<tiled_mma>(a, b, c).
//
//     constexpr tiled_copy load = make_tiled_copy(
//         in_values(copy_atom_named("copy.sm80.cp_async.ca.128"), 16), thr, val);
//     copy<load>(partition_s<load>(gA, thread), partition_d<load>(sA, thread));
//
//     constexpr tiled_mma mma =
//         make_tiled_mma(find_mma("mma.sm90.m64n128k16.f32.bf16.bf16.ss"), "(2,1,1)"_L);
//     accumulators<mma, 128, 128> c;
//     gemm<mma>(sA, sB, c, k > 0);      // wgmma of all K steps of the tile; then commit and wait
//
// The instruction follows from the atom at compile time; a kernel compiles to what it would be with
// the instruction written by hand, on both backends.
//   copies   copy.universal.N, copy.sm80.cp_async.ca.N, .cg.128, copy.sm75.ldmatrix.xN[.t],
//            copy.sm90.stmatrix.xN[.t]
//   MMAs     mma.sm90.m64nNk16 .ss with float32 sums, of e4m3 and e5m2 m64nNk32;
//            mma.sm80.m16n8k16 and m16n8k8 with float32 sums, and with f16 sums of f16;
//            their operands are bf16 or f16
// Needs:    another atom is refused by a static_assert; contiguous, aligned elements [TW0140,
//           TW0141]
// Sources:  those of the atoms' tables.
// Example:  examples/own_kernel/tensor_gemm.hpp      tests/atom/execute_test.cpp
#pragma once

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/copy_find.hpp"
#include "tilewright/atom/descriptor.hpp"
#include "tilewright/atom/mma_name.hpp"
#include "tilewright/atom/tiled_copy_mma.hpp"
#include "tilewright/base/unrolled.hpp"
#include "tilewright/tensor/tensor.hpp"

namespace tw {

namespace detail {

template <tiled_copy Copy, bool Source, class V>
TW_HD constexpr auto copy_part(V&& t, int thread) {
  constexpr layout parts = partitioned(Copy, map_of<V>, Source ? Copy.atom.src : Copy.atom.dst);
  return slice_between<0, rank(parts) - 1>(
      with_layout<partitioned(Copy, map_of<V>, Source ? Copy.atom.src : Copy.atom.dst)>(t), thread);
}

/// The 32-bit registers of `Count` packets of two 16-bit elements, from element 2 * first on.
template <int Count, class V>
TW_DEVICE b32<Count> words_of(V const& elements, int first) {
  auto const pairs = vec<2>(elements);
  b32<Count> r;
  TW_UNROLL
  for (int i = 0; i < Count; ++i) {
    r.r[i] = reinterpret_cast<register_words<4> const&>(pairs(first + i)).w[0];
  }
  return r;
}

template <int Count, class V>
TW_DEVICE void put_words(V&& elements, int first, b32<Count> const& r) {
  auto const pairs = vec<2>(elements);
  TW_UNROLL
  for (int i = 0; i < Count; ++i) {
    reinterpret_cast<register_words<4>&>(pairs(first + i)).w[0] = r.r[i];
  }
}

TW_HD constexpr bool is_form(copy_instruction by, copy_form form) {
  return by.row >= 0 && copy_rows[by.row].form == form;
}
TW_HD constexpr bool is_cp_async(copy_instruction by) {
  if (!is_form(by, copy_form::thread)) return false;
  char const* const name = copy_rows[by.row].before;
  return name[5] == 's' && name[10] == 'c' && copy_rows[by.row].after[0] == '\0' &&
         name[19] == 'c';  // copy.sm80.cp_async.ca. or .cg.
}
/// Through L2 alone.
TW_HD constexpr bool is_cp_async_cg(copy_instruction by) {
  return is_cp_async(by) && copy_rows[by.row].before[20] == 'g';
}
TW_HD constexpr bool is_universal(copy_instruction by) {
  return is_form(by, copy_form::thread) && copy_rows[by.row].before[5] == 'u';
}
TW_HD constexpr bool is_matrices(copy_instruction by) {
  return is_form(by, copy_form::matrix) || is_form(by, copy_form::matrix_t);
}

TW_HD constexpr bool is_16_bit(mma_type t) { return t == mma_type::f16 || t == mma_type::bf16; }
TW_HD constexpr bool is_8_bit(mma_type t) { return t == mma_type::e4m3 || t == mma_type::e5m2; }
TW_HD constexpr elem input_elem(mma_type t) {
  if (t == mma_type::e4m3) return elem::e4m3;
  if (t == mma_type::e5m2) return elem::e5m2;
  return t == mma_type::f16 ? elem::f16 : elem::bf16;
}

}  // namespace detail

/// A thread's part of the source or the destination: (values, repeats along mode 0, 1, ...).
template <tiled_copy Copy, tensor_like V>
TW_HD constexpr auto partition_s(V&& t, int thread) {
  return detail::copy_part<Copy, true>(t, thread);
}
template <tiled_copy Copy, tensor_like V>
TW_HD constexpr auto partition_d(V&& t, int thread) {
  return detail::copy_part<Copy, false>(t, thread);
}

/// Moves one thread's part with the instruction of the atom. cp.async: commit and wait are the
/// caller's (cp_async_commit, cp_async_wait).
template <tiled_copy Copy, tensor_like From, tensor_like To>
TW_DEVICE void copy(From&& from, To&& to, call_site where = call_site::here()) {
  constexpr copy_instruction by = Copy.atom.by;
  constexpr int bits = static_cast<int>(Copy.atom.element_bits);
  using f = view_of<From>;
  static_assert(8 * sizeof(typename f::element) == bits, "elements as wide as the atom's values");
  if constexpr (detail::is_universal(by) || detail::is_cp_async(by)) {
    constexpr int elems = static_cast<int>(by.n) / bits;
    auto const source = vec<elems>(from);
    auto const target = vec<elems>(to);
    TW_UNROLL
    for (int i = 0; i < static_cast<int>(size(decltype(target)::map)); ++i) {
      if constexpr (detail::is_cp_async_cg(by)) {
        in_name_of(where, [&](auto... place) { cp_async_cg(&target(i), &source(i), place...); });
      } else if constexpr (detail::is_cp_async(by)) {
        in_name_of(where, [&](auto... place) {
          cp_async<static_cast<int>(by.n) / 8>(&target(i), &source(i), place...);
        });
      } else {
        detail::move_element(source(i), target(i));
      }
    }
  } else if constexpr (detail::is_matrices(by)) {
    constexpr int n = static_cast<int>(by.n);
    constexpr bool transposed = detail::is_form(by, copy_form::matrix_t);
    constexpr bool stores = copy_rows[by.row].to_memory;
    static_assert(bits == 16, "ldmatrix and stmatrix move elements of 16 bits here");
    auto const rows = [&]() -> auto const& {
      if constexpr (stores)
        return to;
      else
        return from;
    }
    ();
    TW_UNROLL
    for (int i = 0; i < static_cast<int>(size(map_of<decltype(rows)>)) / 8; ++i) {
      if constexpr (stores) {
        in_name_of(where, [&](auto... place) {
          stmatrix<n, transposed>(&rows(8 * i), detail::words_of<n>(from, n * i), place...);
        });
      } else {
        in_name_of(where, [&](auto... place) {
          detail::put_words<n>(to, n * i, ldmatrix<n, transposed>(&rows(8 * i), place...));
        });
      }
    }
  } else {
    static_assert(by.row < 0 && by.row > 0,
                  "copy<tiled_copy> executes universal, cp_async.ca, ldmatrix and stmatrix atoms");
  }
}

/// One thread's sums of an M x N tile of wgmma: (repeats along M, repeats along N) accumulators.
template <tiled_mma Mma, int M, int N>
struct accumulators {
  static constexpr int groups = static_cast<int>(size(mode(Mma.atom_layout, 0)));
  static constexpr int rows = M / (Mma.atom.m * groups), columns = N / Mma.atom.n;
  static_assert(rows * Mma.atom.m * groups == M && columns * Mma.atom.n == N,
                "the tile is a multiple of what the atoms fill");
  accumulator<Mma.atom.n> part[rows][columns];

  /// Value v of the thread's part (v, i, j), as partition_c<Mma>(C, thread) counts.
  TW_DEVICE float& operator()(register_index v, int i, int j) { return part[i][j][v]; }
};

namespace detail {

/// ((value, (repeats of rows, of columns)), row tiles, column tiles) as (value, rows, columns).
TW_HD constexpr layout by_value(layout const& part) {
  layout const held = mode(part, 0), repeats = mode(held, 1);
  layout out;
  append(out, mode(held, 0));
  for (int i = 0; i < 2; ++i) {
    layout both;
    append(both, mode(repeats, i));
    append(both, mode(part, i + 1));
    wrap(both);
    append(out, coalesce(linear_part(both)));
  }
  wrap(out);
  return swizzled_as(out, part);
}

template <tiled_mma Mma, mma_operand Which, class V>
TW_HD constexpr auto mma_part(V&& t, int thread) {
  constexpr layout tv = tv_layout(Mma, Which);
  constexpr two_modes modes = modes_of(Which);
  constexpr tree extents = tile_mnk(Mma);
  auto const part =
      partition<tile(extents.leaf[modes.row].v, extents.leaf[modes.column].v), tv>(t, thread);
  return with_layout<by_value(decltype(part)::map)>(part);
}

}  // namespace detail

/// A thread's part of A, B or C: (values of an atom, repeats along rows, repeats along columns).
template <tiled_mma Mma, tensor_like V>
TW_HD constexpr auto partition_a(V&& a, int thread) {
  return detail::mma_part<Mma, mma_operand::a>(a, thread);
}
template <tiled_mma Mma, tensor_like V>
TW_HD constexpr auto partition_b(V&& b, int thread) {
  return detail::mma_part<Mma, mma_operand::b>(b, thread);
}
template <tiled_mma Mma, tensor_like V>
TW_HD constexpr auto partition_c(V&& c, int thread) {
  return detail::mma_part<Mma, mma_operand::c>(c, thread);
}

namespace detail {

/// The descriptor of rows [Rows * block, ...) and K step `step` of an operand tile. K elements of a
/// step are 32 bytes.
template <layout Tile, operand_major Major, int Rows, int K>
TW_HD constexpr wgmma_descriptor operand_block(int block, int step) {
  return make_wgmma_descriptor(places_of_operand(
      local_tile(Tile, tile(Rows, K), make_coord(i64{block}, i64{step})), Major, 256 / K));
}

/// The bytes after which a tile's swizzle repeats, or the 16 that a descriptor counts in: its first
/// element is at a multiple of them, for the swizzle acts on addresses (PTX ISA, "Strides", "Matrix
/// Descriptor Format": base offset).
TW_HD constexpr i64 repeat_bytes(swizzle s, int elem_bytes) {
  return s.bits == 0 ? 16 : (i64{elem_bytes} << (s.base + s.bits + magnitude(s.shift)));
}
template <class T, layout L, space S>
consteval bool need_operand_alignment(std::type_identity<tensor<T, L, S>>) {
  // A slice keeps its distance from the aligned begin in its layout.
  return S.moved || need_alignment(tensor<T, L, S>::align_bytes, repeat_bytes(L.sw, sizeof(T)));
}

}  // namespace detail

/// c (+)= a b^T of a CTA's tiles in shared memory, a (M, K) and b (N, K): the wgmmas of this
/// thread's warpgroup. Needs wgmma_fence before, wgmma_commit and wgmma_wait after.
template <tiled_mma Mma, tensor_like A, tensor_like B, int M, int N>
TW_DEVICE void gemm(A&& a, B&& b, accumulators<Mma, M, N>& c, bool accumulate,
                    call_site where = call_site::here()) {
  constexpr mma_atom atom = Mma.atom;
  static_assert(is_wgmma(atom) && atom.a_from == mma_source::shared && atom.d == mma_type::f32 &&
                    (detail::is_16_bit(atom.a) || detail::is_8_bit(atom.a)),
                "gemm<tiled_mma>(a, b, accumulators) executes mma.sm90.m64nNk16.f32 and, of 8-bit "
                "floats, m64nNk32.f32 .ss");
  constexpr layout ta = map_of<A>, tb = map_of<B>;
  static_assert(size(mode(ta, 0)) == M && size(mode(tb, 0)) == N, "tiles (M, K) and (N, K)");
  static_assert(detail::need_operand_alignment(std::type_identity<std::remove_cvref_t<A>>{}));
  static_assert(detail::need_operand_alignment(std::type_identity<std::remove_cvref_t<B>>{}));
  constexpr int groups = accumulators<Mma, M, N>::groups;
  constexpr int group_step =
      groups < 2
          ? 0
          : detail::operand_block<detail::without_offset(ta), atom.a_major, 64, atom.k>(
                groups > 1 ? 1 : 0, 0)
                    .start_16b -
                detail::operand_block<detail::without_offset(ta), atom.a_major, 64, atom.k>(0, 0)
                    .start_16b;
  std::uint32_t const from_a =
      smem_addr(&a(0, 0)) + 16U * group_step * static_cast<std::uint32_t>(warpgroup_id());
  std::uint32_t const from_b = smem_addr(&b(0, 0));
  using sums = accumulators<Mma, M, N>;
  constexpr int steps = static_cast<int>(size(mode(ta, 1))) / atom.k;
  unrolled<steps * sums::rows * sums::columns>([&](auto at) {
    constexpr int k = at / (sums::rows * sums::columns);
    constexpr int i = at / sums::columns % sums::rows;
    constexpr int j = at % sums::columns;
    constexpr wgmma_descriptor rows =
        detail::operand_block<detail::without_offset(ta), atom.a_major, 64, atom.k>(i * groups, k);
    constexpr wgmma_descriptor columns =
        detail::operand_block<detail::without_offset(tb), atom.b_major, atom.n, atom.k>(j, k);
    in_name_of(where, [&](auto... place) {
      wgmma<detail::input_elem(atom.a), atom.a_major, atom.b_major, detail::input_elem(atom.b)>(
          c.part[i][j], rows.at(from_a), columns.at(from_b), accumulate || k > 0, place...);
    });
  });
}

/// c += a b^T in registers: fragments a (8, M, K), b (4, N, K), c (4, M, N) of partitions by Mma;
/// with atoms of 8 elements along K a (4, M, K), b (2, N, K).
template <tiled_mma Mma, tensor_like A, tensor_like B, tensor_like C>
TW_DEVICE void gemm(A&& a, B&& b, C&& c) {
  constexpr mma_atom atom = Mma.atom;
  constexpr bool f16_sums = atom.d == mma_type::f16 && atom.a == mma_type::f16;
  static_assert(atom.arch == mma_arch::sm80 && atom.m == 16 && atom.n == 8 &&
                    (atom.k == 16 || atom.k == 8) && detail::is_16_bit(atom.a) &&
                    (atom.d == mma_type::f32 || f16_sums),
                "gemm<tiled_mma>(a, b, c) in registers executes mma.sync m16n8k16 and m16n8k8, "
                "with float32 sums, and with f16 sums of f16");
  constexpr int m = static_cast<int>(size(mode(map_of<C>, 1)));
  constexpr int n = static_cast<int>(size(mode(map_of<C>, 2)));
  constexpr int steps = static_cast<int>(size(mode(map_of<A>, 2)));
  constexpr int words = atom.k / 8;  // of B in a thread; A has twice as many
  TW_UNROLL
  for (int k = 0; k < steps; ++k) {
    TW_UNROLL
    for (int i = 0; i < m; ++i) {
      TW_UNROLL
      for (int j = 0; j < n; ++j) {
        auto const of_a = detail::words_of<2 * words>(a(_, i, k), 0);
        auto const of_b = detail::words_of<words>(b(_, j, k), 0);
        if constexpr (f16_sums) {
          b32<2> d = detail::words_of<2>(c(_, i, j), 0);
          mma_sync<elem::f16>(d, of_a, of_b);
          detail::put_words<2>(c(_, i, j), 0, d);
        } else {
          float d[4] = {c(0, i, j), c(1, i, j), c(2, i, j), c(3, i, j)};
          mma_sync<detail::input_elem(atom.a)>(d, of_a, of_b);
          TW_UNROLL
          for (int v = 0; v < 4; ++v) c(v, i, j) = d[v];
        }
      }
    }
  }
}

}  // namespace tw
