// SPDX-License-Identifier: Apache-2.0
// copy_table.hpp  The copy instructions, a row each, and the layouts that follow from a row.
//
// A name is the row's text with the number n in it: copy.sm75.ldmatrix.x4.t. What n counts is in
// the row: matrices, repetitions, bits. The layouts, in bits:
//
//   fragment of n matrices (8 rows of 128 bits, 1024 bits each), 32 threads
//     as stored    (32,(32,n)):(32,(1,1024))              thread t: row t/4, 32 bits at 32 (t%4)
//     transposed   ((4,8),(16,2,n)):((256,16),(1,128,1024))   16-bit column t/4, rows 2(t%4) + 0, 1
//     8-bit, transposed     ((4,8),(8,2,2,n)):((256,8),(1,128,64,1024))
//   addresses of n matrices: thread t gives row t of the 8 n; the others repeat them
//   tensor memory: 16 or 32 lanes, each with `width` bits for each of n repetitions; all threads
//     name all of it
// Source: PTX ISA, "ldmatrix", "stmatrix", "movmatrix", "cp.async", "cp.async.bulk",
// "cp.async.bulk.tensor", "tcgen05.ld", "tcgen05.st" and "Data Movement Shape".
// Law:      each side covers its bits, memory's as often as threads name them
// Example:  tests/atom/copy_table_test.cpp
#pragma once

#include "tilewright/atom/copy_atom.hpp"

namespace tw {

/// The kind of layouts of a row.
enum class copy_form : std::uint8_t {
  thread,            // one thread, n consecutive bits
  element,           // one thread, one element of any width
  matrix,            // n matrices of 8 rows of 128 bits, a row to four threads
  matrix_t,          // the same, 16-bit elements, a column to four threads
  matrix8_t,         // 8-bit elements: registers as stmatrix.m16n8.trans takes them
  matrix16x16_t,     // 8-bit elements: two matrices as one of 16 rows, ldmatrix.m16n16.trans
  matrix16x16_pair,  // the same with rows and registers exchanged so that they match matrix8_t
  movmatrix,         // registers to registers, transposed
  registers,         // registers to registers, place by place
  shuffle,           // threads t and t ^ n exchange a register: 2 x 2 transposed
  lanes32,           // tensor memory, 32 lanes of 32 bits: a lane to a thread
  lanes16x32,        // 16 lanes; threads 16-31 take the second half of each
  lanes16x64,        // 16 lanes of 64 bits
  lanes16x128,       // 16 lanes of 128 bits
  lanes16x256,       // 16 lanes of 256 bits
};

/// A family of instructions: the name is before + n + after, or `before` alone if most == 0.
struct copy_row {
  char const* before;
  char const* after;
  copy_form form;
  bool to_memory;   // the registers (or the reference side) are the source
  i64 least, most;  // n: powers of two from least to most
  i64 multiple;     // n: multiples of it instead, where not 0
  char const* ptx;  // section of the PTX ISA
};

inline constexpr copy_row copy_rows[] = {
    {"copy.universal.", "", copy_form::thread, false, 8, 256, 0, "ld, st"},
    {"copy.element", "", copy_form::element, false, 0, 0, 0, "ld, st"},
    {"copy.sm50.shfl_transpose.xor", "", copy_form::shuffle, true, 1, 16, 0, "shfl.sync"},
    {"copy.sm75.ldmatrix.x", "", copy_form::matrix, false, 1, 4, 0, "ldmatrix"},
    {"copy.sm75.ldmatrix.x", ".t", copy_form::matrix_t, false, 1, 4, 0, "ldmatrix"},
    {"copy.sm75.movmatrix.t", "", copy_form::movmatrix, true, 0, 0, 0, "movmatrix"},
    {"copy.sm75.movmatrix.places", "", copy_form::registers, true, 0, 0, 0, "movmatrix"},
    {"copy.sm80.cp_async.ca.", "", copy_form::thread, false, 32, 128, 0, "cp.async"},
    {"copy.sm80.cp_async.cg.", "", copy_form::thread, false, 128, 128, 0, "cp.async"},
    {"copy.sm80.cp_async.ca.", ".zfill", copy_form::thread, false, 32, 128, 0, "cp.async"},
    {"copy.sm80.cp_async.cg.", ".zfill", copy_form::thread, false, 128, 128, 0, "cp.async"},
    {"copy.sm90.stmatrix.x", "", copy_form::matrix, true, 1, 4, 0, "stmatrix"},
    {"copy.sm90.stmatrix.x", ".t", copy_form::matrix_t, true, 1, 4, 0, "stmatrix"},
    {"copy.sm90.bulk.load.", "", copy_form::thread, false, 128, 0, 128, "cp.async.bulk"},
    {"copy.sm90.bulk.store.", "", copy_form::thread, true, 128, 0, 128, "cp.async.bulk"},
    {"copy.sm90.bulk.reduce.", "", copy_form::thread, true, 128, 0, 128, "cp.reduce.async.bulk"},
    {"copy.sm90.tma.load.", "", copy_form::thread, false, 128, 0, 128, "cp.async.bulk.tensor"},
    {"copy.sm90.tma.load.", ".multicast", copy_form::thread, false, 128, 0, 128,
     "cp.async.bulk.tensor"},
    {"copy.sm90.tma.load.", ".im2col", copy_form::thread, false, 128, 0, 128,
     "cp.async.bulk.tensor"},
    {"copy.sm90.tma.store.", "", copy_form::thread, true, 128, 0, 128, "cp.async.bulk.tensor"},
    {"copy.sm90.tma.store.", ".im2col", copy_form::thread, true, 128, 0, 128,
     "cp.async.bulk.tensor"},
    {"copy.sm90.tma.reduce.", "", copy_form::thread, true, 128, 0, 128,
     "cp.reduce.async.bulk.tensor"},
    {"copy.sm100.ldmatrix.m8n16.x", ".b4x16_p64", copy_form::matrix, false, 1, 4, 0, "ldmatrix"},
    {"copy.sm100.ldmatrix.m8n16.x", ".b6x16_p32", copy_form::matrix, false, 1, 4, 0, "ldmatrix"},
    {"copy.sm100.ldmatrix.m16n16.x", ".t.b8", copy_form::matrix16x16_t, false, 1, 2, 0, "ldmatrix"},
    {"copy.sm100.ldmatrix.m16n16.x", ".t.b8.paired", copy_form::matrix16x16_pair, false, 1, 2, 0,
     "ldmatrix"},
    {"copy.sm100.stmatrix.m16n8.x", ".t.b8", copy_form::matrix8_t, true, 1, 4, 0, "stmatrix"},
    {"copy.sm100.tcgen05.ld.16x256b.x", "", copy_form::lanes16x256, false, 1, 32, 0, "tcgen05.ld"},
    {"copy.sm100.tcgen05.ld.16x256b.x", ".pack16", copy_form::lanes16x256, false, 1, 32, 0,
     "tcgen05.ld"},
    {"copy.sm100.tcgen05.ld.16x128b.x", "", copy_form::lanes16x128, false, 1, 64, 0, "tcgen05.ld"},
    {"copy.sm100.tcgen05.ld.16x128b.x", ".pack16", copy_form::lanes16x128, false, 1, 64, 0,
     "tcgen05.ld"},
    {"copy.sm100.tcgen05.ld.16x64b.x", "", copy_form::lanes16x64, false, 1, 128, 0, "tcgen05.ld"},
    {"copy.sm100.tcgen05.ld.16x64b.x", ".pack16", copy_form::lanes16x64, false, 1, 128, 0,
     "tcgen05.ld"},
    {"copy.sm100.tcgen05.ld.16x32bx2.x", "", copy_form::lanes16x32, false, 1, 128, 0, "tcgen05.ld"},
    {"copy.sm100.tcgen05.ld.16x32bx2.x", ".pack16", copy_form::lanes16x32, false, 1, 128, 0,
     "tcgen05.ld"},
    {"copy.sm100.tcgen05.ld.32x32b.x", "", copy_form::lanes32, false, 1, 128, 0, "tcgen05.ld"},
    {"copy.sm100.tcgen05.ld.32x32b.x", ".pack16", copy_form::lanes32, false, 1, 128, 0,
     "tcgen05.ld"},
    {"copy.sm100.tcgen05.ld_red.32x32b.x", "", copy_form::lanes32, false, 2, 128, 0, "tcgen05.ld"},
    {"copy.sm100.tcgen05.st.16x256b.x", "", copy_form::lanes16x256, true, 1, 32, 0, "tcgen05.st"},
    {"copy.sm100.tcgen05.st.16x256b.x", ".unpack16", copy_form::lanes16x256, true, 1, 32, 0,
     "tcgen05.st"},
    {"copy.sm100.tcgen05.st.16x128b.x", "", copy_form::lanes16x128, true, 1, 64, 0, "tcgen05.st"},
    {"copy.sm100.tcgen05.st.16x128b.x", ".unpack16", copy_form::lanes16x128, true, 1, 64, 0,
     "tcgen05.st"},
    {"copy.sm100.tcgen05.st.16x64b.x", "", copy_form::lanes16x64, true, 1, 128, 0, "tcgen05.st"},
    {"copy.sm100.tcgen05.st.16x64b.x", ".unpack16", copy_form::lanes16x64, true, 1, 128, 0,
     "tcgen05.st"},
    {"copy.sm100.tcgen05.st.16x32bx2.x", "", copy_form::lanes16x32, true, 1, 128, 0, "tcgen05.st"},
    {"copy.sm100.tcgen05.st.16x32bx2.x", ".unpack16", copy_form::lanes16x32, true, 1, 128, 0,
     "tcgen05.st"},
    {"copy.sm100.tcgen05.st.32x32b.x", "", copy_form::lanes32, true, 1, 128, 0, "tcgen05.st"},
    {"copy.sm100.tcgen05.st.32x32b.x", ".unpack16", copy_form::lanes32, true, 1, 128, 0,
     "tcgen05.st"},
};

namespace detail {

struct two_sides {
  layout registers, memory;
};

/// (l, n:stride), the last leaf left out where n is 1.
TW_HD constexpr layout and_again(layout const& l, i64 n, i64 stride) {
  if (n == 1) return l;
  layout out;
  append_modes(out, l);
  append(out, n, num{stride});
  wrap(out);
  return out;
}

/// The rows whose addresses the threads give: 8 n rows of 128 bits, repeated for 32 threads.
TW_HD constexpr layout row_addresses(i64 rows) {
  layout const threads =
      rows == 32 ? layout(32, 128) : make_layout(layout(rows, 128), layout(32 / rows, 0));
  return make_layout(threads, layout(128, 1));
}

/// ((a,b),...):((da,db),...), threads of a fragment.
TW_HD constexpr layout pair(i64 a, i64 da, i64 b, i64 db) {
  return make_layout(layout(a, da), layout(b, db));
}

/// Tensor memory: 32 threads that all name the same bits.
TW_HD constexpr layout named_by_all(i64 bits) {
  return make_layout(layout(32, 0), layout(bits, 1));
}

TW_HD constexpr two_sides sides_of(copy_form form, i64 n) {
  layout const warp_places = make_layout(layout(32, 32), layout(32, 1));
  switch (form) {
    case copy_form::thread: {
      layout const bits = make_layout(layout(1, 0), layout(n, 1));
      return {bits, bits};
    }
    case copy_form::element: {
      layout const one = make_layout(layout(1, 0), layout(1, 0));
      return {one, one};
    }
    case copy_form::matrix:
      return {make_layout(layout(32, 32), and_again(layout(32, 1), n, 1024)), row_addresses(8 * n)};
    case copy_form::matrix_t:
      return {make_layout(pair(4, 256, 8, 16), and_again(pair(16, 1, 2, 128), n, 1024)),
              row_addresses(8 * n)};
    case copy_form::matrix8_t: {
      layout const value = make_layout(layout(8, 1), layout(2, 128), layout(2, 64));
      return {make_layout(pair(4, 256, 8, 8), and_again(value, n, 1024)), row_addresses(8 * n)};
    }
    case copy_form::matrix16x16_t: {
      layout const value = make_layout(layout(8, 1), layout(4, 128), layout(2, 64));
      return {make_layout(pair(4, 512, 8, 8), and_again(value, n, 2048)), row_addresses(16 * n)};
    }
    case copy_form::matrix16x16_pair: {  // threads give rows 0 1 8 9, 2 3 10 11, ...
      layout const value = make_layout(layout(8, 1), layout(2, 128), layout(2, 64));
      layout const rows = make_layout(layout(2, 128), layout(2, 1024), layout(4, 256),
                                      n == 1 ? layout(2, 0) : layout(2, 2048));
      return {make_layout(pair(4, 256, 8, 8), and_again(value, 2 * n, 1024)),
              make_layout(rows, layout(128, 1))};
    }
    case copy_form::movmatrix:
      return {warp_places, make_layout(pair(4, 256, 8, 16), pair(16, 1, 2, 128))};
    case copy_form::registers: return {warp_places, warp_places};
    case copy_form::shuffle: {  // thread t keeps its half t & n and gives away the other
      layout threads;
      if (n > 1) append(threads, n, num{64});
      append(threads, 2, num{32});
      if (n < 16) append(threads, 16 / n, num{128 * n});
      wrap(threads);
      return {make_layout(layout(32, 64), layout(64, 1)),
              make_layout(threads, pair(32, 1, 2, 64 * n))};
    }
    case copy_form::lanes32:
      return {make_layout(layout(32, 32 * n), layout(32 * n, 1)), named_by_all(1024 * n)};
    case copy_form::lanes16x32:
      return {make_layout(pair(16, 64 * n, 2, 32 * n), layout(32 * n, 1)), named_by_all(1024 * n)};
    case copy_form::lanes16x64:
      return {make_layout(make_layout(layout(2, 512 * n), layout(2, 32), layout(8, 64 * n)),
                          and_again(layout(32, 1), n, 64)),
              named_by_all(1024 * n)};
    case copy_form::lanes16x128:
      return {make_layout(pair(4, 32, 8, 128 * n), and_again(pair(32, 1, 2, 1024 * n), n, 128)),
              named_by_all(2048 * n)};
    case copy_form::lanes16x256:
      return {make_layout(pair(4, 64, 8, 256 * n), and_again(pair(64, 1, 2, 2048 * n), n, 256)),
              named_by_all(4096 * n)};
  }
  return {};
}

/// Tensor memory is the reference of its copies; of the others, the registers are.
TW_HD constexpr bool refers_to_memory(copy_form f) { return f >= copy_form::lanes32; }

}  // namespace detail

/// n is a size that the row has.
TW_HD constexpr bool has_size(copy_row const& row, i64 n) {
  if (row.multiple > 0) return n >= row.least && n % row.multiple == 0;
  if (row.most == 0) return n == 0;
  return n >= row.least && n <= row.most && (n & (n - 1)) == 0;
}

/// The atom of a row, in bits.
TW_HD constexpr copy_atom make_copy_atom(copy_row const& row, i64 n) {
  if (!has_size(row, n)) refuse_copy_size(n, row.most);
  detail::two_sides const s = detail::sides_of(row.form, n);
  copy_atom a;
  a.thr_id = row.form == copy_form::thread || row.form == copy_form::element ? layout(1, 0)
                                                                             : layout(32, 1);
  a.src = row.to_memory ? s.registers : s.memory;
  a.dst = row.to_memory ? s.memory : s.registers;
  a.ref = detail::refers_to_memory(row.form) ? s.memory : s.registers;
  return a;
}

}  // namespace tw
