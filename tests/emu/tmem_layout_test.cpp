// SPDX-License-Identifier: Apache-2.0
// tmem_layout_test.cpp  The emulator, which has no layouts, reads A and scale factors and writes D
//                       and copies where the layouts of tensor memory say.
#include "tilewright/atom/tmem_layout.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "emu/umma/umma.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::emu {
namespace {

constexpr std::uint32_t smem_at = 1024;

/// The bits of the element at a place.
std::uint32_t bits_at(tensor_memory& t, i64 place, int bits) {
  i64 const address = place / (32 / bits);
  std::uint32_t const word =
      t.at(static_cast<int>(address / tmem_lane), static_cast<int>(address % tmem_lane));
  return bits == 32 ? word : word >> place % (32 / bits) * bits & ((1U << bits) - 1);
}
void set_bits(tensor_memory& t, i64 place, int bits, std::uint32_t value) {
  i64 const address = place / (32 / bits);
  std::uint32_t& word =
      t.at(static_cast<int>(address / tmem_lane), static_cast<int>(address % tmem_lane));
  auto const shift = static_cast<int>(place % (32 / bits)) * bits;
  std::uint32_t const mask = (bits == 32 ? ~0U : (1U << bits) - 1) << shift;
  word = (word & ~mask) | (value << shift & mask);
}
std::unique_ptr<tensor_memory> random_memory(std::mt19937& random) {
  auto t = std::make_unique<tensor_memory>();
  for (auto& half : t->word)
    for (auto& column : half)
      for (std::uint32_t& word : column) word = static_cast<std::uint32_t>(random());
  return t;
}

std::uint32_t bits_of(elem type, float x) {
  if (type == elem::bf16) return to_bf16(x).bits;
  if (type == elem::e4m3) return to_e4m3(x, saturation::finite).bits;
  return __builtin_bit_cast(std::uint32_t, x);
}

/// D(m, n) = A(m, n % K): B has a one in row n at k = n % K. A comes from tensor memory.
void check_multiply(umma_kind kind, elem type, int ctas, int m, int n) {
  std::mt19937 random(static_cast<unsigned>(m + n));
  umma_shape s;
  s.a = s.b = type;
  s.m = m, s.n = n, s.k = umma_k(kind), s.ctas = ctas;
  int const bytes = size_bits(type) / 8, rows = s.rows();
  std::vector<std::byte> smem[2];
  for (int h = 0; h < 2; ++h) {
    smem[h].resize(8192);
    for (int j = 0; j < s.columns_of_b(); ++j) {
      int const k = (h * s.columns_of_b() + j) % s.k, byte = k * bytes;
      std::uint32_t const one = bits_of(type, 1.0F);
      std::memcpy(&smem[h][static_cast<std::size_t>(j / 8 * 256 + j % 8 * 16 + byte / 16 * 128 +
                                                    byte % 16)],
                  &one, static_cast<std::size_t>(bytes));
    }
  }
  auto t = random_memory(random);
  constexpr int a_column = 300, d_column = 8;
  layout const a = tmem_operand_a(ctas, rows, size_bits(type));
  layout const d = mode(tmem_accumulator(ctas, rows, n, tree(make_shape(1))), 0);
  std::vector<float> values(static_cast<std::size_t>(size(a)));  // other ones in each copy of A
  for (i64 i = 0; i < size(a); ++i) {
    float const x = values[static_cast<std::size_t>(i)] = static_cast<float>(random() % 16);
    set_bits(*t, a(i) + i64{a_column} * (32 / size_bits(type)), size_bits(type), bits_of(type, x));
  }
  umma_call const call{.kind = kind,
                       .ctas = ctas,
                       .d = d_column,
                       .a_in_tmem = true,
                       .a = a_column,
                       .b = make_umma_desc(smem_at, 128, 256, swizzle_mode::none).bits,
                       .idesc = 0,
                       .accumulate = false};
  umma_call const* const calls[] = {&call};
  run_umma(*t, s, calls, 1, {smem[0].data(), {smem[0].data(), smem[1].data()}, smem_at, 8192},
           sum_mode::fast);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < rows; ++i)
      ASSERT_EQ(tmem_float(bits_at(*t, d(i64{i} + i64{rows} * j) + d_column, 32)),
                values[static_cast<std::size_t>(i + rows * (j % s.k) +
                                                (s.in_upper_lanes(j) ? rows * s.k : 0))])
          << name(type) << ", " << ctas << " CTAs, M " << m << ", row " << i << ", column " << j;
}

TEST(TmemLayout, AMultiplyReadsAAndWritesDWhereTheyAre) {
  for (auto const& [kind, type] : {std::pair{umma_kind::f16, elem::bf16},
                                   {umma_kind::tf32, elem::tf32},
                                   {umma_kind::f8f6f4, elem::e4m3}})
    for (auto const& [ctas, m] : {std::pair{1, 64}, {1, 128}, {2, 128}, {2, 256}})
      for (int const n : {64, 256}) check_multiply(kind, type, ctas, m, n);
}

/// All elements are one: D(m, n) = block * sum of sfa(m, f) sfb(n, f). Each group of lanes has
/// other factors of B.
void check_scales(umma_kind kind, int block, elem scale, int ctas, int m, int n, int id) {
  std::mt19937 random(static_cast<unsigned>(n + id));
  umma_shape s;
  s.a = s.b = is_block_scaled(kind) && kind != umma_kind::mxf8f6f4 ? elem::e2m1 : elem::e4m3;
  s.dense = s.a == elem::e2m1;
  s.m = m, s.n = n, s.k = umma_k(kind), s.ctas = ctas;
  s.scale = scale, s.block = block, s.sfa_id = s.sfb_id = id;
  std::vector<std::byte> const smem(16384, std::byte{s.dense ? std::uint8_t{0x22}  // 1, 1
                                                             : std::uint8_t{0x38}});
  auto t = random_memory(random);
  constexpr int sfa_column = 300, sfb_column = 400;
  int const rows = m / ctas;
  layout const a = tmem_scale_factors(128), b = tmem_scale_factors(n, s.halves());
  auto const padded = size(mode(b, 0));
  int const one = scale == elem::ue8m0 ? 127 : 0x38, twice = scale == elem::ue8m0 ? 1 : 8;
  std::vector<int> of_a(std::size_t{512}), of_b(static_cast<std::size_t>(4 * padded));
  for (int& x : of_a) x = static_cast<int>(random() % 4);
  for (int& x : of_b) x = static_cast<int>(random() % 4);
  auto const put = [&](layout const& l, i64 i, int column, int exponent) {
    set_bits(*t, l(i) + i64{4} * column, 8, static_cast<std::uint32_t>(one + twice * exponent));
  };
  for (i64 i = 0; i < size(a); ++i) put(a, i, sfa_column, of_a[static_cast<std::size_t>(i % 512)]);
  for (i64 i = 0; i < size(b); ++i)
    put(b, i, sfb_column,
        of_b[static_cast<std::size_t>(i % (4 * padded))] + static_cast<int>(i / (4 * padded)));
  umma_call const call{.kind = kind,
                       .ctas = ctas,
                       .d = 0,
                       .a_in_tmem = false,
                       .a = make_umma_desc(smem_at, 128, 256, swizzle_mode::none).bits,
                       .b = make_umma_desc(smem_at, 128, 256, swizzle_mode::none).bits,
                       .idesc = 0,
                       .accumulate = false,
                       .block = block,
                       .sfa = sfa_column,
                       .sfb = sfb_column};
  run_umma_scaled(*t, s, call, {smem.data(), {smem.data(), smem.data()}, smem_at, 16384});
  layout const d = mode(tmem_accumulator(ctas, rows, n, tree(make_shape(1))), 0);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < rows; ++i) {
      int expected = 0;
      for (int f = id; f < id + s.factors(); ++f)
        expected += block << (of_a[static_cast<std::size_t>(i + 128 * f)] +
                              of_b[static_cast<std::size_t>(j + padded * f)] + i / 32);
      ASSERT_EQ(tmem_float(bits_at(*t, d(i64{i} + i64{rows} * j), 32)),
                static_cast<float>(expected))
          << "N " << n << ", id " << id << ", block " << block << ": row " << i << ", column " << j;
    }
}

TEST(TmemLayout, AMultiplyReadsScaleFactorsWhereTheyAre) {
  for (auto const& [ctas, m] : {std::pair{1, 128}, {2, 128}, {2, 256}})
    for (int const n : {48, 64, 192, 256}) {
      if (ctas == 2 && m == 128 && n % 64 != 0) continue;
      for (int id = 0; id < 4; ++id)
        check_scales(umma_kind::mxf8f6f4, 32, elem::ue8m0, ctas, m, n, id);
      for (int id = 0; id < 4; id += 2)
        check_scales(umma_kind::mxf4, 32, elem::ue8m0, ctas, m, n, id);
      check_scales(umma_kind::mxf4nvf4, 16, elem::ue4m3, ctas, m, n, 0);
    }
}

TEST(TmemLayout, ACopyWritesItsRowsWhereTheyAre) {
  std::mt19937 random(5);
  std::vector<std::byte> smem(8192);
  for (std::byte& b : smem) b = static_cast<std::byte>(random());
  for (int k = 0; k < 6; ++k) {
    auto const shape = static_cast<tmem_copy_shape>(k);
    auto t = random_memory(random);
    run_copy(*t,
             {shape, tmem_unpack::none, 1, 16,
              make_umma_desc(smem_at, 2048, 128, swizzle_mode::none).bits},
             smem.data(), smem_at);
    layout const l = tmem_copy_places(shape);
    int const rows = tmem_copy_rows(shape), bytes = 16 * tmem_copy_chunks(shape);
    for (i64 i = 0; i < size(l); ++i) {
      auto const row = static_cast<std::size_t>(i % rows);
      auto const byte = static_cast<std::size_t>(i / rows % bytes);
      ASSERT_EQ(bits_at(*t, l(i) + i64{4} * 16, 8),
                static_cast<std::uint32_t>(smem[16 * row + byte / 16 * 2048 + byte % 16]))
          << "shape " << k << ", row " << row << ", byte " << byte;
    }
  }
}

}  // namespace
}  // namespace tw::emu
