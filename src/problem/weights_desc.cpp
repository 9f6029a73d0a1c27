// SPDX-License-Identifier: Apache-2.0
// weights_desc.cpp  The rules that prepared weights keep.
#include "tilewright/problem/weights_desc.hpp"

#include <fmt/format.h>

#include <utility>

namespace tw {
namespace {

rejection not_preparable(std::string what, std::string got, std::string need,
                         std::string hint = "") {
  return {"TW0465", std::move(what), std::move(got), std::move(need), std::move(hint)};
}

bool is_16_bits(elem scale) { return scale == elem::bf16 || scale == elem::f16; }

}  // namespace

std::optional<rejection> accept(weights_desc const& w) {
  weight_format const& f = w.format;
  constexpr std::int64_t limit = std::int64_t{1} << 30;
  constexpr int k_of_factor = 2 * weight_block;  // of the order for e4m3
  if (w.n < 1 || w.k < 1 || w.matrices < 1 || w.n > limit || w.k > limit || w.matrices > limit ||
      static_cast<double>(w.matrix_bytes()) * static_cast<double>(w.matrices) > 0x1p44)
    return not_preparable("extents of the weights",
                          fmt::format("{} x ({}, {})", w.matrices, w.n, w.k),
                          "1 to 2^30 each, and at most 2^44 bytes");
  if (w.k % 2 != 0)
    return not_preparable("K of 4-bit weights", fmt::format("{}", w.k), "an even number",
                          "two elements fill a byte: add a column of zeros");
  if (f.gate != gating::none && w.n % (2 * 8) != 0)
    return not_preparable("rows of 4-bit weights for a gate", fmt::format("{}", w.n),
                          "a multiple of 16: 8 gate rows, then the 8 rows that they multiply",
                          "add rows of zeros to both halves");
  struct known {
    weight_code code;
    bool group, scale;
    char const *groups, *scales;
  };
  bool const of_int4 = f.fp8 ? f.group >= 0 && f.group % k_of_factor == 0
                             : f.group == 0 || f.group == 16 || f.group == 32 ||
                                   (f.group > 0 && f.group % weight_block == 0);
  if (f.fp8 && f.code == weight_code::nvfp4)
    return not_preparable(
        "format of 4-bit weights for e4m3 activations", name(f.code), "mxfp4 or int4",
        "its numbers have up to 6 significant bits, e4m3 has 4: prepare for bf16");
  if (f.fp8 && f.zeros == weight_zeros::floats)
    return not_preparable(
        "zero points of int4 for e4m3 activations", name(f.zeros), "integers, or none",
        "e4m3 does not hold a weight with an added float: prepare for bf16 or f16");
  known const rows[] = {
      {weight_code::mxfp4, f.group == 32, f.scale == elem::ue8m0, "32", "ue8m0"},
      {weight_code::nvfp4, f.group == 16, f.scale == elem::ue4m3, "16", "ue4m3"},
      {weight_code::int4, of_int4, f.fp8 ? f.scale == elem::f32 : is_16_bits(f.scale),
       f.fp8 ? "a multiple of 128, or 0: all K, for e4m3 activations"
             : "16, 32, a multiple of 64, or 0: all K",
       f.fp8 ? "f32" : "bf16 or f16"}};
  for (known const& r : rows) {
    if (r.code != f.code) continue;
    if (!r.group)
      return not_preparable(fmt::format("group of {}", name(f.code)),
                            fmt::format("{} elements", f.group), r.groups,
                            f.fp8               ? "prepare for bf16 or f16"
                            : f.group % 16 == 0 ? "repeat the scales: groups of 16 have their bits"
                                                : "quantise again with one of these groups");
    if (!r.scale)
      return not_preparable(fmt::format("scales of prepared {}", name(f.code)), name(f.scale),
                            r.scales);
    if (f.group != 0 && w.k % f.group != 0)
      return not_preparable(fmt::format("groups of {} elements along K", f.group),
                            fmt::format("K = {}", w.k), "a K that they divide",
                            "add columns of zeros, with scales");
    if (f.zeros != weight_zeros::none && f.code != weight_code::int4)
      return not_preparable(fmt::format("zero points of {}", name(f.code)), name(f.zeros), "none");
    return std::nullopt;
  }
  return not_preparable("format of 4-bit weights", name(f.code), "mxfp4, nvfp4 or int4");
}

std::string text_of(weight_format const& f) {
  std::string order = f.fp8 ? ", for e4m3" : "";
  if (f.gate != gating::none)
    order += f.gate == gating::split ? ", for a split gate" : ", for an interleaved gate";
  if (f.code != weight_code::int4) return std::string(name(f.code)) + order;
  return fmt::format("{}, {} scales of {}{}{}", name(f.code), name(f.scale),
                     f.group == 0 ? "a row" : fmt::format("{} elements", f.group),
                     f.zeros == weight_zeros::none       ? ""
                     : f.zeros == weight_zeros::integers ? ", integer zero points"
                                                         : ", float zero points",
                     order);
}

}  // namespace tw
