// SPDX-License-Identifier: Apache-2.0
// no_kernel_special.cpp  Groups and 4-bit weights without a kernel: which single change has one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tuple>
#include <utility>
#include <vector>

#include "dispatch/plan/no_kernel.hpp"
#include "family/workspace.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/problem/epilogue_kind.hpp"
#include "tilewright/problem/weights_desc.hpp"

namespace tw {
namespace {

char const* word_of(order o) { return o == order::row_major ? "row-major" : "column-major"; }

std::string matrix_text(char const* matrix, matrix_desc const& m) {
  return fmt::format("{} {} {}", matrix, name(m.type), word_of(m.ord));
}

/// The epilogue of the problem, for a message: " with a gate".
std::string epilogue_text(gemm_problem const& p) {
  auto const kind = epilogue_needed(p);
  return kind && operands_needed(p) != epilogue_operands{}
             ? std::string(" ") + all_epilogues[*kind].text
             : "";
}

/// Changes of a problem, tried one by one.
class changes {
 public:
  changes(gemm_problem const& p, device const& dev, has_plan_for const& has)
      : p_(p),
        dev_(dev),
        has_(has) {}

  /// Keeps `text` if `change` makes a problem that differs and has a plan.
  template <class F>
  void try_one(std::string text, F change) {
    gemm_problem q = p_;
    if (change(q) && has_(q, dev_)) found_.push_back(std::move(text));
  }
  /// Changes that groups and weights have in common.
  void try_common() {
    if (dev_.compute_capability != 90 && has_(p_, known_device("h200")))
      found_.emplace_back("a GPU of compute capability 9.0");
    for (elem const type : {elem::bf16, elem::f16, elem::f32})
      try_one(fmt::format("D of {}", name(type)),
              [&](gemm_problem& q) { return std::exchange(q.d.type, type) != type; });
    for (auto const& [matrix, member, wanted] :
         {std::tuple{"A", &gemm_problem::a, order::row_major},
          std::tuple{"B", &gemm_problem::b, order::col_major},
          std::tuple{"D", &gemm_problem::d, order::row_major}})
      try_one(fmt::format("a {} {}", word_of(wanted), matrix), [&](gemm_problem& q) {
        matrix_desc& m = q.*member;
        return std::exchange(m.ord, wanted) != wanted;
      });
    try_one("alpha and beta C alone, the epilogue separately", [](gemm_problem& q) {
      q.weights_a.gate = q.weights_b.gate = gating::none;
      return std::exchange(q.epilogue, gemm_epilogue{}) != gemm_epilogue{};
    });
  }
  /// "D of bf16, or a row-major A"; `otherwise` if nothing was found.
  std::string text(std::string otherwise) const {
    return found_.empty() ? otherwise : fmt::format("{}", fmt::join(found_, ", or "));
  }

 private:
  gemm_problem const& p_;
  device const& dev_;
  has_plan_for const& has_;
  std::vector<std::string> found_;
};

}  // namespace

rejection no_kernel_for_weights(gemm_problem const& p, device const& dev, has_plan_for const& has) {
  role const x = p.weights_a ? role::a : role::b;
  weight_format const& f = weights(p, x);
  matrix_desc const& other = *matrix_of(p, x == role::a ? role::b : role::a);
  changes tried(p, dev, has);
  tried.try_common();
  bool const of_scales = f.code == weight_code::int4;
  tried.try_one(of_scales ? "bf16 activations and D, and weights with scales of bf16"
                          : "bf16 activations and D",
                [&](gemm_problem& q) {
                  if (f.fp8 || other.type == elem::bf16) return false;
                  q.a.type = q.b.type = q.d.type = elem::bf16;
                  if (of_scales) (x == role::a ? q.weights_a : q.weights_b).scale = elem::bf16;
                  return true;
                });
  tried.try_one("a GEMM for each group", [](gemm_problem& q) {
    q.epilogue.row_weight = {};
    return std::exchange(q.groups, std::nullopt).has_value();
  });
  return {"TW0467", "a GEMM with 4-bit weights",
          fmt::format("{} weights, {} {} activations, D {} {}{}{}, compute capability {:.1f}",
                      text_of(f), word_of(other.ord), name(other.type), word_of(p.d.ord),
                      name(p.d.type), p.groups ? ", groups" : "", epilogue_text(p),
                      dev.compute_capability / 10.0),
          tried.text("a format and types that a Hopper kernel has"),
          "docs/weights4.md lists the kernels"};
}

rejection no_kernel_for_groups(gemm_problem const& p, gemm_operands const& o, device const& dev,
                               has_plan_for const& has) {
  for (auto const& [name, m, matrices, base] :
       {std::tuple{"A", &p.a, p.a_matrices(), o.a}, {"B", &p.b, p.b_matrices(), o.b}})
    if (!tma_addressable(*m, 2, matrices, base))
      return {"TW0495", fmt::format("{} of a GEMM of groups", name),
              fmt::format("a leading dimension of {} bytes, batch stride of {} bytes, address {}",
                          m->pitch_bytes(), m->batch_stride_bytes(), fmt::ptr(base)),
              "multiples of 16 bytes: TMA reads the operand in place",
              fmt::format("pad the lines with zeros to a multiple of {} elements",
                          16 / size_bytes(m->type))};
  changes tried(p, dev, has);
  tried.try_common();
  tried.try_one("rows that are not gathered",
                [](gemm_problem& q) { return std::exchange(q.groups->gather_from, 0) != 0; });
  return {"TW0494",
          fmt::format("a GEMM of groups of {}", group_axis_names[static_cast<int>(p.groups->axis)]),
          fmt::format("{}, {}, {}{}{}", matrix_text("A", p.a), matrix_text("B", p.b),
                      matrix_text("D", p.d), epilogue_text(p),
                      p.groups->gather_from != 0 ? ", gathered rows" : ""),
          tried.text("types and orders that a kernel has"), "docs/groups.md lists the kernels"};
}

}  // namespace tw
