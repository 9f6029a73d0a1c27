// SPDX-License-Identifier: Apache-2.0
// accept_weights.cpp  Format, type, order and strides of weights, and the other operands.
#include "problem/accept_weights.hpp"

#include <fmt/format.h>

#include "tilewright/problem/operand.hpp"
#include "tilewright/problem/weights_desc.hpp"

namespace tw {
namespace {

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
  bool const bf16 = m.type == elem::bf16;
  if (!bf16 && m.type != elem::f16)
    return refuse("activations of a GEMM with 4-bit weights", name(m.type), "bf16 or f16",
                  "convert the activations");
  if (f.code == weight_code::mxfp4 && !bf16)
    return refuse("activations of a GEMM with mxfp4 weights", name(m.type), "bf16",
                  "scales of 2^-127 to 2^127 do not fit in f16: convert the activations");
  if (f.code == weight_code::int4 && f.scale != m.type)
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
  if (has_scales(p)) return refuse("scales of A or B", "none: prepared weights contain theirs");
  if (p.epilogue.gate != gating::none)
    return refuse("a gate", "no gate: compute gate and up as one GEMM, and the gate afterwards");
  if (p.groups && p.groups->axis == group_axis::k)
    return refuse("groups of K", "groups of rows, or none");
  return check_one(p, p.weights_a ? role::a : role::b);
}

}  // namespace tw
