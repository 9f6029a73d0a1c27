// SPDX-License-Identifier: Apache-2.0
// product_test.cpp  wgmma arithmetic against a reference that reads one element at a time through
//                   the canonical layouts, for every version of the GEMM, bit for bit.
#include "emu/wgmma/product.hpp"

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
/// ISA (T elements of `bytes` in 16 bytes), then Swizzle<B, 4, 3> on the address.
std::int64_t element_address(smem_desc d, operand_major major, int bytes, int mn, int k) {
  int const t = 16 / bytes;
  std::int64_t const start = static_cast<std::int64_t>(d.bits % (1 << 14)) * 16;
  std::int64_t const lbo = static_cast<std::int64_t>((d.bits >> 16) % (1 << 14)) * 16;
  std::int64_t const sbo = static_cast<std::int64_t>((d.bits >> 32) % (1 << 14)) * 16;
  int const mode = static_cast<int>(d.bits >> 62);
  int const b = mode == 0 ? 0 : 4 - mode;  // Swizzle<b, 4, 3>
  int const w = 1 << b;                    // chunks in a row of the atom
  std::int64_t at;
  if (major == operand_major::k && b == 0)
    at = mn % 8 * 16 + mn / 8 * sbo + k % t * bytes + k / t * lbo;
  else if (major == operand_major::k)
    at = mn % 8 * w * 16 + mn / 8 * sbo + k * bytes;
  else if (b == 0)
    at = mn % 8 * 2 + mn / 8 * sbo + k % 8 * 16 + k / 8 * lbo;
  else
    at = mn % 8 * 2 + mn / 8 % w * 16 + mn / (8 * w) * lbo + k % 8 * w * 16 + k / 8 * sbo;
  at += start;
  return at ^ ((at >> 7) % (1 << b) << 4);
}

using words = std::vector<std::uint32_t>;  // D, column-major

struct problem {
  wgmma_form form;
  std::vector<wgmma_step_data> steps;
  std::vector<std::uint32_t> a_regs;  // [step][128][4]
  std::vector<std::byte> smem;
  words d;
};

int bytes_of(problem const& p) { return size_bytes(p.form.a_type); }

/// The number that these bits are for the tensor core.
double value_of(elem type, std::uint32_t bits) {
  switch (type) {
    case elem::bf16: return to_float(bf16{static_cast<std::uint16_t>(bits)});
    case elem::f16: return to_float(f16{static_cast<std::uint16_t>(bits)});
    case elem::e4m3: return to_float(e4m3{static_cast<std::uint8_t>(bits)});
    case elem::e5m2: return to_float(e5m2{static_cast<std::uint8_t>(bits)});
    case elem::s8: return static_cast<std::int8_t>(bits);
    case elem::u8: return static_cast<std::uint8_t>(bits);
    default: return __builtin_bit_cast(float, bits >> 13 << 13);
  }
}

double element(problem const& p, elem type, smem_desc desc, operand_major major, int mn, int k) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, p.smem.data() + element_address(desc, major, bytes_of(p), mn, k) - base,
              static_cast<std::size_t>(bytes_of(p)));
  return value_of(type, bits);
}
double b_element(problem const& p, wgmma_step_data const& s, int column, int k) {
  return element(p, p.form.b_type, s.b, p.form.b_major, column, k);
}
double a_element(problem const& p, wgmma_step_data const& s, int row, int k) {
  if (!s.a_in_registers) return element(p, p.form.a_type, s.a, p.form.a_major, row, k);
  // PTX ISA, "Register Fragments": with E elements in a register, element a_i of a thread is in row
  // groupID + 8 where bit 0 of i / E is set, and in the second half of K where bit 1 is.
  int const e = 4 / bytes_of(p), half = 4 * e;
  int const thread = 32 * (row / 16) + 4 * (row % 8) + k % half / e;
  int const i = k % e + e * (row % 16 / 8) + 2 * e * (k / half);
  return value_of(p.form.a_type, s.a_regs[4 * thread + i / e] >> (32 / e * (i % e)));
}

/// D's value at (row, column) before and after a step: float32, f16 in pairs of columns, int32.
double load(problem const& p, words const& d, int row, int column) {
  if (p.form.sums == elem::f16)
    return to_float(f16{static_cast<std::uint16_t>(
        d[static_cast<std::size_t>(row + 64 * (column / 2))] >> (16 * (column % 2)))});
  std::uint32_t const word = d[static_cast<std::size_t>(row + 64 * column)];
  if (p.form.sums == elem::s32) return static_cast<std::int32_t>(word);
  return __builtin_bit_cast(float, word);
}
void store(problem const& p, words& d, int row, int column, double value) {
  if (p.form.sums == elem::f16) {
    std::uint32_t& word = d[static_cast<std::size_t>(row + 64 * (column / 2))];
    int const shift = 16 * (column % 2);
    word = (word & ~(0xFFFFU << shift)) |
           static_cast<std::uint32_t>(to_f16(static_cast<float>(value)).bits) << shift;
    return;
  }
  std::uint32_t& word = d[static_cast<std::size_t>(row + 64 * column)];
  if (p.form.sums == elem::s32) {
    if (p.form.overflow == integer_overflow::saturate)
      value = std::fmin(std::fmax(value, -0x1p31), 0x1p31 - 1);
    word = static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
  } else {
    word = std::isnan(value) ? 0x7FFFFFFFU
                             : __builtin_bit_cast(std::uint32_t, static_cast<float>(value));
  }
}

words reference(problem const& p) {
  words d = p.d;
  int const depth = p.form.k();
  std::vector<double> a(64 * 32), b(256 * 32);
  for (auto const& s : p.steps) {
    for (int k = 0; k < depth; ++k) {
      for (int row = 0; row < 64; ++row) a[32 * row + k] = a_element(p, s, row, k);
      for (int column = 0; column < p.form.n; ++column)
        b[32 * column + k] = b_element(p, s, column, k);
    }
    for (int column = 0; column < p.form.n; ++column)
      for (int row = 0; row < 64; ++row) {
        double const start = s.accumulate ? load(p, d, row, column) : 0;
        double sum = start;
        auto chain = static_cast<float>(start);
        for (int k = 0; k < depth; ++k) {
          sum += a[32 * row + k] * b[32 * column + k];
          chain = std::fma(static_cast<float>(a[32 * row + k]),
                           static_cast<float>(b[32 * column + k]), chain);
        }
        store(p, d, row, column, p.form.sums == elem::s32 ? sum : chain);
      }
  }
  return d;
}

std::optional<std::string> run(problem const& p, words& d) {
  return run_wgmma_group(d.data(), p.form, p.steps.data(), static_cast<int>(p.steps.size()),
                         p.smem.data(), base, static_cast<std::uint32_t>(p.smem.size()));
}

using random = std::mt19937;
int pick(random& r, int first, int last) { return std::uniform_int_distribution(first, last)(r); }

enum class values { normal, fractions, any_bits };

/// 32 bits of elements.
std::uint32_t random_word(random& r, elem type, values kind) {
  if (kind == values::any_bits || is_integer(type)) return static_cast<std::uint32_t>(r());
  std::uint32_t word = 0;
  for (int bit = 0; bit < 32; bit += size_bits(type)) {
    float const x = kind == values::normal ? std::normal_distribution<float>()(r)
                                           : static_cast<float>(pick(r, -8, 7)) / 8.0F;
    std::uint32_t const bits = type == elem::bf16   ? to_bf16(x).bits
                               : type == elem::f16  ? to_f16(x).bits
                               : type == elem::e4m3 ? to_e4m3(x, saturation::finite).bits
                               : type == elem::e5m2 ? to_e5m2(x, saturation::finite).bits
                                                    : __builtin_bit_cast(std::uint32_t, x);
    word |= bits << bit;
  }
  return word;
}

void fill(problem& p, random& r, values kind, std::size_t smem_bytes) {
  p.smem.resize(smem_bytes);
  for (std::size_t i = 0; i + 3 < smem_bytes; i += 4) {
    // Operands of two types in one memory: every other word is random in B's type.
    std::uint32_t const word = random_word(r, i % 8 == 0 ? p.form.a_type : p.form.b_type, kind);
    std::memcpy(&p.smem[i], &word, 4);
  }
  p.a_regs.resize(p.steps.size() * 512);
  for (auto& word : p.a_regs) word = random_word(r, p.form.a_type, kind);
  for (std::size_t i = 0; i < p.steps.size(); ++i) p.steps[i].a_regs = p.a_regs.data() + 512 * i;
  bool const halves = p.form.sums == elem::f16;
  p.d.resize(static_cast<std::size_t>(halves ? 32 * p.form.n : 64 * p.form.n));
  for (auto& x : p.d) x = random_word(r, p.form.sums, values::normal);
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

/// The kinds of wgmma, operands of 16 bits more often than others.
wgmma_form random_form(random& r, int kind) {
  constexpr elem fp8[] = {elem::e4m3, elem::e5m2}, int8[] = {elem::s8, elem::u8};
  wgmma_form f{elem::bf16,       elem::bf16,       elem::f32,         integer_overflow::wrap,
               operand_major::k, operand_major::k, 8 * pick(r, 1, 32)};
  int const x = pick(r, 0, 1), y = pick(r, 0, 1);
  switch (kind) {
    case 0: break;
    case 1: f.a_type = f.b_type = elem::f16; break;
    case 2:
      f.a_type = f.b_type = elem::f16;
      f.sums = elem::f16;
      break;
    case 3: f.a_type = f.b_type = elem::tf32; break;
    case 4:
      f.a_type = fp8[x];
      f.b_type = fp8[y];
      if (pick(r, 0, 2) == 0) f.sums = elem::f16;
      break;
    default:
      f.a_type = int8[x];
      f.b_type = int8[y];
      f.sums = elem::s32;
      f.overflow = integer_overflow(pick(r, 0, 1));
      while (!has_wgmma_n(elem::s32, f.n)) f.n = 8 * pick(r, 1, 32);
  }
  if (size_bits(f.a_type) == 16) {
    f.a_major = operand_major(x);
    f.b_major = operand_major(y);
  }
  return f;
}

problem random_problem(random& r, bool tidy, values kind, int form = 0) {
  problem p;
  p.form = random_form(r, form);
  auto const a_mode = swizzle_mode(pick(r, 0, 3)), b_mode = swizzle_mode(pick(r, 0, 3));
  bool const a_in_registers = pick(r, 0, 3) == 0;
  int const count = tidy ? 4 : pick(r, 1, 9);
  for (int i = 0; i < count; ++i)
    p.steps.push_back({tidy ? a_in_registers : pick(r, 0, 3) == 0, nullptr,
                       random_desc(r, p.form.a_major, 64, i, a_mode, tidy, 0x2000),
                       random_desc(r, p.form.b_major, p.form.n, i, b_mode, tidy, 0x8000),
                       tidy ? i > 0 || pick(r, 0, 1) != 0 : pick(r, 0, 4) != 0});
  fill(p, r, kind, 227 * 1024);
  return p;
}

constexpr product_isa versions[] = {product_isa::portable, product_isa::avx2, product_isa::avx512};
char const* const version_names[] = {"portable", "avx2", "avx512"};

/// Runs the problem in every version that this processor has and compares with `want`.
void compare_versions(problem const& p, words const& want) {
  for (std::size_t v = 0; v < std::size(versions); ++v) {
    if (!product_isa_available(versions[v])) continue;
    select_product_isa(versions[v]);
    words d = p.d;
    auto const error = run(p, d);
    select_product_isa(product_isa::automatic);
    ASSERT_FALSE(error) << *error;
    ASSERT_TRUE(d == want) << version_names[v] << " " << name(p.form.a_type) << " "
                           << name(p.form.b_type) << " sums " << name(p.form.sums) << " n "
                           << p.form.n << " majors " << int(p.form.a_major) << int(p.form.b_major)
                           << " swizzles " << int(p.steps[0].a.swizzle())
                           << int(p.steps[0].b.swizzle()) << " steps " << p.steps.size()
                           << " A in registers " << p.steps[0].a_in_registers;
  }
}

void compare_random_problems(bool tidy, values kind, int cases) {
  random r(7);
  for (int i = 0; i < cases; ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    problem const p = random_problem(r, tidy, kind, i % 6);
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

TEST(product, small_fractions_and_integers_are_exact) {
  random r(3);
  for (int i = 0; i < 20; ++i) {
    problem p = random_problem(r, true, values::fractions, i % 6);
    if (p.form.sums == elem::f16) continue;
    p.steps[0].accumulate = false;
    words d = p.d;
    ASSERT_FALSE(run(p, d));
    for (int column = 0; column < p.form.n; ++column)
      for (int row = 0; row < 64; row += 7) {
        double sum = 0;
        for (auto const& s : p.steps)
          for (int k = p.form.k() - 1; k >= 0; --k)
            sum += a_element(p, s, row, k) * b_element(p, s, column, k);
        ASSERT_EQ(load(p, d, row, column), sum);
      }
  }
}

TEST(product, refuses_exactly_what_leaves_shared_memory) {
  random r(5);
  int refused = 0;
  for (int i = 0; i < 400; ++i) {
    problem p = random_problem(r, false, values::normal, i % 6);
    p.smem.resize(static_cast<std::size_t>(16 * pick(r, 1000, 6000)));
    bool inside = true;
    auto const look = [&](smem_desc desc, operand_major major, int extent) {
      for (int mn = 0; mn < extent; ++mn)
        for (int k = 0; k < p.form.k(); ++k) {
          auto const at = element_address(desc, major, bytes_of(p), mn, k) - base;
          inside =
              inside && at >= 0 && at + bytes_of(p) <= static_cast<std::int64_t>(p.smem.size());
        }
    };
    for (auto const& s : p.steps) {
      if (!s.a_in_registers) look(s.a, p.form.a_major, 64);
      look(s.b, p.form.b_major, p.form.n);
    }
    words d = p.d;
    ASSERT_EQ(run(p, d).has_value(), !inside) << "case " << i;
    if (!inside) {
      ++refused;
      ASSERT_TRUE(d == p.d);
    }
  }
  EXPECT_GT(refused, 50);
  EXPECT_LT(refused, 350);
}

TEST(product, refuses_below_the_base) {
  random r(5);
  problem p = random_problem(r, true, values::normal);
  words d = p.d;
  p.steps[3].b = make_smem_desc(base - 16, 16, 1024, swizzle_mode::none);
  EXPECT_TRUE(run(p, d));
  EXPECT_TRUE(d == p.d);
}

TEST(product, refuses_malformed_descriptors_and_shapes) {
  random r(1);
  problem const good = random_problem(r, true, values::normal);
  words d = good.d;
  EXPECT_FALSE(run(good, d));
  for (int bit : {14, 15, 30, 31, 46, 48, 49, 51, 52, 61}) {
    problem p = good;
    p.steps[2].b.bits |= 1ULL << bit;
    EXPECT_TRUE(run(p, d)) << bit;
  }
  for (int n : {0, 4, 12, 264}) {
    problem p = good;
    p.form.n = n;
    EXPECT_TRUE(run(p, d)) << n;
  }
  problem p = good;
  p.form.a_type = p.form.b_type = elem::f32;
  EXPECT_TRUE(run(p, d));
  p.form.a_type = elem::bf16;  // of different types
  p.form.b_type = elem::f16;
  EXPECT_TRUE(run(p, d));
  p.form.a_type = p.form.b_type = elem::e4m3;
  p.form.a_major = p.form.b_major = operand_major::k;
  EXPECT_FALSE(run(p, d));
  p.form.b_major = operand_major::mn;
  EXPECT_TRUE(run(p, d));
  p.form = {elem::s8, elem::u8, elem::s32, {}, operand_major::k, operand_major::k, 40};
  EXPECT_TRUE(run(p, d));  // integers: no multiple of 16
}

}  // namespace
}  // namespace tw::emu
