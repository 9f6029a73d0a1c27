// SPDX-License-Identifier: Apache-2.0
// staged_c_emu_test.cpp  C by TMA (kernel/sm90/epilogue/staged_c.hpp): D has the bits that a C
//                        read by threads gives, for every kernel, in place and elsewhere.
#include <algorithm>
#include <set>

#include "family/sm90_gemm/config_of.hpp"
#include "family/sm90_gemm/params.hpp"
#include "tests/kernel/emu_workspace.hpp"
#include "tests/kernel/gemm_cases.hpp"
#include "tests/kernel/groups/groups_cases.hpp"

namespace tw::test {
namespace {

struct staged_types {
  elem ab, d;
  int promote_k = 128;  // of 8-bit floats
  bool fused = false;   // with a bias and an activation
  gating gate = gating::none;
};

/// D = alpha A B + beta C. C is in D's memory if in_place.
struct with_c {
  product p;
  bool in_place;
  std::vector<float> bias;

  with_c(std::mt19937_64& rng, staged_types t, int m, int n, int k, int batch, bool in_place)
      : in_place(in_place) {
    std::normal_distribution<float> normal;
    auto const fill = [&] { return normal(rng); };
    int const chunk = 16 / size_bytes(t.d);
    if (t.gate != gating::none) n = n / 16 * 16;
    int const of_d = t.gate == gating::none ? n : n / 2;
    int const pad = (of_d + chunk - 1) / chunk * chunk - of_d;
    p.a = make_matrix(t.ab, order::row_major, m, k, 0, fill, batch);
    p.b = make_matrix(t.ab, order::col_major, k, n, 0, fill, batch);
    p.d = make_matrix(t.d, order::row_major, m, of_d, pad, fill, batch);
    elem const of_c = t.d == elem::f32 ? elem::f32
                      : in_place       ? t.d
                      : rng() % 2 == 0 ? elem::bf16
                                       : elem::f16;
    p.c = in_place ? p.d
                   : make_matrix(of_c, order::row_major, m, of_d, pad + chunk * (rng() % 2), fill,
                                 batch);
    p.problem = {m,        n,        k,        p.a.desc,
                 p.b.desc, p.d.desc, p.c.desc, rng() % 2 == 0 ? 1.0F : 0.5F,
                 -0.75F,   batch};
    if (size_bytes(t.ab) == 1 && !is_integer(t.ab)) p.problem.precision.promote_k = t.promote_k;
    if (!t.fused) return;
    bool const of_rows = rng() % 2 == 0;
    bias.resize(static_cast<std::size_t>(of_rows ? m : n));
    for (float& x : bias) x = normal(rng);
    p.problem.epilogue = {.bias = {of_rows ? along::rows : along::cols},
                          .act = rng() % 2 == 0 ? activation::relu : activation::silu,
                          .gate = t.gate,
                          .c_last = t.gate != gating::none || rng() % 2 == 0};
  }
  gemm_operands operands() {
    gemm_operands o = p.operands();
    if (in_place) o.c = o.d;
    if (!bias.empty()) o.bias = bias.data();
    return o;
  }
  /// D's bytes after a run of `plan`; C, and D before the run, are as made.
  std::vector<std::byte> run(gemm_plan const& plan, gemm_operands o, std::uint64_t seed) {
    std::vector<std::byte> const before = p.d.bytes;
    emu_options options;
    options.policy = async_policy::random;
    options.seed = seed;
    options.random_warps = true;
    options.sms = 3;
    emulate(plan, o, options);
    std::vector<std::byte> const after = p.d.bytes;
    std::copy(before.begin(), before.end(), p.d.bytes.begin());  // the address of D stays
    return after;
  }
};

/// C of `x`, moved to an address that TMA does not take.
class moved_c {
 public:
  explicit moved_c(matrix const& c) : bytes_(c.bytes.size() + 16) {
    auto const address = reinterpret_cast<std::uintptr_t>(bytes_.data());
    first_ = (16 - address % 16) % 16 + static_cast<std::size_t>(size_bytes(c.desc.type));
    std::copy(c.bytes.begin() + static_cast<std::ptrdiff_t>(c.offset_bytes), c.bytes.end(),
              bytes_.begin() + static_cast<std::ptrdiff_t>(first_));
  }
  void const* data() const { return bytes_.data() + first_; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t first_;
};

class StagedC : public testing::TestWithParam<staged_types> {};

TEST_P(StagedC, HasTheBitsOfACThatThreadsRead) {
  std::mt19937_64 rng(20261129 + static_cast<int>(GetParam().ab) * 16 +
                      static_cast<int>(GetParam().d));
  emu_workspace space;
  std::set<std::string> kernels;
  int by_tma = 0, in_place = 0, batches = 0;
  struct extents {
    int m, n, k, batch;
  };
  // Several tiles for a CTA, tiles that D's end cuts, and parts of a 16-byte unit at its end.
  for (extents const& e : {extents{600, 520, 144, 1}, {130, 1001, 80, 1}, {300, 264, 208, 3}}) {
    if (size_bytes(GetParam().ab) == 1 && e.k % 16 != 0) continue;
    for (bool const own : {false, true}) {
      with_c x(rng, GetParam(), e.m, e.n, e.k, e.batch, own);
      gemm_operands operands = x.operands();
      space.give(operands);
      for (gemm_plan const& plan :
           plan_candidates(x.p.problem, operands, with_sm_count(known_device("h200"), 3))) {
        if (!is_sm90_gemm(plan) || plan.swapped) continue;
        bool const loads = config_of(plan).loads_c() && plan.schedule.split_k_tiles == 0;
        SCOPED_TRACE(plan.kernel + (own ? ", in place" : "") + ", " + x.p.text());
        ASSERT_EQ(make_params(plan, plan.normal, operands, target::emu).epilogue.c_by_tma,
                  loads ? 1 : 0);
        std::vector<std::byte> const got = x.run(plan, operands, rng());
        moved_c const moved(x.p.c);
        gemm_operands beside = operands;
        beside.c = moved.data();
        ASSERT_EQ(make_params(plan, plan.normal, beside, target::emu).epilogue.c_by_tma, 0);
        ASSERT_TRUE(got == x.run(plan, beside, rng()));
        if (!own && size_bytes(GetParam().ab) == 2 && !GetParam().fused) {
          product made = x.p;
          made.d.bytes = got;
          for (std::int64_t of = 0; of < e.batch; ++of) expect_right_product(made, of);
        }
        kernels.insert(plan.kernel);
        by_tma += loads, in_place += own, batches += e.batch > 1;
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GE(kernels.size(), 1U);
  // The only kernels of these types in the representative set have the largest tile.
  bool const largest = GetParam().promote_k == 0 || is_integer(GetParam().ab);
  EXPECT_EQ(by_tma > 0, !largest);
  EXPECT_GE(in_place, 1);
  EXPECT_GE(batches, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Types, StagedC,
    testing::Values(staged_types{elem::bf16, elem::bf16}, staged_types{elem::bf16, elem::f32},
                    staged_types{elem::f16, elem::f16}, staged_types{elem::e4m3, elem::bf16},
                    staged_types{elem::tf32, elem::f32}, staged_types{elem::e4m3, elem::bf16, 0},
                    staged_types{elem::s8, elem::bf16},
                    staged_types{elem::bf16, elem::bf16, 128, true},
                    staged_types{elem::bf16, elem::bf16, 128, true, gating::split},
                    staged_types{elem::f16, elem::f16, 128, true},
                    staged_types{elem::e4m3, elem::bf16, 128, true}),
    [](auto const& i) {
      return std::string(name(i.param.ab)) + "_" + std::string(name(i.param.d)) +
             (i.param.promote_k == 128 ? "" : "_fast") + (i.param.fused ? "_fused" : "") +
             (i.param.gate == gating::none ? "" : "_gate");
    });

/// Groups of K, empty ones too, whose D is beta C.
TEST(StagedCOfGroups, HasTheBitsOfACThatThreadsRead) {
  std::mt19937_64 rng(20261201);
  emu_workspace space;
  int kernels = 0, empty = 0;
  for (gemm_family const* f : families())
    for (int i = 0; i < f->kernel_count(); ++i) {
      kernel_facts const x = f->facts(i);
      if (!f->built(i) || x.groups != group_axis::k || is_fp8(x.ab) || is_integer(x.d)) continue;
      auto const k_is_contiguous = [](operand_major m) { return m == operand_major::k; };
      grouped_shape const w = {group_axis::k, x.ab, x.d,
                               k_is_contiguous(x.a) ? order::row_major : order::col_major,
                               k_is_contiguous(x.b) ? order::col_major : order::row_major};
      ++kernels;
      int compared = 0;
      for (int turn = 0; turn < 60 && compared < 2 && !HasFailure(); ++turn) {
        grouped_product p = random_groups(rng, w, 150);
        gemm_operands o = p.operands();
        space.give(o);
        std::vector<gemm_plan> plans =
            plan_candidates(p.problem, o, with_sm_count(known_device("h200"), 3));
        std::erase_if(plans, [&](gemm_plan const& y) { return y.family != f || y.instance != i; });
        if (plans.empty() || plans[0].swapped ||
            make_params(plans[0], plans[0].normal, o, target::emu).epilogue.c_by_tma == 0)
          continue;
        SCOPED_TRACE(plans[0].kernel + ", " + p.text());
        std::vector<std::byte> const before = p.d.bytes;
        auto const run = [&](gemm_operands const& with) {
          std::ranges::copy(before, p.d.bytes.begin());  // the address of D stays
          emu_options options;
          options.policy = async_policy::random, options.random_warps = true, options.sms = 3;
          options.seed = rng();
          emulate(plans[0], with, options);
          return p.d.bytes;
        };
        moved_c const moved(p.c);
        gemm_operands beside = o;
        beside.c = moved.data();
        ASSERT_EQ(make_params(plans[0], plans[0].normal, beside, target::emu).epilogue.c_by_tma, 0);
        std::vector<std::byte> const got = run(o);
        ASSERT_TRUE(got == run(beside));
        ++compared;
        for (group_range const& r : p.ranges) empty += r.size == 0;
      }
      EXPECT_EQ(compared, 2) << f->name(i);
    }
  EXPECT_GT(kernels, 2);
  EXPECT_GT(empty, 0);
}

}  // namespace
}  // namespace tw::test
