// SPDX-License-Identifier: Apache-2.0
// explain_kernel_test.cpp  The kernels whose registers are measured compute the product: what
//                          explain recommends for the article's case, executed in the emulator.
#include <gtest/gtest.h>

#include <vector>

#include "tests/golden/registers_kernel.hpp"
#include "tilewright/arch/tensor_map.hpp"
#include "tilewright/base/convert.hpp"

namespace {

using namespace tw;
using namespace tw_test;

constexpr int rows = 192, columns = 384, depth = 128;

std::vector<f16> small_numbers(int n, unsigned seed) {
  std::vector<f16> v;
  for (unsigned s = seed; n > 0; --n) {
    s = s * 1664525U + 1013904223U;
    v.push_back(to_f16(static_cast<float>(s >> 30) - 1.0F));
  }
  return v;
}

tensor_map map_of(void* base, int outer, int inner, int box_inner, swizzle_mode s) {
  return make_tensor_map({.base = base,
                          .type = elem::f16,
                          .dim = {inner, outer},
                          .stride_bytes = {2 * inner},
                          .box = {box_inner, 192},
                          .swizzle = s},
                         target::emu);
}

/// D == A B^T, every element: the sums are small integers, exact in f16.
template <writing W>
void expect_product() {
  using kernel = writing_kernel<W>;
  std::vector<f16> a = small_numbers(rows * depth, 1), b = small_numbers(columns * depth, 2);
  std::vector<f16> d(rows * columns);
  writing_params p{.a = map_of(a.data(), rows, depth, 64, swizzle_mode::b128),
                   .b = map_of(b.data(), columns, depth, 64, swizzle_mode::b128),
                   .d = map_of(d.data(), rows, columns, kernel::span, W.smem),
                   .k_tiles = depth / 64,
                   .tiles_m = rows / 192,
                   .tiles_n = columns / 192};
  launch<kernel>(1, p, emu::options{});
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      float sum = 0;
      for (int k = 0; k < depth; ++k) {
        sum += to_float(a[static_cast<std::size_t>(i * depth + k)]) *
               to_float(b[static_cast<std::size_t>(j * depth + k)]);
      }
      ASSERT_EQ(to_float(d[static_cast<std::size_t>(i * columns + j)]), sum) << i << ", " << j;
    }
  }
}

using enum writer;
using enum address;

TEST(ExplainKernels, NarrowerSwizzles) {
  expect_product<writing{96, swizzle_mode::b64, stmatrix4, stepped}>();
  expect_product<writing{96, swizzle_mode::b32, stmatrix4, stepped}>();
  expect_product<writing{96, swizzle_mode::none, stmatrix4, stepped}>();
}

TEST(ExplainKernels, SmallerInstruction) {
  expect_product<writing{32, swizzle_mode::b128, stmatrix4, stepped}>();
}

/// B's rows belong to the warpgroups in turn: a descriptor with twice the stride.
TEST(ExplainKernels, TurnsOfEightColumns) {
  expect_product<writing{96, swizzle_mode::b128, stmatrix4, stepped, true}>();
}

TEST(ExplainKernels, PlainStores) {
  expect_product<writing{96, swizzle_mode::b64, st32, stepped}>();
  expect_product<writing{96, swizzle_mode::b64, st16, swizzled}>();
}

TEST(ExplainKernels, WithoutAPartition) {
  expect_product<writing{96, swizzle_mode::b128, stmatrix4, coordinates}>();
}

}  // namespace
