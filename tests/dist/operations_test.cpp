// SPDX-License-Identifier: Apache-2.0
// operations_test.cpp  All operations and paths on virtual ranks give the bits of one device.
#include <span>

#include "tests/dist/cases.hpp"
#include "tilewright/base/check.hpp"

namespace tw::dist {
namespace {

using namespace test;

/// Paths, with epochs that pass 2^32 between the calls of a group.
void check_case(ranks_case&& c, std::uint64_t seed, std::span<path const> paths = all_paths) {
  auto const ranks = static_cast<int>(c.of_rank.size());
  bool const sums = splits_k(c.op);
  for (path const via : paths)
    for (int float32_partials = 0; float32_partials <= (sums ? 1 : 0); ++float32_partials) {
      auto const groups = group::virtual_ranks(
          ranks, {.gathered_bytes = c.gathered_bytes, .timeout_s = 60, .epoch = 0xFFFFFFFEU});
      run_ranks(groups, [&](group const& g) {
        rank_operands& x = c.of_rank[static_cast<std::size_t>(g.rank())];
        for (std::size_t i = 0; i < (sums ? 2 : 3); ++i) {
          std::size_t const of = i % x.a.size();
          std::fill(x.d.bytes.begin(), x.d.bytes.end(), std::byte{0xFF});
          random_delay(seed + i, g.rank());
          gemm_operands o = x.o;
          o.a = x.a[of].data();
          call(c, g, x.p, o,
               {.rows = c.rows, .via = via, .float32_partials = float32_partials != 0});
          expect_part(x.d, x.want[of], 0, 0, c.text + " " + name(via));
        }
      });
    }
}

void check_all_gather(types t, std::uint64_t seed, int ranks) {
  check_case(all_gather_case(t, seed, ranks), seed);
}

TEST(AllGatherGemm, GivesTheBitsOfOneDeviceOnEveryPath) {
  for (int const ranks : {1, 2, 3, 4, 8}) check_all_gather({elem::bf16, elem::f32}, 100, ranks);
  for (types const t :
       {types{elem::bf16, elem::bf16}, types{elem::f16, elem::f16}, types{elem::s8, elem::s32}})
    check_all_gather(t, 101, 3);
}

/// One launch whose loads wait for the rows: ranks without rows and without columns, loads that
/// have rows of two ranks, rows that the caller has at places that TMA cannot address.
TEST(AllGatherGemm, ByAGateGivesTheBitsOfOneDevice) {
  constexpr path gated[] = {path::gated};
  for (int const ranks : {1, 2, 3, 4, 8})
    check_case(gated_case({elem::bf16, elem::f32}, 150, ranks), 150, gated);
  for (types const t :
       {types{elem::bf16, elem::bf16}, types{elem::f16, elem::f16}, types{elem::e4m3, elem::bf16}})
    check_case(gated_case(t, 151, 3), 151, gated);
}

/// Kernels without a gate, and sums over ranks.
TEST(AllGatherGemm, WithoutAKernelAPathByGatesIsRefused) {
  auto const code = [](ranks_case const& c) -> std::string {
    group const g = group::virtual_ranks(2, {.gathered_bytes = c.gathered_bytes})[0];
    gemm_operands o = c.of_rank[0].o;
    o.a = o.b;
    try {
      call(c, g, c.of_rank[0].p, o, {.rows = c.rows, .via = path::gated});
    } catch (rejected const& e) {
      return e.why().code;
    }
    return "";
  };
  EXPECT_EQ(code(gated_case({elem::s8, elem::s32}, 152, 2)), "TW0904");
  EXPECT_EQ(code(reduction_case(operation::gemm_reduce_scatter, {elem::bf16, elem::f32}, 200, 2)),
            "TW0904");
}

void check_reduction(operation op, types t, std::uint64_t seed, int ranks) {
  check_case(reduction_case(op, t, seed, ranks), seed);
}

TEST(GemmReduceScatter, GivesTheBitsOfOneDeviceOnEveryPath) {
  operation const op = operation::gemm_reduce_scatter;
  for (int const ranks : {1, 2, 3, 4, 8}) check_reduction(op, {elem::bf16, elem::f32}, 200, ranks);
  for (types const t : {types{elem::bf16, elem::bf16}, types{elem::s8, elem::s32}})
    check_reduction(op, t, 201, 3);
}

TEST(GemmAllReduce, GivesTheBitsOfOneDeviceOnEveryPath) {
  operation const op = operation::gemm_all_reduce;
  for (int const ranks : {1, 2, 3, 4, 8}) check_reduction(op, {elem::bf16, elem::f32}, 300, ranks);
  for (types const t : {types{elem::f16, elem::f16}, types{elem::s8, elem::s32}})
    check_reduction(op, t, 301, 3);
}

/// Block scales of A cover the shard, in both orders, and travel with it.
TEST(AllGatherGemm, ScalesOfAAreGathered) {
  std::int64_t const m = 40, n = 24, k = 256;
  for (bool const m_major : {false, true}) {
    std::mt19937_64 rng(7);
    matrix a = integer_matrix(elem::e4m3, order::row_major, m, k, 0, rng);
    matrix b = integer_matrix(elem::e4m3, order::col_major, k, n, 0, rng);
    matrix scales = make_matrix(elem::f32, m_major ? order::col_major : order::row_major, m, 2, 0,
                                [&] { return std::ldexp(1.0F, static_cast<int>(rng() % 4)); });
    std::vector<float> const of_b(2, 0.5F);
    auto const desc_of = [&](matrix const& x) {
      std::int64_t const pitch = x.desc.pitch_elems;
      return m_major ? scale_desc{elem::f32, 1, 128, 1, pitch}
                     : scale_desc{elem::f32, 1, 128, pitch, 1};
    };
    matrix const like = empty_matrix(elem::bf16, order::row_major, m, n);
    gemm_problem p{m, n, k, a.desc, b.desc, like.desc};
    p.scale_a = desc_of(scales), p.scale_b = scale_desc{elem::f32, 128, 128, 2, 1};
    gemm_operands o{a.data(), b.data()};
    o.scale_a = scales.data(), o.scale_b = of_b.data();
    matrix const want = on_one_device(p, o, like);
    shards const rows({17, 0, 23});
    for (path const via : paths_of(true)) {
      auto const groups = group::virtual_ranks(3, {.timeout_s = 60});
      run_ranks(groups, [&](group const& g) {
        matrix my_a = part_of(a, rows.of(g.rank()), {0, k}, 16);
        matrix my_scales = part_of(scales, rows.of(g.rank()), {0, 2}, m_major ? 4 : 0);
        matrix d = like;
        gemm_problem q = p;
        q.a = my_a.desc, q.scale_a = desc_of(my_scales);
        gemm_operands r = o;
        r.a = my_a.data(), r.scale_a = my_scales.data(), r.d = d.data();
        all_gather_gemm(g, q, r, {.rows = rows, .via = via});
        expect_part(d, want, 0, 0, std::string("scales ") + name(via));
      });
    }
  }
}

/// q, k and v: A is gathered once, and each GEMM has the bits of one device.
TEST(AllGatherGemm, MultipliesOneGatheredABySeveralB) {
  std::int64_t const m = 30, k = 40;
  std::mt19937_64 rng(17);
  matrix a = integer_matrix(elem::bf16, order::row_major, m, k, 0, rng);
  std::vector<matrix> b, want;
  for (std::int64_t const n : {24, 8, 16}) {
    b.push_back(integer_matrix(elem::bf16, order::col_major, k, n, 0, rng));
    matrix const like = empty_matrix(elem::f32, order::row_major, m, n);
    gemm_problem const p{m, n, k, a.desc, b.back().desc, like.desc};
    want.push_back(on_one_device(p, {a.data(), b.back().data()}, like));
  }
  shards const rows({11, 0, 19});
  for (path const via : all_paths) {
    auto const groups = group::virtual_ranks(3, {.timeout_s = 60});
    run_ranks(groups, [&](group const& g) {
      matrix my_a = part_of(a, rows.of(g.rank()), {0, k}, 8);
      std::vector<matrix> d = want;
      std::vector<gemm_call> calls;
      for (std::size_t i = 0; i < b.size(); ++i) {
        std::fill(d[i].bytes.begin(), d[i].bytes.end(), std::byte{0xFF});
        gemm_problem const p{m, d[i].cols, k, my_a.desc, b[i].desc, d[i].desc};
        calls.push_back({p, {my_a.data(), b[i].data(), nullptr, d[i].data()}});
      }
      all_gather_gemm(g, calls, {.rows = rows, .via = via});
      for (std::size_t i = 0; i < b.size(); ++i) expect_part(d[i], want[i], 0, 0, name(via));
    });
  }
  group const one = group::virtual_ranks(1)[0];
  gemm_problem const p{m, 24, k, a.desc, b[0].desc, want[0].desc};
  gemm_call const first{p, {a.data(), b[0].data(), nullptr, want[0].data()}};
  gemm_call other = first;
  other.operands.a = b[1].data();
  for (auto const& calls : {std::vector<gemm_call>{}, std::vector<gemm_call>{first, other}}) try {
      all_gather_gemm(one, calls);
      ADD_FAILURE() << calls.size();
    } catch (rejected const& e) {
      EXPECT_EQ(e.why().code, "TW0904");
    }
}

/// A gate takes two columns of the sum; the auxiliary output is the sum before the activation.
void check_gate_or_aux(operation op, gating gate) {
  std::int64_t const m = 21, n = 48, k = 40;
  bool const scatter = op == operation::gemm_reduce_scatter, aux = gate == gating::none;
  std::mt19937_64 rng(11);
  matrix a = integer_matrix(elem::bf16, order::row_major, m, k, 0, rng, 1);
  matrix b = integer_matrix(elem::bf16, order::col_major, k, n, 0, rng, 1);
  matrix const like = empty_matrix(elem::bf16, order::row_major, m, aux ? n : n / 2);
  matrix const aux_like = empty_matrix(elem::bf16, order::row_major, m, n);
  gemm_problem p{m, n, k, a.desc, b.desc, like.desc};
  p.epilogue.act = activation::relu, p.epilogue.gate = gate;
  if (aux) p.aux = aux_like.desc;
  gemm_operands o{a.data(), b.data()};
  matrix want_aux = aux_like;
  o.aux = want_aux.data();
  matrix const want = on_one_device(p, o, like);
  shards const rows = shards::even(m, 3), parts({8, 0, 32});
  for (path const via : paths_of(gate != gating::none)) {
    auto const groups = group::virtual_ranks(3, {.timeout_s = 60});
    run_ranks(groups, [&](group const& g) {
      range const part = parts.of(g.rank());
      range const own = scatter ? rows.of(g.rank()) : range{0, m};
      matrix my_a = part_of(a, {0, m}, part, 0), my_b = part_of(b, part, {0, n}, 0);
      matrix d = empty_matrix(elem::bf16, order::row_major, own.size, like.cols, 3);
      matrix my_aux = empty_matrix(elem::bf16, order::row_major, own.size, n, 5);
      gemm_problem q = p;
      q.k = part.size, q.a = my_a.desc, q.b = my_b.desc, q.d = d.desc;
      if (aux) q.aux = my_aux.desc;
      gemm_operands r{my_a.data(), my_b.data(), nullptr, d.data()};
      r.aux = my_aux.data();
      (scatter ? gemm_reduce_scatter : gemm_all_reduce)(g, q, r, {.via = via});
      std::string const text = std::string(name(op)) + " " + name(via);
      expect_part(d, want, own.begin, 0, text);
      if (aux) expect_part(my_aux, want_aux, own.begin, 0, text + " aux");
    });
  }
}

TEST(GemmReduceScatter, GatesAndTheAuxiliaryOutputAreOfTheSum) {
  for (gating const gate : {gating::none, gating::interleaved, gating::split})
    for (operation const op : {operation::gemm_reduce_scatter, operation::gemm_all_reduce})
      check_gate_or_aux(op, gate);
}

/// reproducible: the bits are equal on all paths and in every run, also where sums are rounded.
TEST(GemmAllReduce, ReproducibleBitsDoNotDependOnPathOrDelays) {
  std::int64_t const m = 37, n = 40, k = 90;
  std::mt19937_64 rng(13);
  std::normal_distribution<float> normal;
  matrix a = make_matrix(elem::bf16, order::row_major, m, k, 0, [&] { return normal(rng); });
  matrix b = make_matrix(elem::bf16, order::col_major, k, n, 0, [&] { return normal(rng); });
  shards const parts = shards::even(k, 4);
  std::optional<matrix> first;
  for (std::uint64_t run = 0; run < 2; ++run)
    for (path const via : all_paths) {
      auto const groups = group::virtual_ranks(4, {.timeout_s = 60});
      std::vector<matrix> d(4, empty_matrix(elem::bf16, order::row_major, m, n));
      run_ranks(groups, [&](group const& g) {
        matrix my_a = part_of(a, {0, m}, parts.of(g.rank()), 0);
        matrix my_b = part_of(b, parts.of(g.rank()), {0, n}, 0);
        matrix& mine = d[static_cast<std::size_t>(g.rank())];
        gemm_problem q{m, n, my_a.cols, my_a.desc, my_b.desc, mine.desc};
        q.reproducible = true;
        random_delay(run, g.rank());
        gemm_all_reduce(g, q, {my_a.data(), my_b.data(), nullptr, mine.data()}, {.via = via});
      });
      if (!first) first = d[0];
      for (matrix const& x : d) expect_part(x, *first, 0, 0, name(via));
    }
}

}  // namespace
}  // namespace tw::dist
