// SPDX-License-Identifier: Apache-2.0
// device_operands_test.cpp  A GEMM on copies of its operands has the bits of the GEMM on the
//                           operands. The copies are in host memory, with lines padded as on a GPU.
#include "tools/operand/device_operands.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tilewright/arch/emu/options.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_scale_convention.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tools/operand/random_elements.hpp"

namespace tw {
namespace {

/// device_matrix in host memory; what lies between the lines is 0xFF.
class padded_matrix {
 public:
  explicit padded_matrix(matrix_view const& host)
      : host_(host),
        desc_(host.desc(elements_in(host.type, host.padded_line()).count)),
        memory_(static_cast<std::size_t>(host.padded_size().count) + 16, std::byte{0xFF}) {}
  void upload() {
    each_line([&](std::byte* padded, std::int64_t at, std::size_t bytes) {
      std::memcpy(padded, host_.data + at, bytes);
    });
  }
  void download(std::byte* to) const {
    const_cast<padded_matrix*>(this)->each_line(
        [&](std::byte const* padded, std::int64_t at, std::size_t bytes) {
          std::memcpy(to + at, padded, bytes);
        });
  }
  void* data() { return first(); }
  matrix_desc desc() const { return desc_; }

 private:
  std::byte* first() {
    auto const address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (16 - address % 16) % 16;
  }
  template <class Copy>
  void each_line(Copy const& copy) {
    for (std::int64_t i = 0; i < host_.lines(); ++i)
      copy(first() + i * host_.padded_line().count, i * host_.line().count,
           static_cast<std::size_t>(host_.line().count));
  }

  matrix_view host_;
  matrix_desc desc_;
  std::vector<std::byte> memory_;
};

/// Operands of a problem on the host: small integers, and scales that are powers of two. All sums
/// are exact, whatever kernel adds them.
class host_operands {
 public:
  explicit host_operands(gemm_problem const& p) : problem_(p) {
    std::mt19937_64 random(7);
    for (operand_desc const& x : operands_of(p)) {
      auto& memory = memory_[static_cast<std::size_t>(x.is)];
      memory.assign(static_cast<std::size_t>(x.bytes()), std::byte{0});
      if (x.is == role::scale_a || x.is == role::scale_b)
        fill_scales(x.type, memory, random);
      else if (!x.written)
        fill_small_integers(x.type, memory, random);
    }
  }
  gemm_operands operands() {
    gemm_operands o;
    for (operand_desc const& x : operands_of(problem_))
      set_address(o, x.is, memory_[static_cast<std::size_t>(x.is)].data());
    return o;
  }
  std::vector<std::byte> const& of(role r) const { return memory_[static_cast<std::size_t>(r)]; }

 private:
  static void fill_small_integers(elem type, std::vector<std::byte>& memory,
                                  std::mt19937_64& random) {
    if (size_bits(type) < 8) {
      for (std::byte& b : memory) b = static_cast<std::byte>(random());
      return;
    }
    auto const width = static_cast<std::size_t>(size_bytes(type));
    for (std::size_t i = 0; i < memory.size(); i += width) {
      std::uint32_t const bits = bits_of_normal(type, static_cast<float>(random() % 5) - 2);
      std::memcpy(&memory[i], &bits, width);
    }
  }
  static void fill_scales(elem type, std::vector<std::byte>& memory, std::mt19937_64& random) {
    std::uint32_t const one = type == elem::f32 ? 0x3F800000 : is_exponent(type) ? 127 : 0x38;
    std::uint32_t const step = type == elem::f32 ? 0x00800000 : is_exponent(type) ? 1 : 0x08;
    auto const width = static_cast<std::size_t>(size_bytes(type));
    for (std::size_t i = 0; i < memory.size(); i += width) {
      std::uint32_t const bits = one + step * static_cast<std::uint32_t>(random() % 3) - step;
      std::memcpy(&memory[i], &bits, width);
    }
  }
  gemm_problem problem_;
  std::array<std::vector<std::byte>, role_count> memory_;
};

void expect_equal_bits(gemm_problem const& p, char const* card) {
  emu_options options;
  options.sms = 2;
  device const on = emulated_device(options, card);
  host_operands direct(p), copied(p);
  gemm_operands const o = direct.operands();
  gemm_emulated(plan_gemm(p, o, on), o, options);
  copied_operands<padded_matrix> const copies(p, copied.operands());
  gemm_emulated(plan_gemm(copies.problem(), copies.operands(), on), copies.operands(), options);
  copies.download();
  for (role r : {role::d, role::aux, role::scale_d}) {
    EXPECT_EQ(copied.of(r), direct.of(r)) << row_of(r).word;
    bool const all_zero =
        std::ranges::all_of(copied.of(r), [](auto b) { return b == std::byte{}; });
    EXPECT_EQ(all_zero, copied.of(r).empty()) << row_of(r).word;
  }
}

matrix_desc rows(elem type, std::int64_t cols, std::int64_t of_matrix = 0) {
  return {type, order::row_major, cols, of_matrix};
}
matrix_desc columns(elem type, std::int64_t rows, std::int64_t of_matrix = 0) {
  return {type, order::col_major, rows, of_matrix};
}

TEST(CopiedOperands, OfABatchWithAFusedEpilogue) {
  constexpr std::int64_t m = 70, n = 90, k = 43;
  gemm_problem p{m,
                 n,
                 k,
                 rows(elem::bf16, k, m * k),
                 columns(elem::bf16, k),
                 rows(elem::bf16, n, m * n),
                 std::nullopt,
                 1.0F,
                 0.0F};
  p.batch = 2;
  p.c = columns(elem::bf16, m, m * n);
  p.beta = 0.5F;
  expect_equal_bits(p, "h200");
  p.epilogue.act = activation::gelu_tanh;
  p.epilogue.bias = along::cols;
  p.epilogue.bias.type = elem::bf16;
  p.epilogue.row_scale = along::rows, p.epilogue.col_scale = along::cols;
  expect_equal_bits(p, "h200");
}

TEST(CopiedOperands, OfBlockScalesWithScalesOfD) {
  constexpr std::int64_t m = 70, n = 96, k = 272;
  gemm_problem p{
      m,    n,   k, rows(elem::e4m3, k), columns(elem::e4m3, k), rows(elem::e4m3, n), std::nullopt,
      1.0F, 0.0F};
  p.scale_a = make_scale({false, m, k}, scaling::block_1x128);
  p.scale_b = make_scale({true, n, k}, scaling::block_128x128);
  p.scale_d = output_scales{make_scale({false, m, n}, scaling::row), false, false};
  expect_equal_bits(p, "h200");
}

TEST(CopiedOperands, OfNvfp4WithSecondLevels) {
  constexpr std::int64_t m = 70, n = 96, k = 160;
  gemm_problem p{
      m,    n,   k, rows(elem::e2m1, k), columns(elem::e2m1, k), rows(elem::f32, n), std::nullopt,
      1.0F, 0.0F};
  p.scale_a = make_block_scale({false, m, k}, block_format::nvfp4);
  p.scale_b = make_block_scale({true, n, k}, block_format::nvfp4);
  expect_equal_bits(p, "b200");
}

TEST(CopiedOperands, WithoutAnInnerDimension) {
  constexpr std::int64_t m = 17, n = 33;
  gemm_problem p{
      m,    n,   0, rows(elem::bf16, 0), columns(elem::bf16, 0), rows(elem::bf16, n), std::nullopt,
      1.0F, 0.0F};
  p.epilogue.bias = along::rows;
  p.epilogue.act = activation::relu;
  expect_equal_bits(p, "h200");
}

}  // namespace
}  // namespace tw
