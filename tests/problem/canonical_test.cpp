// SPDX-License-Identifier: Apache-2.0
// canonical_test.cpp  The canonical order of a matrix of one row or column addresses the same
//                     elements, and enumerators out of range are refused.
#include "tilewright/problem/canonical.hpp"

#include <gtest/gtest.h>

#include <random>

#include "tilewright/problem/accept.hpp"

namespace tw {
namespace {

std::int64_t index_of(matrix_desc const& m, std::int64_t row, std::int64_t col) {
  return m.ord == order::row_major ? row * m.pitch_elems + col : col * m.pitch_elems + row;
}

void expect_same_elements(matrix_desc const& a, matrix_desc const& b, std::int64_t rows,
                          std::int64_t cols) {
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.batch_stride_elems, b.batch_stride_elems);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j)
      ASSERT_EQ(index_of(a, i, j), index_of(b, i, j)) << rows << "x" << cols;
}

TEST(Canonical, NamesTheSameElements) {
  std::mt19937 g(11);
  auto const below = [&](int n) { return static_cast<int>(g() % static_cast<unsigned>(n)); };
  int changed = 0;
  for (int round = 0; round < 5000; ++round) {
    auto const extent = [&] { return below(2) == 0 ? 1 : 1 + below(40); };
    gemm_problem p;
    p.m = extent(), p.n = below(4) == 0 ? 16 : extent(), p.k = extent();
    auto const matrix = [&](std::int64_t rows, std::int64_t cols) {
      matrix_desc m{elem::bf16, below(2) == 0 ? order::row_major : order::col_major};
      m.pitch_elems = (m.ord == order::row_major ? cols : rows) + (below(3) == 0 ? below(9) : 0);
      return m;
    };
    if (p.n % 16 == 0 && below(2) == 0) p.epilogue.gate = gating::split;
    std::int64_t const d_cols = result_cols(p.epilogue, p.n);
    p.a = matrix(p.m, p.k), p.b = matrix(p.k, p.n), p.d = matrix(p.m, d_cols);
    if (below(2) == 0) p.c = matrix(p.m, d_cols), p.beta = 1;
    if (below(2) == 0) p.aux = matrix(p.m, p.n), p.aux->ord = p.d.ord;
    if (p.aux) p.aux->pitch_elems = p.d.ord == order::row_major ? p.n : p.m;
    gemm_problem const q = canonical(p);
    expect_same_elements(p.a, q.a, p.m, p.k);
    expect_same_elements(p.b, q.b, p.k, p.n);
    expect_same_elements(p.d, q.d, p.m, d_cols);
    if (p.c) expect_same_elements(*p.c, *q.c, p.m, d_cols);
    if (p.aux) expect_same_elements(*p.aux, *q.aux, p.m, p.n);
    EXPECT_TRUE(!p.aux || q.aux->ord == q.d.ord);
    EXPECT_EQ(canonical(q), q);
    changed += !(p == q);
  }
  EXPECT_GT(changed, 1000);
}

/// m x n x k with operands of these orders, dense.
gemm_problem dense(std::int64_t m, std::int64_t n, std::int64_t k, order a, order b, order d) {
  gemm_problem p;
  p.m = m, p.n = n, p.k = k;
  p.a = {elem::bf16, a, a == order::row_major ? k : m};
  p.b = {elem::bf16, b, b == order::row_major ? n : k};
  p.d = {elem::bf16, d, d == order::row_major ? n : m};
  return p;
}

TEST(Canonical, OrdersThatMeanTheSameAreTheSameProblem) {
  order const orders[] = {order::row_major, order::col_major};
  struct size {
    std::int64_t m, n, k;
  };
  for (size const s : {size{4096, 1, 4096}, {1, 4096, 512}, {1, 1, 1000}, {64, 32, 1}, {1, 1, 1}}) {
    gemm_problem const first =
        canonical(dense(s.m, s.n, s.k, order::row_major, order::col_major, order::row_major));
    for (order const a : orders)
      for (order const b : orders)
        for (order const d : orders) {
          bool const same_a = s.m == 1 || s.k == 1 || a == order::row_major;
          bool const same_b = s.n == 1 || s.k == 1 || b == order::col_major;
          bool const same_d = s.m == 1 || s.n == 1 || d == order::row_major;
          gemm_problem const other = canonical(dense(s.m, s.n, s.k, a, b, d));
          EXPECT_EQ(other == first, same_a && same_b && same_d) << s.m << " " << s.n << " " << s.k;
        }
  }
}

TEST(Accept, AGateWithKOfOneTakesEitherOrderOfB) {
  for (order const b : {order::row_major, order::col_major}) {
    gemm_problem p = dense(5, 32, 1, order::row_major, b, order::row_major);
    p.epilogue.gate = gating::split;
    p.d.pitch_elems = 16;
    EXPECT_FALSE(accept(p)) << to_string(*accept(p));
  }
}

TEST(Accept, RefusesValuesThatAreNoEnumerator) {
  using spoil = void (*)(gemm_problem&);
  for (spoil const f :
       {spoil([](gemm_problem& p) { p.a.type = static_cast<elem>(77); }),
        spoil([](gemm_problem& p) { p.b.ord = static_cast<order>(9); }),
        spoil([](gemm_problem& p) { p.d.ord = static_cast<order>(2); }),
        spoil([](gemm_problem& p) { p.c->ord = static_cast<order>(255); }),
        spoil([](gemm_problem& p) { p.c->type = static_cast<elem>(elem_count); }),
        spoil([](gemm_problem& p) { p.aux = p.d, p.aux->ord = static_cast<order>(3); }),
        spoil([](gemm_problem& p) { p.epilogue.act = static_cast<activation>(77); }),
        spoil([](gemm_problem& p) { p.epilogue.gate = static_cast<gating>(77); }),
        spoil([](gemm_problem& p) { p.epilogue.bias = static_cast<along>(77); }),
        spoil([](gemm_problem& p) { p.epilogue.bias.type = static_cast<elem>(77); })}) {
    gemm_problem p = dense(32, 32, 32, order::row_major, order::col_major, order::row_major);
    p.c = p.d, p.beta = 1;
    ASSERT_FALSE(accept(p));
    f(p);
    auto const why = accept(p);
    ASSERT_TRUE(why);
    EXPECT_EQ(why->code, "TW0416");
  }
}

}  // namespace
}  // namespace tw
