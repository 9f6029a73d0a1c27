// SPDX-License-Identifier: Apache-2.0
// accept_weights.cpp  Format, type, order and strides of weights, and the other operands.
#include "problem/accept_weights.hpp"

#include <fmt/format.h>

#include "tilewright/problem/operand.hpp"
#include "tilewright/problem/scale_place.hpp"
#include "tilewright/problem/weights_desc.hpp"

namespace tw {
namespace {

char const* text_of(gating g) {
  return g == gating::none    ? "no gate"
         : g == gating::split ? "a split gate"
                              : "an interleaved gate";
}

constexpr int weights_promote_k = 2 * weight_block;

std::optional<rejection> check_one(gemm_problem const& p, role x) {
  weight_format const& f = weights(p, x);
  matrix_desc const& m = *matrix_of(p, x);
  char const* const text = row_of(x).text;
  std::int64_t const outer = outer_extent(p, x);
  if (auto const why = accept(weights_desc{outer, p.k, 1, f})) return why;
  auto const refuse = [](std::string what, std::string got, std::string need,
                         std::string hint = "") {
    return rejection{"TW0467", std::move(what), std::move(got), std::move(need), std::move(hint)};
  };
  matrix_desc const& other = *matrix_of(p, x == role::a ? role::b : role::a);
  if (f.fp8 != (m.type == elem::e4m3) || (f.fp8 && other.type != elem::e4m3))
    return refuse(
        "activations of a GEMM with 4-bit weights", name(f.fp8 ? other.type : m.type),
        f.fp8 ? "e4m3: the weights are prepared for it"
              : "bf16 or f16: the weights are prepared for 16 bits",
        "prepare the weights for the type of the activations, or convert the activations");
  if (f.fp8 && p.precision.promote_k != weights_promote_k)
    return refuse(
        "promotion of sums with 4-bit weights for e4m3",
        p.precision.promote_k == 0 ? "none" : fmt::format("every {}", p.precision.promote_k),
        fmt::format("every {} of K, as their factors have", weights_promote_k));
  if (!f.fp8 && m.type != elem::bf16 && m.type != elem::f16)
    return refuse("activations of a GEMM with 4-bit weights", name(m.type), "bf16, f16 or e4m3",
                  "convert the activations");
  if (f.code == weight_code::int4 && !f.fp8 && f.scale != m.type)
    return refuse("activations of a GEMM with int4 weights", name(m.type),
                  fmt::format("{}, the type of their scales", name(f.scale)),
                  fmt::format("prepare the weights with scales of {}, which rounds the scales",
                              name(m.type)));
  order const k_major = x == role::a ? order::row_major : order::col_major;
  if (m.ord != k_major || m.pitch_elems != p.k)
    return refuse(fmt::format("order of {}, prepared weights", text),
                  fmt::format("{}, leading dimension {}",
                              m.ord == order::row_major ? "row_major" : "col_major", m.pitch_elems),
                  fmt::format("{}, leading dimension K = {}: weights are (N, K)",
                              k_major == order::row_major ? "row_major" : "col_major", p.k));
  if (m.batch_stride_elems != 0 && m.batch_stride_elems != outer * p.k)
    return refuse(
        fmt::format("batch stride of {}, prepared weights", text),
        fmt::format("{} elements", m.batch_stride_elems),
        fmt::format("0, the same weights for all, or {}: the matrices of a prepared tensor follow "
                    "each other",
                    outer * p.k));
  return std::nullopt;
}

}  // namespace

std::optional<rejection> check_weights(gemm_problem const& p) {
  if (!has_weights(p)) return std::nullopt;
  auto const refuse = [](char const* got, char const* need) {
    return rejection{"TW0467", "a GEMM with 4-bit weights", got, need, ""};
  };
  if (p.weights_a && p.weights_b) return refuse("weights in A and in B", "one of them");
  role const x = p.weights_a ? role::a : role::b;
  if (scale(p, x)) return refuse("scales of the weights", "none: prepared weights contain theirs");
  if (has_scales(p) && (!weights(p, x).fp8 || scales_in_main_loop(p)))
    return refuse("scales of the activations", weights(p, x).fp8
                                                   ? "none, one for all, or one for each row"
                                                   : "none: their type has 16 bits");
  gating const gate = p.epilogue.gate, prepared_for = weights(p, x).gate;
  if (gate != gating::none && x == role::a)
    return refuse("a gate of columns of A B, weights in A", "weights in B");
  if (gate != prepared_for)
    return rejection{
        "TW0467", "gate of a GEMM with 4-bit weights", text_of(gate),
        fmt::format("{}, which the weights are prepared for", text_of(prepared_for)),
        "prepared for this gate, weights have gate and up rows 8 apart (`tilewright prepare`)"};
  if (p.groups && p.groups->axis == group_axis::k)
    return refuse("groups of K", "groups of rows, or none");
  return check_one(p, x);
}

}  // namespace tw
