// SPDX-License-Identifier: Apache-2.0
// gemm_notes.cpp  Looks at types, at bytes of operands and at levels.
#include "tools/command/gemm/gemm_notes.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "tilewright/base/elem_traits.hpp"
#include "tools/io/file_types.hpp"

namespace tw {
namespace {

/// Has an .npy file bytes without a type that are all codes of e2m1, and not all 0?
bool looks_like_e2m1(matrix_view const& file, std::string const& address) {
  if (file.type != unnamed_byte || parse_address(address).format != file_format::npy) return false;
  bool any = false;
  for (std::int64_t i = 0; i < file.count().count; ++i) {
    auto const code = std::to_integer<unsigned>(file.data[i]);
    if (code > 0xF) return false;
    any = any || code != 0;
  }
  return any;
}

/// Notes about A or B.
void add_notes(gemm_request const& r, gemm_files const& f, role x,
               std::vector<std::string>& notes) {
  factor_request const& of = r.of[x];
  matrix_view const& file = f.matrix(x);
  elem const used = matrix_of(f.problem(), x)->type;
  char const *const name_of = row_of(x).text, *const word = row_of(x).word;
  if (!r.dtype && !r.format && looks_like_e2m1(file, of.file))
    notes.push_back(
        fmt::format("{0} is read as e4m3, and no byte of it is above 15: if they are "
                    "codes of e2m1, add --dtype nvfp4 or mxfp4",
                    name_of));
  if (!r.format && is_wide(file) && !of.scale.empty() && !of.quantised_with &&
      size_bits(used) == 8) {
    auto const& s = scale(f.problem(), x);
    notes.push_back(fmt::format(
        "the values of {0} are rounded to {1}, not divided by its scale; {2}", name_of, name(used),
        s && scaling_of(*s) == scaling::tensor
            ? fmt::format("--scaling-{0} tensor divides them by --scale-{0} first", word)
            : fmt::format("--scaling-{0} without --scale-{0} computes scales and "
                          "divides by them",
                          word)));
  }
  float const* const level = f.second_level(x);
  if (level == nullptr || of.second.empty() || of.second_is_reciprocal) return;
  if (*level > 1 || of.second.ends_with("global_scale"))
    notes.push_back(
        fmt::format("the second level of {0} is {1:g}{2}: compressed-tensors stores "
                    "1 / scale (weight_global_scale), which --scale2-{3}-as "
                    "reciprocal reads",
                    name_of, *level, *level > 1 ? ", above 1" : "", word));
}

}  // namespace

std::vector<std::string> notes_of(gemm_request const& r, gemm_files const& f) {
  std::vector<std::string> notes;
  if (f.nothing_to_compute()) return notes;
  for (role const x : a_and_b) add_notes(r, f, x, notes);
  if (f.weights() && !f.weights()->checkpoint_layout().empty())
    notes.push_back(fmt::format(
        "B was prepared first, on the host: `tilewright prepare {} w.npy{}` does that once",
        r.of.b.file,
        f.weights()->desc().format.gate == gating::none    ? ""
        : f.weights()->desc().format.gate == gating::split ? " --gate split"
                                                           : " --gate interleaved"));
  return notes;
}

std::string conversion_text(matrix_view const& scales) {
  if (!scales.doubles && (!is_wide_float(scales.type) || scales.type == elem::f32)) return "";
  bool exact = true;
  for (std::int64_t i = 0; scales.doubles && exact && i < scales.count().count; ++i) {
    double x = 0;
    std::memcpy(&x, scales.data + i * std::int64_t{sizeof x}, sizeof x);
    exact = std::isnan(x) || static_cast<double>(static_cast<float>(x)) == x;
  }
  return fmt::format(", from {}, {}", type_text(scales), exact ? "exactly" : "rounded to float32");
}

}  // namespace tw
