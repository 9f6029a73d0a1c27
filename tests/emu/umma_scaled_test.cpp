// SPDX-License-Identifier: Apache-2.0
// umma_scaled_test.cpp  Block-scaled multiplies of each instruction set have the bits of sums that
//                       are written as a loop over elements, also with zeros, NaN and infinities.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "emu/umma/umma_element.hpp"
#include "emu/wgmma/product.hpp"
#include "tilewright/atom/umma_idesc.hpp"

namespace tw::emu {
namespace {

constexpr std::uint32_t base = 0x400;
constexpr int b_rows = 64, rows_in_memory = 128, chunk = 16;

struct form {
  elem a, b;
  bool dense;
  int block;
  elem scale;
  int m, ctas;
  bool negate;
};

double factor(elem type, std::uint32_t word, int i) {
  auto const bits = static_cast<std::uint8_t>(word >> 8 * i);
  if (type == elem::ue8m0) return static_cast<double>(to_float(ue8m0{bits}));
  return static_cast<double>(to_float(ue4m3{static_cast<std::uint8_t>(bits & 0x7F)}));
}

/// D as a loop over its elements.
void reference(tensor_memory& t, umma_shape const& s, umma_call const& call,
               umma_memory const& smem) {
  for (int r = 0; r < s.rows(); ++r)
    for (int n = 0; n < s.n; ++n) {
      bool const upper = s.in_upper_lanes(n);
      int const lane = r + (upper ? s.rows() : 0);
      std::uint32_t& word = t.at(lane, upper ? n - s.n / 2 : n);
      double sum = call.accumulate ? static_cast<double>(__builtin_bit_cast(float, word)) : 0.0;
      for (int f = 0; f < s.factors(); ++f) {
        double part = 0;
        for (int k = f * s.block; k < (f + 1) * s.block; ++k) {
          auto const x = static_cast<double>(
              umma_value(s.a, umma_element(call.a, s.a_major, s.a, s.dense, r, k, smem.own, base)));
          auto const y = static_cast<double>(umma_value(s.b, element_of_b(s, call, smem, n, k)));
          part += (s.negate_a ? -x : x) * (s.negate_b ? -y : y);
        }
        double const fa =
            factor(s.scale, factors_at(t, call.sfa, lane % s.rows(), lane / lanes_of_group), f);
        double const fb =
            factor(s.scale, factors_at(t, call.sfb, s.row_of_sfb(n), lane / lanes_of_group), f);
        sum += part * (fa * fb);
      }
      auto const x = static_cast<float>(sum);
      word = std::isnan(x) ? 0x7FFFFFFFU : __builtin_bit_cast(std::uint32_t, x);
    }
}

enum class content { normal, any_bits, mostly_zero, zero_or_any_bits };

void fill(std::vector<std::byte>& smem, tensor_memory& t, content c, std::mt19937& random) {
  bool const rows_of_zero = c == content::mostly_zero || c == content::zero_or_any_bits;
  bool const any = c == content::any_bits || c == content::zero_or_any_bits;
  for (std::size_t i = 0; i < smem.size(); ++i) {
    // Rows of 16 bytes follow each other: three of four groups of 32 rows are zeros.
    bool const zero = rows_of_zero && i / chunk / 32 % 4 != 1;
    auto byte = static_cast<std::uint8_t>(random());
    if (!any && (byte & 0x7C) == 0x7C) byte &= 0xBF;  // e4m3, e5m2: finite
    smem[i] = zero ? std::byte{0} : static_cast<std::byte>(byte);
  }
  for (int lane = 0; lane < tmem_lanes; ++lane)
    for (int column = 0; column < 2 * b_rows; ++column) {
      auto word = static_cast<std::uint32_t>(random());
      if (!any) {
        auto const small = static_cast<float>(static_cast<int>(word % 2001) - 1000) / 8;
        word = column < b_rows ? __builtin_bit_cast(std::uint32_t, small)
                               : (word & 0x0F0F0F0FU) + 0x38383838U;   // finite factors
        if (column < b_rows && random() % 8 == 0) word = 0x80000000U;  // -0
      }
      t.at(lane, column) = word;
    }
}

class Scaled : public testing::TestWithParam<form> {};

TEST_P(Scaled, EachVersionHasTheBitsOfTheLoop) {
  form const q = GetParam();
  std::mt19937 random(11);
  umma_shape s;
  s.a = q.a, s.b = q.b, s.dense = q.dense, s.block = q.block, s.scale = q.scale;
  s.m = q.m, s.ctas = q.ctas, s.n = b_rows, s.k = q.dense ? 64 : 32;
  s.negate_a = q.negate;
  auto const desc = [](int at) {
    return make_umma_desc(base + static_cast<std::uint32_t>(at), chunk * rows_in_memory, 128,
                          swizzle_mode::none)
        .bits;
  };
  umma_call call{};
  constexpr int operand_bytes = 2 * chunk * rows_in_memory;
  call.ctas = q.ctas, call.block = q.block;
  call.a = desc(0), call.b = desc(operand_bytes);
  call.d = 0, call.sfa = b_rows, call.sfb = b_rows + 8;
  for (content const c :
       {content::normal, content::any_bits, content::mostly_zero, content::zero_or_any_bits})
    for (bool const accumulate : {true, false}) {
      auto const before = std::make_unique<tensor_memory>();
      std::vector<std::byte> own(2 * operand_bytes), peer(2 * operand_bytes);
      fill(peer, *before, c, random), fill(own, *before, c, random);
      call.accumulate = accumulate;
      umma_memory const memory{
          own.data(), {own.data(), peer.data()}, base, static_cast<std::uint32_t>(own.size())};
      auto const want = std::make_unique<tensor_memory>();
      std::memcpy(want->word, before->word, sizeof want->word);
      reference(*want, s, call, memory);
      for (product_isa const isa :
           {product_isa::portable, product_isa::avx2, product_isa::avx512}) {
        if (isa != product_isa::portable && !product_isa_available(isa)) continue;
        auto const got = std::make_unique<tensor_memory>();
        std::memcpy(got->word, before->word, sizeof got->word);
        select_product_isa(isa);
        run_umma_scaled(*got, s, call, memory);
        select_product_isa(product_isa::automatic);
        EXPECT_EQ(std::memcmp(got->word, want->word, sizeof got->word), 0)
            << static_cast<int>(c) << accumulate << static_cast<int>(isa);
      }
    }
}

constexpr form forms[] = {
    {elem::e4m3, elem::e4m3, false, 32, elem::ue8m0, 128, 1, false},
    {elem::e5m2, elem::e4m3, false, 32, elem::ue8m0, 256, 2, true},
    {elem::e5m2, elem::e5m2, false, 32, elem::ue8m0, 128, 2, false},
    {elem::e2m3, elem::e3m2, false, 32, elem::ue8m0, 128, 1, false},
    {elem::e2m1, elem::e2m1, false, 32, elem::ue8m0, 128, 1, true},
    {elem::e2m1, elem::e2m1, true, 32, elem::ue8m0, 256, 2, false},
    {elem::e2m1, elem::e2m1, true, 16, elem::ue4m3, 128, 1, false},
    {elem::e2m1, elem::e2m1, true, 16, elem::ue8m0, 128, 2, true},
};
INSTANTIATE_TEST_SUITE_P(Forms, Scaled, testing::ValuesIn(forms));

}  // namespace
}  // namespace tw::emu
