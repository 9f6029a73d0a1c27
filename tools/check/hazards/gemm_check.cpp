// SPDX-License-Identifier: Apache-2.0
// gemm_check.cpp  Random problems, planned for the kernel under test.
#include "tools/check/hazards/gemm_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/kernel/weights/weights.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/scale_place.hpp"
#include "tools/check/check.hpp"
#include "tools/check/hazards/checked_kernels.hpp"
#include "tools/check/hazards/gemm_operands.hpp"
#include "tools/check/mutants/mutants.hpp"
#include "tools/check/random_weights.hpp"

namespace tw::hazards {

namespace {

class gemm_runner {
 public:
  gemm_runner(checked_kernel const& k, std::vector<shape> const& shapes, emu::tensor_order fences)
      : kernel_(k),
        facts_(k.family->facts(k.kernel)),
        shapes_(shapes),
        fences_(fences) {}

  /// Run number i of this kernel; given shapes are used in turn. With the same key it repeats.
  /// Each kernel has different problems. Problems that the planner does not give to this kernel are
  /// replaced, unless the shape is given.
  void run(int i, run_key const& key, kernel_result& result) {
    constexpr int max_draws = 32;
    for (int draw = 0; draw < (shapes_.empty() ? max_draws : 1); ++draw)
      if (run_drawn(i, draw, key, result)) return;
  }

 private:
  /// Returns whether the planner gives the problem of this draw to the kernel.
  bool run_drawn(int i, int draw, run_key key, kernel_result& result) {
    std::string words = fmt::format("{} {} {}", result.name, key.family, key.seed);
    if (draw > 0) words += fmt::format(" {}", draw);
    std::seed_seq seeds(words.begin(), words.end());
    std::mt19937_64 random(seeds);
    auto const any = [&](int lo, int hi) {
      return lo + static_cast<int>(random() % static_cast<unsigned>(hi - lo + 1));
    };
    auto const in = [&](value_range r) { return r.lo + r.step * any(0, (r.hi - r.lo) / r.step); };
    key.shape = {in(facts_.m), in(facts_.n), in(facts_.k)};
    if (!shapes_.empty()) key.shape = shapes_[static_cast<std::size_t>(i) % shapes_.size()];
    if (facts_.epilogue.gate) key.shape[1] = (key.shape[1] + 15) / 16 * 16;
    using enum order;
    // Does the kernel compute D^T = B^T A^T? Scales of D belong to its rows, a gate to its columns.
    bool const swapped = facts_.epilogue.scales ? facts_.d_order == col_major
                         : facts_.epilogue.gate ? bool{facts_.weights}
                                                : any(0, 1) != 0;
    if (swapped && shapes_.empty()) std::swap(key.shape[0], key.shape[1]);
    auto const m = key.shape[0], n = key.shape[1], k = key.shape[2];
    operand_major const a_major = swapped ? facts_.b : facts_.a;
    operand_major const b_major = swapped ? facts_.a : facts_.b;
    auto const pad = [&] { return any(0, 2) == 0 ? facts_.ld_step * any(0, 9) : 0; };
    elem const first = facts_.ab, second = facts_.b_type.value_or(facts_.ab);
    bool const grouped = facts_.groups != group_axis::none;
    // Other orders are transposed first, but not for groups and not of prepared weights; a gate
    // needs a K-major B.
    bool const any_order =
        traits_of(first).k_major_only && !facts_.epilogue.gate && !grouped && !facts_.weights;
    auto const order_of = [&](operand_major major, order k_order, order other) {
      return major == operand_major::k && !(any_order && any(0, 3) == 0) ? k_order : other;
    };
    // Kernels that read an operand into registers load it as it is, by TMA.
    auto const pad_of = [&](operand_major major, std::int64_t extent) {
      bool const in_registers = major == operand_major::mn && traits_of(first).k_major_only;
      std::int64_t const inner = major == operand_major::mn ? extent : k;
      return pad() + (in_registers || grouped ? round_up(inner, facts_.ld_step) - inner : 0);
    };
    checked_matrix a(swapped ? second : first, order_of(a_major, row_major, col_major), m, k,
                     pad_of(a_major, m));
    checked_matrix b(swapped ? first : second, order_of(b_major, col_major, row_major), k, n,
                     pad_of(b_major, n));
    if (first == multiplied_type(elem::f32) && any(0, 2) == 0)
      a.desc.type = b.desc.type = elem::f32;
    auto const d_cols = facts_.epilogue.gate ? n / 2 : n;
    bool const d_by_cols =
        facts_.d_order ? swapped != (*facts_.d_order == col_major) : any(0, 1) != 0;
    // A second launch quantises the row-major float32 D of this kernel.
    std::optional<staged_result> staged;
    if (may_stage_d(facts_) && !d_by_cols && any(0, 2) == 0)
      staged = random_staged_result(m, d_cols, random);
    group_axis const axis = swapped ? transposed(facts_.groups) : facts_.groups;
    std::int64_t const results = axis == group_axis::k ? 1 + any(0, 3) : 1;  // matrices of D
    bool const of_pairs = staged && packs_in_pairs(staged->type);
    bool const columns = staged ? staged->ord == col_major : d_by_cols;
    checked_matrix d(staged ? staged->type : facts_.d, columns ? col_major : row_major,
                     columns ? m : m * results, columns ? d_cols * results : d_cols,
                     of_pairs ? 2 * pad() : pad());
    bool const exact = holds_integer_sums(facts_.d);  // D is the sum itself
    elem const c_type = size_bits(facts_.d) <= 8 || exact ? elem::f32 : facts_.d;
    checked_matrix c(c_type, any(0, 1) != 0 ? col_major : row_major, m, d_cols, 0);
    std::int64_t const vector = std::max(m, n) * (grouped ? most_groups : 1);  // of each group
    checked_matrix vectors(elem::f32, row_major, vector_count, vector, 0);
    checked_matrix aux(facts_.d, d.desc.ord, m, n, pad());
    for (checked_matrix* x : {&a, &b, &c, &vectors}) x->fill(random);
    gemm_problem p{m, n, k, a.desc, b.desc, d.desc, std::nullopt, 1.0F, 0.0F};
    p.precision = facts_.precision;
    std::vector<std::byte> prepared;  // weights of 4 bits
    role const weighted = swapped ? role::b : role::a;
    if (facts_.weights) {
      weights(p, weighted) = facts_.weights;
      matrix_of(p, weighted)->pitch_elems = k;
      prepared = random_weights({outer_extent(p, weighted), k, 1, facts_.weights}, random);
    }
    std::vector<std::int64_t> sizes;
    if (axis != group_axis::none) {
      sizes = add_groups(p, axis, results, any);
      p.d.batch_stride_elems = results > 1 ? (columns ? d_cols : m) * p.d.pitch_elems : 0;
    }
    if (!exact && any(0, 2) == 0) {
      p.c = c.desc;
      p.beta = any(0, 1) != 0 ? 1.0F : -0.75F;
    }
    if (!exact && any(0, 2) == 0) p.alpha = 1.5F;
    gemm_operands o{a.bytes.data(), b.bytes.data(), p.c ? c.bytes.data() : nullptr, d.bytes.data()};
    o.groups = sizes.data();
    if (p.groups) p.groups->alpha = !exact && any(0, 3) == 0;
    if (facts_.weights) set_address(o, weighted, prepared.data());
    auto const* line = reinterpret_cast<float const*>(vectors.bytes.data());
    for (operand_row const& r : operand_rows)
      if (r.vector != nullptr) set_address(o, r.is, line), line += vector;
    o.group_alpha = vectors.bytes.data();
    bool const blocks = facts_.block_scaled.has_value();
    bool const anew = facts_.scaled && axis == group_axis::k;  // each group begins a block
    constexpr std::int64_t block_k = 128;
    if (anew) p.groups->scale_blocks = (k + block_k - 1) / block_k + results;
    std::int64_t const k_of_scales = anew ? p.groups->scale_blocks * block_k : k;
    ab_table<checked_matrix> scales{
        checked_matrix(elem::f32, row_major, 1, scale_elems(m, k_of_scales, blocks), 0),
        checked_matrix(elem::f32, row_major, 1, scale_elems(n, k_of_scales, blocks), 0)};
    ab_table<float> const second_levels{0.0123F, 3.7F};
    bool in_main_loop = blocks;
    for (role const x : a_and_b) {
      if (!blocks && !facts_.scaled) continue;
      scaled_operand const of{x == role::b, outer_extent(p, x), k_of_scales};
      if (anew) {
        scales[x].fill(random);
        scale(p, x) = make_scale(of, scaling::block_1x128);
        set_address(o, scales_of(x), scales[x].bytes.data());
        in_main_loop = true;
        continue;
      }
      scale(p, x) = blocks ? random_block_scales(of, *facts_.block_scaled, scales[x], random)
                           : random_scales(of, scales[x], random);
      in_main_loop = in_main_loop || !fits_epilogue(*scale(p, x), of.outer, k);
      set_address(o, scales_of(x), scales[x].bytes.data());
      if (scale(p, x)->second_level) set_address(o, second_level_of(x), &second_levels[x]);
    }
    if (facts_.scaled && !in_main_loop) return false;
    if (facts_.epilogue.ops) p.epilogue = random_epilogue(any, facts_.epilogue.gate);
    if (facts_.weights) {
      weights(p, weighted).gate = p.epilogue.gate;
      write_weights_header({outer_extent(p, weighted), k, 1, weights(p, weighted)},
                           prepared.data());
    }
    if (grouped && facts_.epilogue.ops && any(0, 1) != 0)
      p.epilogue.row_weight = axis == group_axis::m ? along::rows : along::cols;
    constexpr std::int64_t levels_of_d = 4;
    checked_matrix scale_d(elem::f32, row_major, 1,
                           scale_elems(m, d_cols, blocks || staged) + levels_of_d, 0);
    if (staged) p.scale_d = staged->scales;
    if (facts_.epilogue.scales) {
      p.scale_d = blocks ? make_block_result(*facts_.block_scaled, m, d_cols)
                         : random_result_scales({false, m, d_cols}, random);
    }
    if (p.scale_d) {
      o.scale_d = scale_d.bytes.data();
      float const given = 0.37F;
      if (p.scale_d->given) std::memcpy(o.scale_d, &given, sizeof given);
    }
    if (facts_.epilogue.aux) p.aux = aux.desc, o.aux = aux.bytes.data();
    if (grouped && accept(p)) return false;  // scales of blocks of the ragged rows
    workspace_.give(o);
    emu::options options = mutants::schedule(key.family, key.seed);
    options.catch_crashes = true;
    options.sms = facts_.device_sms > 0 ? facts_.device_sms : 2 + 2 * any(0, 2);
    options.most_reports = emu::options{}.most_reports;
    options.counted = &result.counts;
    options.tensor_fences = fences_;
    for (checked_matrix const* x : {&a, &b, &c, &d, &vectors, &aux, &scales.a, &scales.b, &scale_d})
      options.arrays.push_back({x->bytes.data(), x->bytes.size(), checked_matrix::margin_bytes});
    std::vector<gemm_plan> plans =
        plan_candidates(p, o, emulated_device(options, facts_.device), kernel_set::all);
    std::erase_if(plans, [&](gemm_plan const& x) {
      return x.family != kernel_.family || x.instance != kernel_.kernel || x.swapped != swapped ||
             x.stage_d != staged.has_value();
    });
    if (plans.empty()) return false;
    gemm_plan const& plan = plans[random() % plans.size()];
    workspace_.give_exactly(plan, o, options);
    judge(plan, o, options, key, result);
    return true;
  }

  static constexpr int most_groups = 9;

  /// Groups of random sizes, some empty, that may leave a rest. Their other operand is one matrix
  /// for all; C too.
  template <class Any>
  static std::vector<std::int64_t> add_groups(gemm_problem& p, group_axis axis,
                                              std::int64_t results, Any const& any) {
    bool const of_k = axis == group_axis::k;
    group_desc const g{.axis = axis,
                       .form = group_form::sizes,
                       .count = of_k ? results : any(1, most_groups),
                       .index_bits = 64};
    p.groups = g;
    std::int64_t const step = step_of_numbers(p);
    std::int64_t left = ragged_extent(p);
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(g.count));
    for (std::int64_t& size : sizes) {
      if (any(0, 2) != 0) size = any(0, static_cast<int>(left)) / step * step;
      left -= size;
    }
    if (std::ranges::all_of(sizes, [](std::int64_t size) { return size == 0; }))
      sizes.back() = left / step * step;  // something to compare
    return sizes;
  }

  template <class Any>
  static gemm_epilogue random_epilogue(Any const& any, bool gated) {
    gemm_epilogue e;
    do e.act = static_cast<activation>(any(gated ? 0 : 1, activation_count - 1));
    while (!gated && is_gate_only(e.act));
    for (operand_row const& r : operand_rows) {
      if (r.vector == nullptr || r.of_groups) continue;
      if (r.is == role::bias)
        e.bias = static_cast<along>(any(0, 2));
      else if (any(0, 1) != 0)
        e.*r.vector = r.over_lines;
    }
    e.c_last = gated || any(0, 1) != 0;
    if (gated) e.gate = any(0, 1) != 0 ? gating::split : gating::interleaved;
    return e;
  }

  void judge(gemm_plan const& plan, gemm_operands const& o, emu::options const& options,
             run_key const& key, kernel_result& result) const {
    ++result.runs;
    try {
      gemm_emulated(plan, o, options);
    } catch (emu::fault const& f) {
      workspace_.clear();
      ++result.bad_runs;
      for (emu::diagnosis const& d : f.diagnoses())
        result.add({d.code, d.kind, d.text, d.count, 0, key, {}}, &d == &f.diagnoses().front());
      return;
    }
    if (plan.stage_d) ++result.runs_of_two_launches;
    if (!workspace_.kept(plan)) {
      ++result.bad_runs;
      result.add(workspace_.beyond(plan, key));
      return;
    }
    check_report const c = check_gemm(plan.problem, o);
    result.elements += c.rows_checked * c.cols;
    if (c.passed()) return;
    ++result.bad_runs;
    result.wrong_elements += c.wrong;
    result.add({"",
                "wrong-elements",
                fmt::format("wrong elements: {} of {}{} in this run", c.wrong, c.rows * c.cols,
                            c.wrong_scales == 0 ? ""
                                                : fmt::format(", and {} of {} scales of D",
                                                              c.wrong_scales, c.scales)),
                c.wrong + c.wrong_scales,
                0,
                key,
                {}});
  }

  checked_kernel const& kernel_;
  kernel_facts facts_;
  std::vector<shape> const& shapes_;
  emu::tensor_order fences_;
  checked_workspace const workspace_;
};

}  // namespace

std::vector<kernel_result> check_gemm_kernels(request const& r) {
  emu::tensor_order const fences = r.tensor_fences;
  return run_kernels(r, [fences](checked_kernel const& k, std::vector<shape> const& shapes) {
    auto const runner = std::make_shared<gemm_runner>(k, shapes, fences);
    return [runner](int run, run_key const& key, kernel_result& result) {
      runner->run(run, key, result);
    };
  });
}

}  // namespace tw::hazards
