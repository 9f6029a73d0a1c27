// SPDX-License-Identifier: Apache-2.0
// activation_emu_test.cpp  Every activation and gate, through the kernels, for the bit patterns of
//                          bf16 and f16 (tests/effort.hpp) as the gate, as what it multiplies and
//                          as the bias, against float64.
#include "tests/effort.hpp"
#include "tests/kernel/built_kernels.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/gemm_cases.hpp"
#include "tests/problem/activation_formulas.hpp"

#include <cfloat>
#include <set>

namespace tw::test {
namespace {

/// Which of the kernel's inputs takes all patterns.
enum class role { gate, up, gate_bias, up_bias };

struct pattern_case {
  elem ab, d;
  activation act;
  gating gate;
  role of;
};

std::string text(pattern_case const& c) {
  char const* const roles[] = {"gate", "up", "bias of the gate", "bias of up"};
  return std::string(name(c.ab)) + " to " + std::string(name(c.d)) + ", activation " +
         std::to_string(int(c.act)) + ", gate " + std::to_string(int(c.gate)) + ", patterns as " +
         roles[int(c.of)];
}

/// Is `got` act(x) times up?
bool is_right(double got, pattern_case const& c, double x, double up) {
  double const act = formula_of(c.act, x), want = act * up;
  bool const flushed = std::fabs(act) <= 0x1p-125 * std::fabs(x) || std::fabs(act) < FLT_MIN;
  if (std::isinf(up) && flushed && act != 0)
    return std::isnan(got) || (std::isinf(got) && std::signbit(got) == std::signbit(want));
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  double const unit = c.d == elem::bf16 ? 0x1p-8 : c.d == elem::f16 ? 0x1p-11 : 0x1p-24;
  double const tiny = c.d == elem::bf16 ? 0x1p-134 : c.d == elem::f16 ? 0x1p-25 : 0x1p-149;
  double const largest = c.d == elem::bf16  ? 0x1.FFp127
                         : c.d == elem::f16 ? 65520.0
                                            : 0x1.FFFFFFp127;
  double const of_act = error_of(c.act, x);
  double const error =
      0x1p-24 * std::fabs(want) + (of_act + (of_act > 0 ? FLT_MIN : 0)) * std::fabs(up);
  if (std::isinf(got))
    return std::fabs(want) + error >= largest && std::signbit(got) == std::signbit(want);
  if (std::fabs(want) - error >= largest) return false;
  return std::fabs(got - want) <= error + unit * (std::fabs(want) + error) + tiny;
}

/// A GEMM in which each element of D has a separate pattern and each row a constant. With `grid`
/// rows, row i of A is one at i and its constant at `grid`: row i of D has the patterns of row i of
/// B, which must be finite. Without a grid all rows have the same patterns, which may be anything.
class pattern_gemm {
 public:
  pattern_gemm(pattern_case const& c, std::vector<std::uint16_t> const& patterns, int grid = 0)
      : case_(c),
        patterns_(patterns),
        grid_(grid) {
    bool const gated = c.gate != gating::none;
    int const pattern_rows = std::max(grid, 1);
    auto const n = static_cast<std::int64_t>(patterns.size()) / pattern_rows;
    std::int64_t const cols = gated ? 2 * n : n, k = (pattern_rows + 8) / 8 * 8;
    auto const zero = [] { return 0.0F; };
    constants_ = {1, -0.5F, 0, c.ab == elem::f16 ? 0x1p15F : 0x1p66F};
    std::int64_t const m = grid > 0 ? grid : static_cast<std::int64_t>(constants_.size());
    p_.a = make_matrix(c.ab, order::row_major, m, k, 0, zero);
    p_.b = make_matrix(c.ab, order::col_major, k, cols, 0, zero);
    p_.d = make_matrix(c.d, order::row_major, m, n, 0, nullptr);
    bias_ = make_matrix(c.ab, order::row_major, 1, cols, 0, zero);
    for (std::int64_t i = 0; i < m; ++i) {
      p_.a.store(i, row_of_pattern(i), 0, 1);
      p_.a.store(i, pattern_rows, 0, constant(i));
    }
    p_.problem = {m, cols, k, p_.a.desc, p_.b.desc, p_.d.desc, std::nullopt};
    gemm_epilogue& e = p_.problem.epilogue;
    e.act = c.act;
    e.gate = c.gate;
    e.bias = is_bias() || !gated ? along::cols : along::none;
    e.bias.type = c.ab;
    for (std::int64_t j = 0; j < n; ++j) {
      std::int64_t const gate = gated_column(j, 0), up = gated_column(j, 1);
      std::int64_t const mine = is_up() ? up : gate;
      if (is_bias())
        put(bias_, 0, mine, patterns[static_cast<std::size_t>(j)]);
      else
        for (int r = 0; r < pattern_rows; ++r)
          put(p_.b, r, mine, patterns[static_cast<std::size_t>(r * n + j)]);
      if (gated) p_.b.store(pattern_rows, mine == gate ? up : gate, 0, 1);
    }
  }

  std::vector<gemm_plan> plans(int sms) { return built_plans(p_.problem, operands(), sms); }

  /// By the first plan; false where this build has no kernel for it.
  bool run_and_check_first() {
    std::vector<gemm_plan> const all = plans(8);
    if (all.empty()) return false;
    run_and_check(all.front());
    return true;
  }

  void run_and_check(gemm_plan const& plan) {
    std::fill(p_.d.bytes.begin(), p_.d.bytes.end(), std::byte{0xFF});
    emulate(plan, operands());
    int wrong = 0;
    for (std::int64_t i = 0; i < p_.d.rows; ++i)
      for (std::int64_t j = 0; j < p_.d.cols; ++j) {
        double const pattern =
            value(patterns_[static_cast<std::size_t>(row_of_pattern(i) * p_.d.cols + j)]);
        auto const fixed = static_cast<double>(constant(i));
        bool const gated = case_.gate != gating::none;
        double const x = gated && is_up() ? fixed : pattern;
        double const up = !gated ? 1 : passed(case_.act, is_up() ? pattern : fixed);
        double const got = p_.d.load(i, j, 0);
        if (!is_right(got, case_, x, up) && ++wrong <= 3)
          ADD_FAILURE() << text(case_) << ", " << plan.kernel << ": x = " << x << ", up = " << up
                        << ": got " << got << ", want " << formula_of(case_.act, x) * up;
      }
    EXPECT_EQ(wrong, 0);
  }

 private:
  bool is_up() const { return case_.of == role::up || case_.of == role::up_bias; }
  std::int64_t row_of_pattern(std::int64_t row) const { return grid_ > 0 ? row : 0; }
  float constant(std::int64_t row) const {
    return constants_[static_cast<std::size_t>(row) % constants_.size()];
  }
  bool is_bias() const { return case_.of == role::gate_bias || case_.of == role::up_bias; }
  gemm_operands operands() {
    gemm_operands o = p_.operands();
    if (p_.problem.epilogue.bias != along::none) o.bias = bias_.data();
    return o;
  }
  /// The column of B for result j: its gate, or what that multiplies.
  std::int64_t gated_column(std::int64_t j, int up) const {
    return case_.gate == gating::interleaved ? 2 * j + up : j + up * p_.d.cols;
  }
  double value(std::uint16_t bits) const {
    return static_cast<double>(case_.ab == elem::bf16 ? to_float(bf16{bits}) : to_float(f16{bits}));
  }
  static void put(matrix& m, std::int64_t row, std::int64_t col, std::uint16_t bits) {
    std::memcpy(m.bytes.data() + m.at(row, col, 0), &bits, sizeof bits);
  }

  pattern_case case_;
  std::vector<std::uint16_t> patterns_;
  int grid_;
  std::vector<float> constants_;
  product p_;
  matrix bias_;
};

bool is_finite(elem e, int bits) {
  int const exponent = e == elem::bf16 ? 0x7F80 : 0x7C00;
  return (bits & exponent) != exponent;
}

/// Every `step`th, and those beside zero, the largest numbers, the infinities and NaNs.
std::vector<std::uint16_t> patterns_at(int step) {
  std::vector<std::uint16_t> x;
  for (int i = 0; i < 65536; i += step) x.push_back(static_cast<std::uint16_t>(i));
  for (int const first : {0, 0x7F70, 0x7BF0, 0x5F70, 0x8000, 0xFF70, 0xFBF0, 0xDF70})
    for (int i = 0; step > 1 && i < 16; ++i)
      x.push_back(static_cast<std::uint16_t>(first + 2 * i + 1));
  x.resize((x.size() + 7) / 8 * 8, 0);
  return x;
}

/// Those that are finite or those that are not, then zeros up to a multiple of `multiple`.
std::vector<std::uint16_t> patterns_of(elem e, bool finite, std::size_t multiple) {
  std::vector<std::uint16_t> x;
  for (std::uint16_t const i : patterns_at(pattern_step()))
    if (is_finite(e, i) == finite) x.push_back(i);
  x.resize((x.size() + multiple - 1) / multiple * multiple, 0);
  return x;
}

template <class Run>
void for_cases(Run run) {
  for (elem const ab : {elem::bf16, elem::f16})
    for (elem const d : {ab, elem::f32})
      for (activation const act : all_registered_activations())
        for (gating const gate : all_accepted_gates())
          for (role const of : {role::gate, role::up, role::gate_bias, role::up_bias}) {
            if (gate == gating::none &&
                (of == role::up || of == role::up_bias || is_gate_only(act)))
              continue;
            run(pattern_case{ab, d, act, gate, of});
            if (testing::Test::HasFailure()) return;
          }
}

TEST(ActivationEmu, AllPatternsAsGateAndUpThroughThePlannedKernel) {
  constexpr int grid = 64;
  std::set<std::pair<activation, role>> run;
  for_cases([&](pattern_case const& c) {
    if (c.of != role::gate && c.of != role::up) return;
    pattern_gemm finite(c, patterns_of(c.ab, true, grid * 8), grid);
    if (!finite.run_and_check_first()) return;
    pattern_gemm others(c, patterns_of(c.ab, false, 8));
    others.run_and_check_first();
    run.insert({c.act, c.of});
  });
  EXPECT_EQ(run.size(), 2U * activation_count) << "an activation was not run as gate, or as up";
}

/// A bias is added before the activation: two of them are enough.
TEST(ActivationEmu, AllPatternsAsBiasThroughThePlannedKernel) {
  std::vector<std::uint16_t> const patterns = patterns_at(pattern_step());
  int runs = 0;
  for_cases([&](pattern_case const& c) {
    bool const looked_at = c.d == c.ab && c.gate != gating::interleaved &&
                           (c.act == activation::silu || c.act == activation::clamped_quick_gelu ||
                            (c.act == activation::none && c.of == role::up_bias));
    if (!looked_at || c.of == role::gate || c.of == role::up) return;
    pattern_gemm g(c, patterns);
    if (g.run_and_check_first()) ++runs;
  });
  EXPECT_GE(runs, 4);
}

TEST(ActivationEmu, SomePatternsThroughEveryKernel) {
  std::vector<std::uint16_t> const patterns = patterns_at(full_effort() ? 64 : 512);
  std::set<std::string> kernels;
  for_cases([&](pattern_case const& c) {
    pattern_gemm g(c, patterns);
    for (gemm_plan const& plan : g.plans(8)) {
      if (!kernels.insert(plan.kernel + std::to_string(int(c.act)) + std::to_string(int(c.of)))
               .second)
        continue;
      g.run_and_check(plan);
      if (testing::Test::HasFailure()) return;
    }
  });
  EXPECT_GE(kernels.size(), 50U);
}

}  // namespace
}  // namespace tw::test
