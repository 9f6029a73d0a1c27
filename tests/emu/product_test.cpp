// SPDX-License-Identifier: Apache-2.0
// product_test.cpp  wgmma arithmetic against a reference that reads one element at a time through
//                   the canonical layouts, for every version of the GEMM, bit for bit.
#include "emu/product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tilewright/base/convert.hpp"

namespace tw::emu {
namespace {

constexpr std::uint32_t base = 0x400;

/// Byte address of element (mn, k) of one step's operand: the table "Canonical Layouts" of the PTX
/// ISA (T = 8 elements of 16 bits), then Swizzle<B, 4, 3> on the address.
std::int64_t element_address(smem_desc d, operand_major major, int mn, int k) {
  std::int64_t const start = static_cast<std::int64_t>(d.bits % (1 << 14)) * 16;
  std::int64_t const lbo = static_cast<std::int64_t>((d.bits >> 16) % (1 << 14)) * 16;
  std::int64_t const sbo = static_cast<std::int64_t>((d.bits >> 32) % (1 << 14)) * 16;
  int const mode = static_cast<int>(d.bits >> 62);
  int const b = mode == 0 ? 0 : 4 - mode;  // Swizzle<b, 4, 3>
  int const w = 1 << b;                    // chunks in a row of the atom
  std::int64_t at;
  if (major == operand_major::k && b == 0)
    at = mn % 8 * 16 + mn / 8 * sbo + k % 8 * 2 + k / 8 * lbo;
  else if (major == operand_major::k)
    at = mn % 8 * w * 16 + mn / 8 * sbo + k * 2;
  else if (b == 0)
    at = mn % 8 * 2 + mn / 8 * sbo + k % 8 * 16 + k / 8 * lbo;
  else
    at = mn % 8 * 2 + mn / 8 % w * 16 + mn / (8 * w) * lbo + k % 8 * w * 16 + k / 8 * sbo;
  at += start;
  return at ^ ((at >> 7) % (1 << b) << 4);
}

struct problem {
  wgmma_group_shape shape;
  std::vector<wgmma_step_data> steps;
  std::vector<std::uint32_t> a_regs;  // [step][128][4]
  std::vector<std::byte> smem;
  std::vector<float> d;
};

float element(problem const& p, smem_desc desc, operand_major major, int mn, int k) {
  std::uint16_t bits;
  std::memcpy(&bits, p.smem.data() + element_address(desc, major, mn, k) - base, 2);
  return p.shape.type == elem::bf16 ? to_float(bf16{bits}) : to_float(f16{bits});
}

float a_element(problem const& p, wgmma_step_data const& s, int row, int k) {
  if (!s.a_in_registers) return element(p, s.a, p.shape.a_major, row, k);
  // PTX ISA, figure "WGMMA .m64nNk16 register fragment layout for matrix A": element a_i is in row
  // groupID + 8 where i is 2, 3, 6 or 7, and in column 8 and up where i is 4 or more.
  int const thread = 32 * (row / 16) + 4 * (row % 8) + k % 8 / 2;
  int const i = k % 2 + 2 * (row % 16 / 8) + 4 * (k / 8);
  auto const bits = static_cast<std::uint16_t>(s.a_regs[4 * thread + i / 2] >> (16 * (i % 2)));
  return p.shape.type == elem::bf16 ? to_float(bf16{bits}) : to_float(f16{bits});
}

std::vector<float> reference(problem const& p) {
  std::vector<float> d = p.d;
  for (auto const& s : p.steps)
    for (int column = 0; column < p.shape.n; ++column) {
      float b[16];
      for (int k = 0; k < 16; ++k) b[k] = element(p, s.b, p.shape.b_major, column, k);
      for (int row = 0; row < 64; ++row) {
        float sum = s.accumulate ? d[row + 64 * column] : 0.0F;
        for (int k = 0; k < 16; ++k) sum = std::fma(a_element(p, s, row, k), b[k], sum);
        d[row + 64 * column] = std::isnan(sum) ? __builtin_bit_cast(float, 0x7FFFFFFFU) : sum;
      }
    }
  return d;
}

std::optional<std::string> run(problem const& p, std::vector<float>& d) {
  return run_wgmma_group(d.data(), p.shape, p.steps.data(), static_cast<int>(p.steps.size()),
                         p.smem.data(), base, static_cast<std::uint32_t>(p.smem.size()));
}

bool same_bits(std::vector<float> const& x, std::vector<float> const& y) {
  return std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

using random = std::mt19937;
int pick(random& r, int first, int last) { return std::uniform_int_distribution(first, last)(r); }

enum class values { normal, fractions, any_bits };

std::uint16_t random_element(random& r, elem type, values kind) {
  if (kind == values::any_bits) return static_cast<std::uint16_t>(r());
  float const x = kind == values::normal ? std::normal_distribution<float>()(r)
                                         : static_cast<float>(pick(r, -128, 127)) / 128.0F;
  return type == elem::bf16 ? to_bf16(x).bits : to_f16(x).bits;
}

void fill(problem& p, random& r, values kind, std::size_t smem_bytes) {
  p.smem.resize(smem_bytes);
  for (std::size_t i = 0; i + 1 < smem_bytes; i += 2) {
    std::uint16_t const bits = random_element(r, p.shape.type, kind);
    std::memcpy(&p.smem[i], &bits, 2);
  }
  p.a_regs.resize(p.steps.size() * 512);
  for (auto& word : p.a_regs)
    word = random_element(r, p.shape.type, kind) |
           static_cast<std::uint32_t>(random_element(r, p.shape.type, kind)) << 16;
  for (std::size_t i = 0; i < p.steps.size(); ++i) p.steps[i].a_regs = p.a_regs.data() + 512 * i;
  p.d.resize(static_cast<std::size_t>(64 * p.shape.n));
  for (float& x : p.d) x = std::normal_distribution<float>()(r);
}

/// As kernels have it: tiles of whole atoms, steps advancing through them, or else any descriptor.
smem_desc random_desc(random& r, operand_major major, int extent, int step, swizzle_mode mode,
                      bool tidy, std::uint32_t tile) {
  auto const span = static_cast<std::uint32_t>(swizzle_span_bytes(mode));
  auto const rows = static_cast<std::uint32_t>(extent);
  auto const s = static_cast<std::uint32_t>(step);
  if (!tidy)
    return make_smem_desc(16 * static_cast<std::uint32_t>(pick(r, 64, 4000)),
                          16 * static_cast<std::uint32_t>(pick(r, 0, 99)),
                          16 * static_cast<std::uint32_t>(pick(r, 0, 99)), mode);
  if (major == operand_major::k && mode == swizzle_mode::none)
    return make_smem_desc(tile + rows * 32 * s, rows * 16, 128, mode);
  if (major == operand_major::k)
    return make_smem_desc(tile + 32 * s % span + 32 * s / span * (rows * span), 16, 8 * span, mode);
  std::uint32_t const along_k = 8 * span, along_mn = 64 * span;  // 64 of K per tile
  if (mode == swizzle_mode::none)
    return make_smem_desc(tile + 2 * along_k * s, along_k, along_mn, mode);
  return make_smem_desc(tile + 2 * along_k * s, along_mn, along_k, mode);
}

problem random_problem(random& r, bool tidy, values kind) {
  problem p;
  p.shape = {pick(r, 0, 1) != 0 ? elem::bf16 : elem::f16, operand_major(pick(r, 0, 1)),
             operand_major(pick(r, 0, 1)), 8 * pick(r, 1, 32)};
  auto const a_mode = swizzle_mode(pick(r, 0, 3)), b_mode = swizzle_mode(pick(r, 0, 3));
  bool const a_in_registers = pick(r, 0, 3) == 0;
  int const count = tidy ? 4 : pick(r, 1, 9);
  for (int i = 0; i < count; ++i)
    p.steps.push_back({tidy ? a_in_registers : pick(r, 0, 3) == 0, nullptr,
                       random_desc(r, p.shape.a_major, 64, i, a_mode, tidy, 0x2000),
                       random_desc(r, p.shape.b_major, p.shape.n, i, b_mode, tidy, 0x8000),
                       tidy ? i > 0 || pick(r, 0, 1) != 0 : pick(r, 0, 4) != 0});
  fill(p, r, kind, 227 * 1024);
  return p;
}

constexpr product_isa versions[] = {product_isa::portable, product_isa::avx2, product_isa::avx512};
char const* const version_names[] = {"portable", "avx2", "avx512"};

/// Runs the problem in every version that this processor has and compares with `want`.
void compare_versions(problem const& p, std::vector<float> const& want) {
  for (std::size_t v = 0; v < std::size(versions); ++v) {
    if (!product_isa_available(versions[v])) continue;
    select_product_isa(versions[v]);
    std::vector<float> d = p.d;
    auto const error = run(p, d);
    select_product_isa(product_isa::automatic);
    ASSERT_FALSE(error) << *error;
    ASSERT_TRUE(same_bits(d, want))
        << version_names[v] << " " << name(p.shape.type) << " n " << p.shape.n << " majors "
        << int(p.shape.a_major) << int(p.shape.b_major) << " swizzles "
        << int(p.steps[0].a.swizzle()) << int(p.steps[0].b.swizzle()) << " steps " << p.steps.size()
        << " A in registers " << p.steps[0].a_in_registers;
  }
}

void compare_random_problems(bool tidy, values kind, int cases) {
  random r(7);
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    problem const p = random_problem(r, tidy, kind);
    compare_versions(p, reference(p));
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(product, every_version_gives_the_bits_of_the_reference_on_tiles_of_kernels) {
  compare_random_problems(true, values::normal, 120);
}
TEST(product, every_version_gives_the_bits_of_the_reference_on_any_descriptors) {
  compare_random_problems(false, values::normal, 80);
}
TEST(product, every_version_gives_the_bits_of_the_reference_on_any_bits) {
  compare_random_problems(true, values::any_bits, 60);
}

TEST(product, fractions_of_eight_bits_are_exact) {
  random r(3);
  for (int i = 0; i < 20; ++i) {
    problem p = random_problem(r, true, values::fractions);
    p.steps[0].accumulate = false;
    std::vector<float> d = p.d;
    ASSERT_FALSE(run(p, d));
    for (int column = 0; column < p.shape.n; ++column)
      for (int row = 0; row < 64; row += 7) {
        double sum = 0;
        for (auto const& s : p.steps)
          for (int k = 15; k >= 0; --k)
            sum += static_cast<double>(a_element(p, s, row, k)) *
                   static_cast<double>(element(p, s.b, p.shape.b_major, column, k));
        ASSERT_EQ(static_cast<double>(d[static_cast<std::size_t>(row + 64 * column)]), sum);
      }
  }
}

TEST(product, refuses_exactly_what_leaves_shared_memory) {
  random r(5);
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    problem p = random_problem(r, false, values::normal);
    p.smem.resize(static_cast<std::size_t>(16 * pick(r, 1000, 6000)));
    bool inside = true;
    auto const look = [&](smem_desc desc, operand_major major, int extent) {
      for (int mn = 0; mn < extent; ++mn)
        for (int k = 0; k < 16; ++k) {
          auto const at = element_address(desc, major, mn, k) - base;
          inside = inside && at >= 0 && at + 2 <= static_cast<std::int64_t>(p.smem.size());
        }
    };
    for (auto const& s : p.steps) {
      if (!s.a_in_registers) look(s.a, p.shape.a_major, 64);
      look(s.b, p.shape.b_major, p.shape.n);
    }
    std::vector<float> d = p.d;
    ASSERT_EQ(run(p, d).has_value(), !inside) << "case " << i;
    if (!inside) {
      ++refused;
      ASSERT_TRUE(same_bits(d, p.d));
    }
  }
  EXPECT_GT(refused, 50);
  EXPECT_LT(refused, 350);
}

TEST(product, refuses_below_the_base) {
  random r(5);
  problem p = random_problem(r, true, values::normal);
  std::vector<float> d = p.d;
  p.steps[3].b = make_smem_desc(base - 16, 16, 1024, swizzle_mode::none);
  EXPECT_TRUE(run(p, d));
  EXPECT_TRUE(same_bits(d, p.d));
}

TEST(product, refuses_malformed_descriptors_and_shapes) {
  random r(1);
  problem const good = random_problem(r, true, values::normal);
  std::vector<float> d = good.d;
  EXPECT_FALSE(run(good, d));
  for (int bit : {14, 15, 30, 31, 46, 48, 49, 51, 52, 61}) {
    problem p = good;
    p.steps[2].b.bits |= 1ULL << bit;
    EXPECT_TRUE(run(p, d)) << bit;
  }
  for (int n : {0, 4, 12, 264}) {
    problem p = good;
    p.shape.n = n;
    EXPECT_TRUE(run(p, d)) << n;
  }
  problem p = good;
  p.shape.type = elem::f32;
  EXPECT_TRUE(run(p, d));
}

}  // namespace
}  // namespace tw::emu
