// SPDX-License-Identifier: Apache-2.0
// scaled_batch_emu_test.cpp  A batch with block scales has the bits of its matrices computed one by
//                            one. All values are small and all scales powers of two, so that every
//                            sum is exact, whatever kernel adds it.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/kernel/emu_workspace.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/problem/operand.hpp"
#include "tilewright/problem/scale_convention.hpp"

namespace tw::test {
namespace {

constexpr std::int64_t batch = 3, m = 40, n = 150, k = 400;

struct scaled_batch {
  gemm_problem problem;
  std::vector<std::uint8_t> a, b;
  std::vector<float> scale_a, scale_b;
  std::vector<std::uint16_t> d;

  scaled_batch(scaling of_a, scaling of_b, bool one_scale_b, std::mt19937_64& random)
      : problem{m,
                n,
                k,
                {elem::e4m3, order::row_major, k, m * k},
                {elem::e4m3, order::col_major, k, k * n},
                {elem::bf16, order::row_major, n, m * n},
                std::nullopt,
                1.0F,
                0.0F} {
    problem.batch = batch;
    problem.scale_a = make_scale({false, m, k}, of_a);
    problem.scale_b = make_scale({true, n, k}, of_b);
    problem.scale_a->batch_stride = scale_extent(*problem.scale_a, m, k) + 4;
    if (!one_scale_b) problem.scale_b->batch_stride = scale_extent(*problem.scale_b, n, k);
    a.resize(batch * m * k), b.resize(batch * k * n), d.resize(batch * m * n);
    for (auto* values : {&a, &b})
      for (std::uint8_t& x : *values)
        x = from_float<e4m3>(static_cast<float>(random() % 5) - 2).bits;
    for (operand_desc const& x : operands_of(problem)) {
      std::vector<float>* const to = x.is == role::scale_a   ? &scale_a
                                     : x.is == role::scale_b ? &scale_b
                                                             : nullptr;
      if (to == nullptr) continue;
      to->resize(static_cast<std::size_t>(x.bytes()) / sizeof(float));
      for (float& s : *to) s = static_cast<float>(1U << random() % 3) / 2;
    }
  }

  /// The problem of matrix i alone, and its operands; i = -1: the batch.
  gemm_problem problem_of(std::int64_t i) const {
    gemm_problem p = problem;
    if (i >= 0) p.batch = 1;
    return p;
  }
  gemm_operands operands_of_matrix(std::int64_t i, std::vector<std::uint16_t>& result) {
    std::int64_t const at = i < 0 ? 0 : i;
    gemm_operands o;
    o.a = a.data() + at * m * k, o.b = b.data() + at * k * n;
    o.d = result.data() + at * m * n;
    o.scale_a = scale_a.data() + at * problem.scale_a->batch_stride;
    o.scale_b = scale_b.data() + at * problem.scale_b->batch_stride;
    return o;
  }
};

TEST(ScaledBatch, HasTheBitsOfItsMatricesOneByOne) {
  std::mt19937_64 random(20261128);
  emu_options options;
  options.sms = 4;
  device const dev = emulated_device(options);
  for (scaling of_a : {scaling::block_1x128, scaling::block_128x128})
    for (scaling of_b : {scaling::block_1x128, scaling::block_128x128})
      for (bool const one_scale_b : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << name(of_a) << " by " << name(of_b) << ", one scale tensor "
                     << "of B for all: " << one_scale_b);
        scaled_batch x(of_a, of_b, one_scale_b, random);
        EXPECT_GT(x.problem.scale_a->batch_stride, 0);
        EXPECT_EQ(x.problem.scale_b->batch_stride == 0, one_scale_b);
        std::vector<std::uint16_t> single(x.d.size(), 0xFFFF);
        for (std::int64_t i = -1; i < batch; ++i) {
          gemm_operands o = x.operands_of_matrix(i, i < 0 ? x.d : single);
          emulate(plan_gemm(x.problem_of(i), o, dev), o, options);
        }
        EXPECT_EQ(x.d, single);
        EXPECT_FALSE(std::equal(x.d.begin(), x.d.begin() + m * n, x.d.begin() + m * n));
      }
}

}  // namespace
}  // namespace tw::test
