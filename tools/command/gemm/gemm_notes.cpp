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

/// An operand and its options.
struct noted_operand {
  char const* name;   // "A"
  char const* small;  // "a"
  std::string const &address, &scale, &second;
  std::optional<scaling> const& quantised_with;
  bool reciprocal;
  matrix_view const& file;
  elem used;
  float const* level;
  bool one_scale;  // for the whole matrix
};

/// Has an .npy file bytes without a type that are all codes of e2m1, and not all 0?
bool looks_like_e2m1(noted_operand const& s) {
  if (s.file.type != unnamed_byte || parse_address(s.address).format != file_format::npy)
    return false;
  bool any = false;
  for (std::int64_t i = 0; i < s.file.count().count; ++i) {
    auto const code = std::to_integer<unsigned>(s.file.data[i]);
    if (code > 0xF) return false;
    any = any || code != 0;
  }
  return any;
}

void add_notes(noted_operand const& s, gemm_request const& r, std::vector<std::string>& notes) {
  if (!r.dtype && !r.format && looks_like_e2m1(s))
    notes.push_back(
        fmt::format("{0} is read as e4m3, and no byte of it is above 15: if they are "
                    "codes of e2m1, add --dtype nvfp4 or mxfp4",
                    s.name));
  if (!r.format && is_wide(s.file) && !s.scale.empty() && !s.quantised_with &&
      size_bits(s.used) == 8)
    notes.push_back(fmt::format(
        "the values of {0} are rounded to {1}, not divided by its scale; {2}", s.name, name(s.used),
        s.one_scale ? fmt::format("--scaling-{0} tensor divides them by --scale-{0} first", s.small)
                    : fmt::format("--scaling-{0} without --scale-{0} computes scales and "
                                  "divides by them",
                                  s.small)));
  if (s.level == nullptr || s.second.empty() || s.reciprocal) return;
  bool const by_name = s.second.ends_with("global_scale");
  if (*s.level > 1 || by_name)
    notes.push_back(
        fmt::format("the second level of {0} is {1:g}{2}: compressed-tensors stores "
                    "1 / scale (weight_global_scale), which --scale2-{3}-as "
                    "reciprocal reads",
                    s.name, *s.level, *s.level > 1 ? ", above 1" : "", s.small));
}

}  // namespace

std::vector<std::string> notes_of(gemm_request const& r, gemm_files const& f) {
  std::vector<std::string> notes;
  gemm_problem const& p = f.problem();
  if (f.nothing_to_compute()) return notes;
  auto const is_one = [](std::optional<scale_desc> const& s) {
    return s && scaling_of(*s) == scaling::tensor;
  };
  add_notes({"A", "a", r.a, r.scale_a, r.second_a, r.scaling_a, r.second_a_is_reciprocal, f.a(),
             p.a.type, f.second_level_a(), is_one(p.scale_a)},
            r, notes);
  add_notes({"B", "b", r.b, r.scale_b, r.second_b, r.scaling_b, r.second_b_is_reciprocal, f.b(),
             p.b.type, f.second_level_b(), is_one(p.scale_b)},
            r, notes);
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
