// SPDX-License-Identifier: Apache-2.0
// plan_answer.cpp  The other GEMMs are planned on the same device.
#include "tools/report/plan_answer.hpp"

#include <algorithm>
#include <utility>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_scaled.hpp"
#include "tilewright/problem/scale_place.hpp"

namespace tw {
namespace {

/// The least predicted time of a GEMM to compare with, or nothing where this build has no kernel
/// that computes it.
std::optional<double> least_us(gemm_problem const& q, plans_of_problem const& plans_for) try {
  return plans_for(q).front().predicted_us;
} catch (rejected const&) {
  return std::nullopt;
}

/// The GEMM of bf16, without scales.
gemm_problem in_16_bits(gemm_problem q) {
  bool const of_8_bits = !q.scale_d && (size_bytes(q.d.type) == 1 || holds_integer_sums(q.d.type));
  q.a.type = q.b.type = elem::bf16;
  if (of_8_bits) q.d.type = elem::bf16;
  for (role const x : a_and_b) scale(q, x).reset();
  q.precision = {};
  return q;
}

}  // namespace

plan_answer answer_of(gemm_problem const& p, std::string layout, std::string epilogue,
                      device const& dev, std::int64_t workspace_bytes,
                      plans_of_problem const& plans_for) {
  plan_answer a{p, std::move(layout), std::move(epilogue), dev, workspace_bytes, plans_for(p)};
  if (is_fp8(p.a.type) && !is_block_scaled(p) && promotion_interval(p) != 0) {
    gemm_problem never = p;
    never.precision.promote_k = 0;
    for (role const x : a_and_b)
      if (scales_in_main_loop(p)) scale(never, x).reset();
    a.never_promoted_us = least_us(never, plans_for);
  }
  if (p.reproducible) {
    gemm_problem free = p;
    free.reproducible = false;
    a.any_order_us = least_us(free, plans_for);
  }
  if (size_bits(p.a.type) <= 8) a.in_16_bits_us = least_us(in_16_bits(p), plans_for);
  return a;
}

std::string layout_word(gemm_problem const& p) {
  return std::string(p.a.ord == order::row_major ? "T" : "N") +
         (p.b.ord == order::col_major ? "N" : "T");
}

std::string epilogue_word_of(gemm_problem const& p) {
  gemm_epilogue const& e = p.epilogue;
  std::string text;
  auto const add = [&](std::string word) {
    std::ranges::replace(word, '-', '_');
    text += (text.empty() ? "" : "_") + word;
  };
  for (operand_row const& r : operand_rows)
    if (r.vector != nullptr && e.*r.vector) add(r.word);
  activation_names const& act = all_activations.row[static_cast<std::size_t>(e.act)];
  if (e.gate != gating::none)
    add(std::string(act.gated_word) + (e.gate == gating::split ? "_split" : "_interleaved"));
  else if (e.act != activation::none)
    add(act.word);
  if (p.c && e.c_last) add("residual");
  return text;
}

}  // namespace tw
