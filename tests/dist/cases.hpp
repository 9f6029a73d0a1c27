// SPDX-License-Identifier: Apache-2.0
// cases.hpp  Random operations over ranks: the operands of each rank, and the results of one
//            device.
#pragma once

#include "tests/dist/ranks.hpp"

namespace tw::dist::test {

/// Operands of an epilogue with integer results: row and column scales of powers of two, bias, C.
struct epilogue_operands {
  matrix c, bias, row_scale, col_scale;
  gemm_epilogue epilogue;
  bool has_c = false;

  void put(gemm_problem& p, gemm_operands& o) {
    p.epilogue = epilogue;
    if (has_c) p.c = c.desc, p.beta = 2.0F, o.c = c.data();
    o.bias = bias.data(), o.row_scale = row_scale.data(), o.col_scale = col_scale.data();
  }
};

inline epilogue_operands random_epilogue(std::int64_t m, std::int64_t n, elem d, order ord,
                                         bool fused, std::mt19937_64& rng) {
  epilogue_operands e;
  if (fused) {
    e.epilogue.act = activation::relu;
    e.epilogue.c_last = rng() % 2 == 0;
    e.epilogue.bias = {rng() % 2 == 0 ? along::rows : along::cols, elem::f32};
    e.epilogue.row_scale = along::rows;
    e.epilogue.col_scale = along::cols;
  }
  std::int64_t const biases = e.epilogue.bias == along::rows ? m : n;
  e.bias = integer_matrix(elem::f32, order::row_major, 1, biases, 0, rng, 3);
  e.row_scale = make_matrix(elem::f32, order::row_major, 1, m, 0,
                            [&] { return rng() % 2 == 0 ? 1.0F : 2.0F; });
  e.col_scale = make_matrix(elem::f32, order::row_major, 1, n, 0,
                            [&] { return rng() % 2 == 0 ? 1.0F : 0.5F; });
  e.has_c = d != elem::s32 && rng() % 2 == 0;
  if (e.has_c) e.c = integer_matrix(d, ord, m, n, rng() % 2, rng, 3);
  return e;
}

/// Threads of the emulator for results on one device.
inline int reference_threads = 1;

/// The result of the whole problem on one device.
inline matrix on_one_device(gemm_problem p, gemm_operands o, matrix const& like) {
  matrix d = like;
  o.d = d.data();
  emu::options threads;
  threads.os_threads = reference_threads;
  gemm_emulated(p, o, threads);
  return d;
}

struct types {
  elem ab, d;
};

/// A rank's operands in host memory: D for each A, one after the other.
struct rank_operands {
  std::vector<matrix> a, want;  // `want` has the rows of D
  matrix b, d;
  epilogue_operands e;
  gemm_problem p;
  gemm_operands o;  // without A
};

struct ranks_case {
  operation op;
  shards rows;
  std::vector<rank_operands> of_rank;
  std::int64_t gathered_bytes = 0;  // exactly enough
  std::string text;
};

/// All-gather + GEMM: three calls of different A, so that a buffer that is read too early has the
/// wrong rows. `scale` multiplies the extents.
inline ranks_case all_gather_case(types t, std::uint64_t seed, int ranks, std::int64_t scale = 1) {
  std::mt19937_64 rng(seed);
  auto const ord = [&] { return rng() % 2 == 0 ? order::row_major : order::col_major; };
  std::int64_t const m = scale * (1 + static_cast<std::int64_t>(rng() % 150));
  std::int64_t const k = scale * (1 + static_cast<std::int64_t>(rng() % 70));
  order const oa = ord(), ob = ord(), od = ord();
  constexpr int calls = 3;
  std::vector<matrix> a;
  for (int i = 0; i < calls; ++i) a.push_back(integer_matrix(t.ab, oa, m, k, 0, rng));
  ranks_case c{operation::all_gather_gemm, random_shards(m, ranks, rng), {}, 0, ""};
  c.of_rank.resize(static_cast<std::size_t>(ranks));
  c.text = "seed " + std::to_string(seed) + " ranks " + std::to_string(ranks);
  // Fused kernels of the representative set: A and B K-major.
  bool const k_major = oa == order::row_major && ob == order::col_major;
  bool const fused = k_major && od == order::row_major && t.d != elem::s32;
  for (int r = 0; r < ranks; ++r) {
    rank_operands& x = c.of_rank[static_cast<std::size_t>(r)];
    // Ragged, and one without columns.
    std::int64_t const n = r == 1 ? 0 : scale * (1 + static_cast<std::int64_t>(rng() % 90));
    auto const extra = static_cast<std::int64_t>(rng() % 9);
    for (matrix const& y : a) x.a.push_back(part_of(y, c.rows.of(r), {0, k}, extra));
    x.b = integer_matrix(t.ab, ob, k, n, 0, rng);
    x.d = empty_matrix(t.d, od, m, n, static_cast<std::int64_t>(rng() % 3));
    x.e = random_epilogue(m, n, t.d, od, fused, rng);
    x.p = {m, n, k, a[0].desc, x.b.desc, x.d.desc};
    x.o = {nullptr, x.b.data(), nullptr, x.d.data()};
    x.e.put(x.p, x.o);
    for (matrix& y : a) {
      x.o.a = y.data();
      x.want.push_back(on_one_device(x.p, x.o, x.d));
    }
    x.p.a = x.a[0].desc;
  }
  c.gathered_bytes = gathered_bytes(c.op, c.of_rank[0].p, c.rows);
  return c;
}

/// All-gather + GEMM by kernels with a gate: K-major operands and lines that TMA can address, but
/// for A of the caller, which is then copied. Unequal shards, one empty, several tiles of rows.
inline ranks_case gated_case(types t, std::uint64_t seed, int ranks, std::int64_t scale = 1) {
  std::mt19937_64 rng(seed);
  std::int64_t const m = scale * (200 + static_cast<std::int64_t>(rng() % 500));
  std::int64_t const chunk = 16 / size_bytes(t.ab);  // elements at which lines begin
  std::int64_t const k = chunk * scale * (1 + static_cast<std::int64_t>(rng() % 12));
  constexpr int calls = 3;
  std::vector<matrix> a;
  for (int i = 0; i < calls; ++i) a.push_back(integer_matrix(t.ab, order::row_major, m, k, 0, rng));
  ranks_case c{operation::all_gather_gemm, random_shards(m, ranks, rng), {}, 0, ""};
  c.of_rank.resize(static_cast<std::size_t>(ranks));
  c.text = "gated, seed " + std::to_string(seed) + " ranks " + std::to_string(ranks);
  for (int r = 0; r < ranks; ++r) {
    rank_operands& x = c.of_rank[static_cast<std::size_t>(r)];
    std::int64_t const n = r == 1 ? 0 : 8 * scale * (8 + static_cast<std::int64_t>(rng() % 30));
    bool const in_place = rng() % 3 != 0;
    for (matrix const& y : a) x.a.push_back(part_of(y, c.rows.of(r), {0, k}, in_place ? 16 : 1));
    x.b = integer_matrix(t.ab, order::col_major, k, n, 0, rng);
    x.d = empty_matrix(t.d, order::row_major, m, n, static_cast<std::int64_t>(rng() % 3));
    x.e = random_epilogue(m, n, t.d, order::row_major, false, rng);
    x.p = {m, n, k, a[0].desc, x.b.desc, x.d.desc};
    x.o = {nullptr, x.b.data(), nullptr, x.d.data()};
    x.e.put(x.p, x.o);
    for (matrix& y : a) {
      x.o.a = y.data();
      x.want.push_back(on_one_device(x.p, x.o, x.d));
    }
    x.p.a = x.a[0].desc;
  }
  c.gathered_bytes = gathered_bytes(c.op, c.of_rank[0].p, c.rows);
  return c;
}

/// GEMM + reduce-scatter or all-reduce.
inline ranks_case reduction_case(operation op, types t, std::uint64_t seed, int ranks,
                                 std::int64_t scale = 1) {
  std::mt19937_64 rng(seed);
  auto const ord = [&] { return rng() % 2 == 0 ? order::row_major : order::col_major; };
  std::int64_t const m = scale * (1 + static_cast<std::int64_t>(rng() % 120));
  std::int64_t const n = scale * 2 * (1 + static_cast<std::int64_t>(rng() % 50));
  std::int64_t const k = 1 + static_cast<std::int64_t>(rng() % 40);  // sums are exact in bf16
  order const oa = ord(), ob = ord(), od = ord();
  matrix a = integer_matrix(t.ab, oa, m, k, 0, rng), b = integer_matrix(t.ab, ob, k, n, 0, rng);
  ranks_case c{op, random_shards(m, ranks, rng), {}, 0, ""};
  c.of_rank.resize(static_cast<std::size_t>(ranks));
  shards const parts = random_shards(k, ranks, rng);
  bool const k_major = oa == order::row_major && ob == order::col_major;
  bool const fused = k_major && od == order::row_major && t.d != elem::s32;
  epilogue_operands e = random_epilogue(m, n, t.d, od, fused, rng);
  matrix const whole_d = empty_matrix(t.d, od, m, n);
  gemm_problem p{m, n, k, a.desc, b.desc, whole_d.desc};
  gemm_operands o{a.data(), b.data()};
  e.put(p, o);
  matrix const want = on_one_device(p, o, whole_d);
  bool const scatter = op == operation::gemm_reduce_scatter;
  c.text = "seed " + std::to_string(seed) + " ranks " + std::to_string(ranks) + " " + name(op) +
           " " + std::string(name(t.d));
  for (int r = 0; r < ranks; ++r) {
    rank_operands& x = c.of_rank[static_cast<std::size_t>(r)];
    range const own = scatter ? c.rows.of(r) : range{0, m};
    x.a = {part_of(a, {0, m}, parts.of(r), 1)}, x.b = part_of(b, parts.of(r), {0, n}, 2);
    x.d = empty_matrix(t.d, od, own.size, n, static_cast<std::int64_t>(rng() % 3));
    x.want = {part_of(want, own, {0, n}, 0)};
    x.e = e;
    if (e.has_c) x.e.c = part_of(e.c, own, {0, n}, 1);
    if (e.epilogue.bias == along::rows) x.e.bias = part_of(e.bias, {0, 1}, own, 0);
    x.e.row_scale = part_of(e.row_scale, {0, 1}, own, 0);
    x.p = {m, n, parts.of(r).size, x.a[0].desc, x.b.desc, x.d.desc};
    x.o = {nullptr, x.b.data(), nullptr, x.d.data()};
    x.e.put(x.p, x.o);
    for (path const via : {path::serial, path::direct})
      c.gathered_bytes = std::max(c.gathered_bytes, gathered_bytes(op, x.p, c.rows, true, via));
  }
  return c;
}

/// The operation of a case.
inline void call(ranks_case const& c, group const& g, gemm_problem const& p, gemm_operands const& o,
                 call_options const& how) {
  switch (c.op) {
    case operation::all_gather_gemm: return all_gather_gemm(g, p, o, how);
    case operation::gemm_reduce_scatter: return gemm_reduce_scatter(g, p, o, how);
    case operation::gemm_all_reduce: break;
  }
  gemm_all_reduce(g, p, o, how);
}

}  // namespace tw::dist::test
