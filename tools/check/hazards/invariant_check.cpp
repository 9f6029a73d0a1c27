// SPDX-License-Identifier: Apache-2.0
// invariant_check.cpp  A whole by the plan that comes first, a part by the kernel under test.
#include "tools/check/hazards/invariant_check.hpp"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/reference.hpp"
#include "tilewright/problem/scale_place.hpp"
#include "tools/check/hazards/checked_kernels.hpp"
#include "tools/check/hazards/gemm_operands.hpp"
#include "tools/check/mutants/mutants.hpp"

namespace tw::hazards {

namespace {

/// Rows [row, row + m) of D and columns [col, col + n) of A B.
struct part_of_d {
  std::int64_t row, m, col, n;
};

/// Element (row, col) of a matrix.
std::byte* place_in(checked_matrix& x, std::int64_t row, std::int64_t col) {
  bool const row_major = x.desc.ord == order::row_major;
  std::int64_t const i =
      row_major ? row * x.desc.pitch_elems + col : col * x.desc.pitch_elems + row;
  return x.bytes.data() + i * size_bytes(x.desc.type);
}

/// A reproducible GEMM, of which parts can be computed.
class reproducible_gemm {
 public:
  reproducible_gemm(kernel_facts const& f, std::mt19937_64& random) : facts_(f), random_(random) {
    using enum order;
    bool const gate = f.epilogue.gate;
    swapped_ = f.epilogue.scales ? f.d_order == col_major : !gate && any(0, 1) != 0;
    m_ = std::min<std::int64_t>(in(swapped_ ? f.n : f.m), most);
    n_ = std::min<std::int64_t>(in(swapped_ ? f.m : f.n), most), k_ = in(f.k);
    if (gate) n_ = (n_ + 15) / 16 * 16;
    operand_major const a_major = swapped_ ? f.b : f.a, b_major = swapped_ ? f.a : f.b;
    elem const second = f.b_type.value_or(f.ab);
    auto const pad = [&] { return any(0, 2) == 0 ? f.ld_step * any(0, 9) : 0; };
    auto const add = [&](elem type, order ord, std::int64_t rows, std::int64_t cols) {
      auto x = std::make_unique<checked_matrix>(type, ord, rows, cols, pad());
      x->fill(random_);
      return x;
    };
    a_ = add(swapped_ ? second : f.ab, a_major == operand_major::k ? row_major : col_major, m_, k_);
    b_ = add(swapped_ ? f.ab : second, b_major == operand_major::k ? col_major : row_major, k_, n_);
    d_order_ = f.d_order ? (swapped_ != (*f.d_order == col_major) ? col_major : row_major)
                         : (any(0, 1) != 0 ? col_major : row_major);
    staged_ = may_stage_d(f) && d_order_ == row_major && any(0, 2) == 0;
    bool const exact = holds_integer_sums(f.d);
    cancels_ = !exact && !gate && any(0, 1) != 0;
    if (!exact && (cancels_ || any(0, 2) == 0))
      c_ = add(elem::f32, row_major, m_, d_cols(n_)), beta_ = 0.75F;
    if (!exact && any(0, 2) == 0) alpha_ = 0.3F;
    if (cancels_) alpha_ = 1, beta_ = -1;
    vectors_ = add(elem::f32, row_major, 4, std::max(m_, n_));
    if (f.epilogue.ops) choose_epilogue();
    if (f.scaled) {
      for (bool const of_b : {false, true}) choose_scales(of_b);
    }
    if (f.epilogue.scales || staged_) {
      scale_d_ = output_scales{};
      scale_d_->given = any(0, 2) == 0;
      scale_d_->power_of_two = any(0, 1) != 0;
      if (!scale_d_->given)
        scale_d_->desc = make_scale({false, m_, d_cols(n_)}, scaling::block_1x128);
    }
  }

  std::int64_t m() const { return m_; }
  std::int64_t n() const { return n_; }
  bool swapped() const { return swapped_; }
  /// Does a second launch quantise the float32 D of the kernel?
  bool staged() const { return staged_; }
  std::int64_t d_cols(std::int64_t n) const { return facts_.epilogue.gate ? n / 2 : n; }

  /// Columns begin where blocks of scales, and groups of a gate, do. A block of columns of D has a
  /// scale: all of them take part.
  part_of_d random_part() {
    part_of_d p{};
    p.m = any(1, m_), p.row = any(0, m_ - p.m);
    p.n = n_;
    if (scale_d_ && !scale_d_->given) return p;
    std::int64_t const step = facts_.scaled ? 128 : 16;
    p.col = any(0, (n_ - 1) / step) * step;
    p.n = any(1, n_ - p.col);
    if (facts_.epilogue.gate) p.n = std::max<std::int64_t>(16, p.n / 16 * 16);
    if (facts_.scaled) p.row = p.row / 128 * 128;
    return p;
  }

  gemm_problem problem(part_of_d const& part, checked_matrix const& d,
                       checked_matrix const& aux) const {
    gemm_problem p{part.m, part.n, k_, a_->desc, b_->desc, d.desc, std::nullopt, alpha_, 0.0F};
    if (c_) p.c = c_->desc, p.beta = beta_;
    p.epilogue = epilogue_;
    p.precision = facts_.precision;
    for (role const x : a_and_b) scale(p, x) = scale_[static_cast<std::size_t>(x)];
    if (facts_.epilogue.aux) p.aux = aux.desc;
    p.scale_d = scale_d_;
    if (scale_d_ && !scale_d_->given)
      p.scale_d->desc = make_scale({false, part.m, d_cols(part.n)}, scaling::block_1x128);
    p.reproducible = true;
    return p;
  }

  gemm_operands operands(part_of_d const& part, checked_matrix& d, checked_matrix& aux,
                         std::vector<float>& scales) const {
    gemm_operands o;
    o.a = place_in(*a_, part.row, 0), o.b = place_in(*b_, 0, part.col);
    if (c_) o.c = place_in(*c_, part.row, d_cols(part.col));
    o.d = d.bytes.data(), o.aux = aux.bytes.data();
    auto const line = [&](int i, std::int64_t first) {
      return reinterpret_cast<float const*>(place_in(*vectors_, i, first));
    };
    int next = 0;
    for (operand_row const& r : operand_rows)
      if (r.vector != nullptr)
        set_address(o, r.is,
                    line(next++, epilogue_.*r.vector == along::rows ? part.row : part.col));
    for (role const x : a_and_b) {
      auto const i = static_cast<std::size_t>(x);
      if (!scale_[i]) continue;
      std::int64_t const first = x == role::a ? part.row : part.col;
      set_address(o, scales_of(x),
                  scale_values_[i]->bytes.data() + 4 * scale_offset(*scale_[i], first, 0));
    }
    scales.assign(static_cast<std::size_t>(part.m * blocks_in(d_cols(part.n), 128)), 0.0F);
    if (scale_d_ && scale_d_->given) scales.assign(1, 0.37F);
    o.scale_d = scales.data();
    return o;
  }

  /// Sets C of a part to what it is subtracted from: D then has the last bits of the sums, of which
  /// a D of 16 bits would show none.
  void cancel(part_of_d const& part, gemm_problem const& p, gemm_operands const& o) {
    if (!cancels_) return;
    auto const* const bias = static_cast<float const*>(o.bias);
    for (std::int64_t r = 0; r < part.m; ++r)
      for (std::int64_t c = 0; c < part.n; ++c) {
        double const added = epilogue_.bias == along::cols ? bias[c] : 0;
        auto const x = static_cast<float>(reference_element(p, o, r, c).s + added);
        std::memcpy(place_in(*c_, part.row + r, part.col + c), &x, sizeof x);
      }
  }

  checked_matrix result(part_of_d const& p) const {
    return checked_matrix(staged_ ? elem::e4m3 : facts_.d, d_order_, p.m, d_cols(p.n), 0);
  }
  checked_matrix aux_of(part_of_d const& p) const {
    return checked_matrix(facts_.d, d_order_, p.m, p.n, 0);
  }
  bool has_computed_scales() const { return scale_d_ && !scale_d_->given; }

 private:
  static constexpr std::int64_t most = 208;  // the arithmetic of tensor cores takes its time

  std::int64_t any(std::int64_t lo, std::int64_t hi) {
    return lo + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(hi - lo + 1));
  }
  std::int64_t in(value_range r) { return r.lo + r.step * any(0, (r.hi - r.lo) / r.step); }

  void choose_epilogue() {
    bool const gate = facts_.epilogue.gate;
    gemm_epilogue& e = epilogue_;
    do e.act = static_cast<activation>(any(gate ? 0 : 1, activation_count - 1));
    while (!gate && is_gate_only(e.act));
    for (operand_row const& r : operand_rows) {
      if (r.vector == nullptr || r.of_groups) continue;
      if (r.is == role::bias)
        e.bias = static_cast<along>(any(0, 2));
      else if (any(0, 1) != 0)
        e.*r.vector = r.over_lines;
    }
    e.c_last = gate || any(0, 1) != 0;
    if (gate) e.gate = gating::interleaved;  // whose parts are columns beside each other
    if (cancels_) e = {.bias = along::cols};
  }

  /// float32, in torch's order.
  void choose_scales(bool of_b) {
    bool const square = any(0, 1) != 0;
    scaled_operand const x{of_b, of_b ? n_ : m_, k_};
    scale_[of_b] = make_scale(x, square ? scaling::block_128x128 : scaling::block_1x128);
    auto& values = scale_values_[of_b];
    values = std::make_unique<checked_matrix>(elem::f32, order::row_major, 1,
                                              scale_elems(x.outer, k_), 0);
    values->fill(random_);
  }

  kernel_facts const& facts_;
  std::mt19937_64& random_;
  std::int64_t m_ = 0, n_ = 0, k_ = 0;
  bool swapped_ = false;
  order d_order_ = order::row_major;
  float alpha_ = 1, beta_ = 0;
  bool cancels_ = false, staged_ = false;
  gemm_epilogue epilogue_;
  std::optional<scale_desc> scale_[2];
  std::optional<output_scales> scale_d_;
  std::unique_ptr<checked_matrix> a_, b_, c_, vectors_, scale_values_[2];
};

class invariance_runner {
 public:
  invariance_runner(checked_kernel const& k, emu::tensor_order fences)
      : kernel_(k),
        facts_(k.family->facts(k.kernel)),
        devices_(devices_for(facts_.device)),
        fences_(fences) {}

  /// Draws until the planner gives a part to the kernel.
  void run(run_key const& key, kernel_result& result) {
    constexpr int max_draws = 24;
    if (result.runs == 0 && in_vain_ > 1) return;  // it serves none
    for (int draw = 0; draw < max_draws; ++draw)
      if (run_drawn(draw, key, result)) return;
    ++in_vain_;
  }

 private:
  /// The device that the kernel is planned for, then one for each other compute capability:
  /// mma.sync serves reproducible GEMMs on GPUs without wgmma alone.
  static std::vector<std::string_view> devices_for(std::string_view first) {
    std::vector<std::string_view> ids{first};
    std::set<int> seen{known_device(first).compute_capability};
    for (device const& d : known_devices())
      if (seen.insert(d.compute_capability).second) ids.push_back(d.id);
    return ids;
  }

  bool run_drawn(int draw, run_key const& key, kernel_result& result) const {
    std::string const words =
        fmt::format("invariant {} {} {} {}", result.name, key.family, key.seed, draw);
    std::seed_seq seeds(words.begin(), words.end());
    std::mt19937_64 random(seeds);
    reproducible_gemm gemm(facts_, random);
    emu::options options = mutants::schedule(key.family, key.seed);
    options.catch_crashes = true;
    options.sms =
        facts_.device_sms > 0 ? facts_.device_sms : 2 + 2 * static_cast<int>(random() % 3);
    options.exact_sums = true;
    options.tensor_fences = fences_;
    options.counted = &result.counts;
    part_of_d const part = gemm.random_part(), whole{0, gemm.m(), 0, gemm.n()};

    checked_matrix d = gemm.result(part), aux = gemm.aux_of(part);
    std::vector<float> scales;
    gemm_problem const p = gemm.problem(part, d, aux);
    if (!serves(p)) return false;
    gemm_operands o = gemm.operands(part, d, aux, scales);
    workspace_.give(o);
    std::vector<gemm_plan> plans;
    device dev;
    for (std::size_t i = 0; i < devices_.size() && plans.empty(); ++i) {
      dev = emulated_device(options, devices_[i]);
      plans = plans_for(p, o, dev);
      std::erase_if(plans, [&](gemm_plan const& x) {
        return x.family != kernel_.family || x.instance != kernel_.kernel ||
               x.swapped != gemm.swapped() || x.stage_d != gemm.staged();
      });
    }
    if (plans.empty()) return false;
    checked_matrix all_d = gemm.result(whole), all_aux = gemm.aux_of(whole);
    std::vector<float> all_scales;
    gemm_problem const all = gemm.problem(whole, all_d, all_aux);
    gemm_operands all_o = gemm.operands(whole, all_d, all_aux, all_scales);
    workspace_.give(all_o);
    std::vector<gemm_plan> const of_all = plans_for(all, all_o, dev);
    if (of_all.empty()) return false;

    gemm.cancel(part, p, o);
    ++result.runs;
    gemm_plan const& first = of_all[random() % of_all.size()];
    if (!emulated(first, all_o, options, key, result)) return true;
    gemm_plan const& plan = plans[random() % plans.size()];
    if (!emulated(plan, o, options, key, result)) return true;
    std::int64_t differ = differences(all_d, d, part, gemm.d_cols(part.col), gemm.d_cols(part.n));
    if (facts_.epilogue.aux) differ += differences(all_aux, aux, part, part.col, part.n);
    if (gemm.has_computed_scales()) {
      std::int64_t const blocks = blocks_in(gemm.d_cols(part.n), 128);
      for (std::int64_t b = 0; b < blocks; ++b)
        for (std::int64_t r = 0; r < part.m; ++r)
          differ += std::memcmp(&scales[static_cast<std::size_t>(b * part.m + r)],
                                &all_scales[static_cast<std::size_t>(b * gemm.m() + part.row + r)],
                                sizeof(float)) != 0;
    }
    result.elements += part.m * gemm.d_cols(part.n);
    if (differ == 0) return true;
    ++result.bad_runs;
    result.wrong_elements += differ;
    result.add(
        {"",
         "other-bits",
         fmt::format("{} elements of rows {} to {} and columns {} to {} have other bits than "
                     "in the GEMM of {}x{}, by {}",
                     differ, part.row, part.row + part.m - 1, part.col, part.col + part.n - 1,
                     gemm.m(), gemm.n(), first.kernel),
         differ,
         0,
         key,
         {}});
    return true;
  }

  static bool serves(gemm_problem const& p) { return !accept(p); }

  static std::vector<gemm_plan> plans_for(gemm_problem const& p, gemm_operands const& o,
                                          device const& dev) {
    try {
      return plan_candidates(p, o, dev);
    } catch (rejected const&) {  // no kernel serves it
      return {};
    }
  }

  /// Elements of a part whose bits differ from those of the whole.
  static std::int64_t differences(checked_matrix& whole, checked_matrix& part, part_of_d const& at,
                                  std::int64_t first_col, std::int64_t cols) {
    auto const width = static_cast<std::size_t>(size_bytes(part.desc.type));
    std::int64_t differ = 0;
    for (std::int64_t r = 0; r < at.m; ++r)
      for (std::int64_t c = 0; c < cols; ++c)
        differ += std::memcmp(place_in(whole, at.row + r, first_col + c), place_in(part, r, c),
                              width) != 0;
    return differ;
  }

  bool emulated(gemm_plan const& plan, gemm_operands o, emu::options options, run_key const& key,
                kernel_result& result) const {
    workspace_.give_exactly(plan, o, options);
    try {
      gemm_emulated(plan, o, options);
      if (plan.stage_d) ++result.runs_of_two_launches;
      if (workspace_.kept(plan)) return true;
      ++result.bad_runs;
      result.add(workspace_.beyond(plan, key));
      return false;
    } catch (emu::fault const& f) {
      workspace_.clear();
      ++result.bad_runs;
      for (emu::diagnosis const& d : f.diagnoses())
        result.add({d.code, d.kind, d.text, d.count, 0, key, {}}, &d == &f.diagnoses().front());
      return false;
    }
  }

  checked_kernel const& kernel_;
  kernel_facts facts_;
  std::vector<std::string_view> devices_;
  emu::tensor_order fences_;
  int in_vain_ = 0;  // runs for which no problem was found
  checked_workspace const workspace_;
};

}  // namespace

std::vector<kernel_result> check_invariance(request const& r) {
  emu::tensor_order const fences = r.tensor_fences;
  return run_kernels(r, [fences](checked_kernel const& k, std::vector<shape> const&) {
    auto const runner = std::make_shared<invariance_runner>(k, fences);
    return [runner](int, run_key const& key, kernel_result& result) { runner->run(key, result); };
  });
}

}  // namespace tw::hazards
