// SPDX-License-Identifier: Apache-2.0
// umma_exact_test.cpp  The exact sums of tcgen05.mma against the published model, written a second
//                      time (sum_model.hpp).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "emu/umma/umma.hpp"
#include "tests/emu/sum_model.hpp"
#include "tilewright/atom/umma_idesc.hpp"

namespace tw::emu {
namespace {

using namespace tw::test;

constexpr std::uint32_t base = 0x400;
constexpr int m = 128, n = 64, chunks = 2;  // of 16 bytes in a row: one instruction

struct kind_of_sum {
  umma_kind kind;
  elem a, b, d = elem::f32;
  elem scale = elem::ue8m0;
  int block = 0;
  bool negate_a = false;

  bool dense() const { return kind >= umma_kind::mxf4; }
  int k() const { return umma_k(kind); }
  int factors() const { return k() / block; }
};

enum class values { small, spread, any_bits };

/// A tensor core with random operands, C and factors.
class case_of_sum {
 public:
  case_of_sum(kind_of_sum const& q, values v, std::mt19937& random)
      : q_(q),
        v_(v),
        random_(random),
        memory_(std::make_unique<tensor_memory>()),
        smem_(static_cast<std::size_t>((m + n) * 16 * chunks)) {
    a_ = operand(q.a, m, 0);
    b_ = operand(q.b, n, m * 16 * chunks);
    for (int r = 0; r < m; ++r)
      for (int j = 0; j < n; ++j) memory_->at(r, j) = code_of_c();
    for (int r = 0; r < tmem_lanes; ++r)  // the four groups of lanes have the same factors
      for (int j = 0; j < 8; ++j)
        memory_->at(r, n + j) = r < 32 ? four_factors() : memory_->at(r % 32, n + j);
  }

  /// D of the emulator, and how many of its words differ from the model's.
  int run(sum_mode mode) {
    umma_call const call = make_call();
    umma_shape shape;
    EXPECT_EQ(decode_umma(call, shape), std::nullopt);
    std::vector<std::uint32_t> expected;
    for (int r = 0; r < m; ++r)
      for (int j = 0; j < n; ++j) expected.push_back(expect(r, j));
    std::byte const* const smem = smem_.data();
    umma_call const* const calls[] = {&call};
    run_umma(*memory_, shape, calls, 1,
             {smem, {smem, smem}, base, static_cast<std::uint32_t>(smem_.size())}, mode);
    int wrong = 0;
    for (int r = 0; r < m; ++r)
      for (int j = 0; j < n; ++j) {
        std::uint32_t const want = expected[static_cast<std::size_t>(r * n + j)];
        std::uint32_t const got = memory_->at(r, j);
        if ((want << 1) == 0 && (got << 1) == 0) continue;  // the sign of zero is not modelled
        if (got != want && ++wrong <= 3 && mode == sum_mode::exact)
          ADD_FAILURE() << std::hex << "(" << r << ", " << j << "): " << got << ", not " << want;
      }
    return wrong;
  }

 private:
  std::uint32_t code(elem type) {
    int const bits = size_bits(type);
    auto const any = static_cast<std::uint32_t>(random_());
    if (v_ == values::any_bits || bits < 8) return bits == 32 ? any : any & ((1U << bits) - 1);
    std::normal_distribution<float> normal;
    float x = normal(random_);
    if (v_ == values::spread) x = std::ldexp(x, static_cast<int>(random_() % 25) - 12);
    switch (type) {
      case elem::f16: return to_f16(x).bits;
      case elem::bf16: return to_bf16(x).bits;
      case elem::e4m3: return to_e4m3(x, saturation::finite).bits;
      case elem::e5m2: return to_e5m2(x, saturation::finite).bits;
      default: return __builtin_bit_cast(std::uint32_t, x);
    }
  }
  std::uint32_t code_of_c() {
    if (v_ == values::any_bits) return static_cast<std::uint32_t>(random_());
    return code(q_.d == elem::f16 ? elem::f16 : elem::f32);
  }
  std::uint32_t four_factors() {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i) {
      std::uint32_t f = static_cast<std::uint32_t>(random_()) & 0xFFU;
      if (v_ != values::any_bits)
        f = q_.scale == elem::ue8m0 ? 117 + f % 20
            : v_ == values::spread  ? f % 0x7F
                                    : 0x30 + f % 16;
      word |= f << 8 * i;
    }
    return word;
  }

  /// Random codes, [row][k], and their place in shared memory without a swizzle.
  std::vector<std::uint32_t> operand(elem type, int rows, int at) {
    std::vector<std::uint32_t> codes;
    int const bits = size_bits(type), k = q_.k(), per_chunk = k / chunks;
    for (int r = 0; r < rows; ++r)
      for (int i = 0; i < k; ++i) {
        codes.push_back(code(type));
        std::byte* const chunk =
            &smem_[static_cast<std::size_t>(at + i / per_chunk * rows * 16 + r * 16)];
        for (int b = 0; b < bits; ++b) {
          int const bit = i % per_chunk * bits + b;
          chunk[bit / 8] |= static_cast<std::byte>((codes.back() >> b & 1U) << bit % 8);
        }
      }
    return codes;
  }

  umma_call make_call() const {
    auto const format = [&](elem e) {
      switch (e) {
        case elem::bf16: return 1;
        case elem::tf32: return 2;
        case elem::e5m2: return 1;
        case elem::e2m3: return 3;
        case elem::e3m2: return 4;
        case elem::e2m1: return q_.dense() ? 1 : 5;
        default: return 0;
      }
    };
    auto const desc = [](int at, int rows) {
      return make_umma_desc(base + static_cast<std::uint32_t>(at),
                            static_cast<std::uint32_t>(16 * rows), 128, swizzle_mode::none)
          .bits;
    };
    umma_call c{};
    c.kind = q_.kind;
    c.ctas = 1;
    c.a = desc(0, m);
    c.b = desc(m * 16 * chunks, n);
    c.d = 0;
    c.accumulate = true;
    if (q_.block == 0) {
      c.idesc = umma_idesc{.d_format = q_.d == elem::f16 ? 0 : 1,
                           .a_format = format(q_.a),
                           .b_format = format(q_.b),
                           .negate_a = q_.negate_a,
                           .n = n,
                           .m = m}
                    .bits();
      return c;
    }
    c.block = q_.block;
    c.sfa = n;
    c.sfb = n + 4;
    c.idesc = umma_scaled_idesc{.b_scale_id = 0,
                                .a_scale_id = 0,
                                .a_format = format(q_.a),
                                .b_format = format(q_.b),
                                .n = n,
                                .m = m,
                                .ue8m0 = q_.scale == elem::ue8m0}
                  .bits();
    return c;
  }

  std::uint32_t expect(int r, int j) {
    std::uint32_t const word = memory_->at(r, j);
    elem const of_c = q_.d == elem::f16 ? elem::f16 : elem::f32;
    number const c = of_c == elem::f16
                         ? number_of(elem::f16, word & 0xFFFFU)
                         : number{static_cast<double>(__builtin_bit_cast(float, word)), 0};
    number in = c;
    if (of_c == elem::f32)
      in.exponent =
          c.value == 0 || !std::isfinite(c.value) ? -126 : std::max(std::ilogb(c.value), -126);
    std::vector<number> terms;
    auto const factor = [&](int row, int column, int i) {
      std::uint32_t const w = memory_->at(row % 32, column + row / 32);
      return number_of(q_.scale, w >> 8 * i & 0xFFU);
    };
    for (int k = 0; k < q_.k(); ++k) {
      number x = number_of(q_.a, a_[static_cast<std::size_t>(r * q_.k() + k)]);
      number const y = number_of(q_.b, b_[static_cast<std::size_t>(j * q_.k() + k)]);
      if (q_.negate_a) x.value = -x.value;
      number t{x.value * y.value, x.exponent + y.exponent};
      if (q_.block != 0) {
        number const fa = factor(r, n, k / q_.block), fb = factor(j, n + 4, k / q_.block);
        double const f = fa.value * fb.value;
        if (!q_.dense()) {
          t = {t.value * f, t.exponent + fa.exponent + fb.exponent};
        } else if (k % 16 == 0) {
          t = {t.value, fa.exponent + fb.exponent};
        } else {
          terms.back().value += t.value;  // exact: small multiples of 1/4
          if (k % 16 == 15) terms.back().value *= f;
          continue;
        }
      }
      terms.push_back(t);
    }
    return model(terms, in, q_.dense() ? 35 : 25, q_.d);
  }

  kind_of_sum q_;
  values v_;
  std::mt19937& random_;
  std::unique_ptr<tensor_memory> memory_;
  std::vector<std::byte> smem_;
  std::vector<std::uint32_t> a_, b_;
};

std::vector<kind_of_sum> all_kinds() {
  using enum umma_kind;
  std::vector<kind_of_sum> all{{f16, elem::f16, elem::f16},
                               {f16, elem::f16, elem::f16, elem::f16},
                               {f16, elem::bf16, elem::bf16},
                               {tf32, elem::tf32, elem::tf32},
                               {f16, elem::bf16, elem::bf16}};
  all.back().negate_a = true;
  elem const bytes[] = {elem::e4m3, elem::e5m2, elem::e2m3, elem::e3m2, elem::e2m1};
  for (elem const a : bytes) {
    all.push_back({f8f6f4, a, elem::e4m3});
    all.push_back({f8f6f4, elem::e5m2, a, elem::f16});
    all.push_back({mxf8f6f4, a, elem::e5m2, elem::f32, elem::ue8m0, 32});
  }
  all.push_back({mxf4, elem::e2m1, elem::e2m1, elem::f32, elem::ue8m0, 32});
  all.push_back({mxf4nvf4, elem::e2m1, elem::e2m1, elem::f32, elem::ue8m0, 16});
  all.push_back({mxf4nvf4, elem::e2m1, elem::e2m1, elem::f32, elem::ue4m3, 16});
  return all;
}

TEST(UmmaExact, EveryKindHasTheBitsOfTheModel) {
  constexpr unsigned seed = 20261126;
  std::mt19937 random(seed);
  for (kind_of_sum const& q : all_kinds())
    for (values const v : {values::small, values::spread, values::any_bits}) {
      SCOPED_TRACE(testing::Message()
                   << "seed " << seed << " kind " << static_cast<int>(q.kind) << " " << name(q.a)
                   << " " << name(q.b) << " " << name(q.d) << " block " << q.block << " "
                   << name(q.scale) << " values " << static_cast<int>(v));
      EXPECT_EQ(case_of_sum(q, v, random).run(sum_mode::exact), 0);
    }
}

/// The fast arithmetic rounds elsewhere: without this difference the law above says nothing.
TEST(UmmaExact, FastSumsHaveOtherBits) {
  std::mt19937 random(3);
  using enum umma_kind;
  for (kind_of_sum const& q :
       {kind_of_sum{f16, elem::bf16, elem::bf16}, kind_of_sum{f8f6f4, elem::e4m3, elem::e2m3},
        kind_of_sum{mxf8f6f4, elem::e4m3, elem::e4m3, elem::f32, elem::ue8m0, 32},
        kind_of_sum{mxf4nvf4, elem::e2m1, elem::e2m1, elem::f32, elem::ue4m3, 16}})
    EXPECT_GT(case_of_sum(q, values::spread, random).run(sum_mode::fast), 0) << name(q.a);
}

}  // namespace
}  // namespace tw::emu
