// SPDX-License-Identifier: Apache-2.0
// no_kernel.cpp  Fused kernels are fewer: tries which single change would find one.
#include "dispatch/plan/no_kernel.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "family/normal_form.hpp"
#include "tilewright/base/elem_text.hpp"
#include "tilewright/family/family.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/block_scaled.hpp"
#include "tilewright/problem/epilogue_kind.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw {
namespace {

/// Does a kernel of the family compute `q`, as run, on `dev`?
bool computes_on(gemm_family const& f, gemm_problem const& q, device const& dev) {
  if (!f.computes(q)) return false;
  gemm_plan base;
  base.problem = base.normal = q;
  std::vector<gemm_plan> plans;
  f.add_plans(base, dev, 0, plans);
  return !plans.empty();
}

/// Does a kernel for `dev` compute it? Without a device: for any.
bool any_computes(gemm_problem const& p, device const* dev) {
  bool const gated = p.epilogue.gate != gating::none;
  for (bool const swapped : {false, true}) {
    if (swapped && gated) break;
    gemm_problem const q = swapped ? transposed(p) : p;
    for (gemm_family const* f : families())
      if (dev == nullptr ? f->computes(q) : computes_on(*f, q, *dev)) return true;
  }
  return false;
}

char const* kind_of(gemm_problem const& p) {
  auto const epilogue = epilogue_needed(p);
  return epilogue ? all_epilogues[*epilogue].text : "with this epilogue";
}

char const* text_of(order o) { return o == order::row_major ? "row-major" : "column-major"; }

rejection refused(char const* what, gemm_problem const& p, std::string const& got,
                  std::string const& need, std::string const& hint) {
  return {"TW0414", fmt::format("{} {}", what, kind_of(p)), got, need, hint};
}

void turn(matrix_desc& m) { m = transposed(m); }

/// Types of D that a kernel has for the rest of the problem: "bf16, the type of A and B, or f32".
std::string result_types_of(gemm_problem p, device const& dev) {
  std::vector<std::string> found;
  elem const own = p.a.type;
  std::vector<elem> types{own, elem::bf16, elem::f16, elem::f32};
  for (std::size_t i = 0; i < types.size(); ++i) {
    p.d.type = types[i];
    if (p.aux) p.aux->type = types[i];
    bool const twice = i > 0 && types[i] == own;
    if (!twice && any_computes(p, &dev))
      found.push_back(name(types[i]) + std::string(i == 0 ? ", the type of A and B" : ""));
  }
  if (found.empty()) return "";
  std::string text = found.front();
  for (std::size_t i = 1; i < found.size(); ++i)
    text += (i + 1 < found.size() ? ", " : ", or ") + found[i];
  return text;
}

/// Types of D and of A and B for which kernels have this epilogue: "bf16 from bf16, f16 from f16".
std::string types_with_epilogue(gemm_problem p, device const& dev) {
  p.precision = {};
  for (role const x : a_and_b) scale(p, x).reset();
  p.a.ord = p.d.ord = order::row_major, p.b.ord = order::col_major;
  if (p.aux) p.aux->ord = order::row_major;
  std::vector<std::string> found;
  for (elem const ab : elems_that([](elem e) { return traits_of(e).mma_operand; }))
    for (elem const d : are_operands(ab, ab) ? result_types(ab, ab) : std::vector<elem>{}) {
      p.a.type = p.b.type = ab, p.d.type = d;
      if (p.aux) p.aux->type = d;
      if (any_computes(p, &dev)) found.push_back(fmt::format("{} from {}", name(d), name(ab)));
    }
  return fmt::format("{}", fmt::join(found, ", "));
}

/// 8-bit floats: the promotion interval that a kernel with this epilogue has.
std::optional<rejection> other_promotion(gemm_problem const& p, device const& dev) {
  if (!is_fp8(p.a.type)) return std::nullopt;
  gemm_problem q = p;
  auto const words = [](int k) { return k == 0 ? std::string("never") : fmt::format("{}", k); };
  for (int const k : {128, 0}) {
    q.precision.promote_k = k;
    if (k == p.precision.promote_k || !any_computes(q, &dev)) continue;
    std::string const types = result_types_of(p, dev);
    return refused("promotion interval", p, words(p.precision.promote_k), words(k),
                   fmt::format("gemm_problem::precision.promote_k = {}{}", k,
                               types.empty() ? "" : "; or D of " + types));
  }
  return std::nullopt;
}

}  // namespace

rejection no_kernel(gemm_problem const& p, device const& dev) {
  gemm_problem loaded = p;  // operands of such types are rearranged first
  if (traits_of(multiplied_type(p.a.type)).k_major_only)
    loaded.a.ord = order::row_major, loaded.b.ord = order::col_major;
  auto const with = [&](void (*change)(gemm_problem&)) {
    gemm_problem changed = p;
    change(changed);
    return any_computes(changed, &dev);
  };
  if (auto r = other_promotion(loaded, dev)) return *r;
  // A remedy beside the first one, if there is an epilogue.
  bool const fused = operands_needed(p) != epilogue_operands{};
  std::string const separately = fused ? "compute the GEMM and the epilogue separately" : "";
  std::string const apart = fused ? ", or " + separately : "";
  if (std::string const types = result_types_of(loaded, dev); !types.empty())
    return refused("type of D", p, std::string(name(p.d.type)), types,
                   "convert D afterwards" + apart);
  if (with([](gemm_problem& q) { turn(q.a); }))
    return refused("order of A", p, text_of(p.a.ord), "row-major: rows contiguous along K",
                   "np.ascontiguousarray makes it so" + apart);
  if (with([](gemm_problem& q) { turn(q.b); }))
    return refused("order of B", p, text_of(p.b.ord), "column-major: columns contiguous along K",
                   "store B as (N, K) row by row: gemm_problem::b.ord = order::col_major" + apart);
  auto const turn_d = [](gemm_problem& q) {
    turn(q.d);
    if (q.aux) turn(*q.aux);
  };
  if (with(turn_d))
    return refused("order of D", p, text_of(p.d.ord), text_of(transposed(p.d).ord), "");
  if (any_computes(loaded, nullptr)) {
    std::string others;
    for (gemm_family const* f : families())
      if (f->computes(loaded) || f->computes(transposed(loaded)))
        others += fmt::format("{}{}", others.empty() ? "" : ", ", f->id());
    return {
        "TW0471", fmt::format("kernel for this GEMM on {}", dev.name),
        fmt::format("none: {} computes it, for another architecture", others),
        is_block_scaled(p)
            ? "a device of compute capability 10.0 or 10.3 (b200, gb300) for block scaling "
              "(docs/block_scaling.md)"
            : "a GEMM that kernels for this device compute (docs/blackwell.md, docs/ampere.md)",
        is_block_scaled(p) ? "in the emulator: plan_gemm() with emulated_device(options, \"b200\")"
        : p.aux ? "bf16 or f16 operands, or no auxiliary output, or in the emulator a plan for "
                  "another known_device()"
                : "bf16 or f16 operands, or on Blackwell 8-bit floats, or in the emulator a plan "
                  "for another known_device()"};
  }
  if (p.has_pointers())
    return refused("batch", p, "matrices by pointers", "a batch by strides", "");
  if (scales_in_main_loop(loaded)) {
    gemm_problem other = loaded;
    for (role const x : a_and_b) scale(other, x).reset();
    if (any_computes(other, &dev))
      return refused("scales of A and B", p, "scales for blocks of K",
                     "scales of tensors, rows or columns", separately);
  }
  return refused("matrices", p,
                 fmt::format("A {}, B {}, D {} {} from {}", text_of(p.a.ord), text_of(p.b.ord),
                             text_of(p.d.ord), name(p.d.type), name(p.a.type)),
                 "row-major A, column-major B, row-major D; types of D and of A and B: " +
                     types_with_epilogue(p, dev),
                 separately);
}

}  // namespace tw
