// SPDX-License-Identifier: Apache-2.0
// tensor_scales.cpp  Tensors of scales: recognised by the conventions of the libraries, with
//                    refusals that name the argument.
#include <fmt/format.h>

#include <algorithm>

#include "dispatch/tensors/read_tensor.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_result.hpp"

namespace tw {
namespace {

constexpr block_format block_formats[] = {block_format::mxfp8, block_format::mxfp4,
                                          block_format::nvfp4};

/// The refusal of a convention with the argument that it is about.
rejection about(rejection r, std::string const& argument) {
  r.what = argument;
  for (auto const& [of_library, of_argument] :
       {std::pair<std::string, std::string>{"the argument `choice`, parse_scale_choice() of ",
                                            argument + "_as = "},
        {"the argument `order`, factor_order::linear or factor_order::swizzled",
         argument + "_as = linear or 32x4x4"}})
    if (std::size_t const at = r.hint.find(of_library); at != std::string::npos)
      r.hint.replace(at, of_library.size(), of_argument);
  return r;
}

scale_desc found_or_thrown(std::variant<scale_desc, rejection> const& found, char const* argument) {
  if (auto const* why = std::get_if<rejection>(&found)) throw rejected(about(*why, argument));
  return std::get<scale_desc>(found);
}

scale_choice choice_of_word(std::string_view word, char const* argument) {
  if (word.empty()) return {};
  auto const choice = parse_scale_choice(word);
  if (!choice)
    refuse_argument("TW0486", fmt::format("{}_as", argument), std::string(word),
                    scale_choice_words() + "; of a block-scaled format linear or 32x4x4");
  return *choice;
}

/// A scale for each row or column and each group, (G, N) as torch has it: (G, N, 1).
scale_tensor with_groups_in_front(scale_tensor const& s, scaled_operand const& x,
                                  gemm_problem const& p, std::string_view as) {
  bool const rows = s.rank == 2 && s.shape[0] == x.batch && s.shape[1] == x.outer;
  bool const each = p.groups && x.batch == p.groups->count;
  if (!rows || !each || as.find("128") != std::string_view::npos) return s;
  return {s.type, 3, {s.shape[0], s.shape[1], 1}, {s.stride[0], s.stride[1], 1}};
}

/// Can the scales of A or B be read so? Those that are not given can.
bool fits(gemm_arguments const& g, gemm_problem const& p, role x,
          std::optional<block_format> format) {
  role const scales = scales_of(x);
  tensor_argument const* const t = tensor_of_role(g, scales);
  if (t == nullptr) return true;
  std::string_view const as = convention_of_role(g, scales);
  scale_tensor const s = scale_tensor_of(*t, row_of(scales).word);
  auto const can_be = [](auto const& found) {
    return std::holds_alternative<scale_desc>(found) || std::get<rejection>(found).code == "TW0451";
  };
  if (format) {
    auto const order = parse_factor_order(as);
    if (!as.empty() && !order) return false;
    return can_be(recognise_block_scale(s, scaled_operand_of(p, x), *format, order));
  }
  auto const choice = as.empty() ? scale_choice{} : parse_scale_choice(as);
  return choice && can_be(recognise_scale(s, scaled_operand_of(p, x), *choice));
}

bool both_fit(gemm_arguments const& g, gemm_problem const& p, std::optional<block_format> format) {
  return std::ranges::all_of(a_and_b, [&](role x) { return fits(g, p, x, format); });
}

/// The scales that a refusal of both names: the first that are given.
role first_scales(gemm_arguments const& g) {
  for (role const x : a_and_b)
    if (tensor_of_role(g, scales_of(x)) != nullptr) return scales_of(x);
  return role::none;
}

/// The bytes of both scales are of one of two formats.
std::optional<block_format> format_of_bytes(gemm_arguments const& g, gemm_problem const& p,
                                            std::optional<block_format> one,
                                            char const* name_of_one, block_format other) {
  bool const is_one = both_fit(g, p, one), is_other = both_fit(g, p, other);
  if (is_one && is_other)
    refuse_argument(
        "TW0451", row_of(first_scales(g)).word,
        fmt::format("scales of {} or of {}", name_of_one, traits_of(other).name), "one reading",
        fmt::format("name it: format = {}, or scale_a_as and scale_b_as", traits_of(other).name));
  return is_other ? std::optional(other) : one;
}

}  // namespace

block_format format_of_word(std::string_view word, char const* argument) {
  for (block_format const f : block_formats)
    if (word == traits_of(f).name) return f;
  refuse_argument("TW0486", argument, std::string(word), "mxfp8, mxfp4 or nvfp4");
}

std::optional<block_format> format_of_arguments(gemm_arguments const& g, gemm_problem const& p) {
  if (!g.format.empty()) return format_of_word(g.format, "format");
  role const first = first_scales(g);
  if (first == role::none) return std::nullopt;
  elem const scale = element_type(tensor_of_role(g, first)->type, row_of(first).word);
  bool const bytes = scale == elem::u8, powers = is_exponent(scale);
  if (packs_in_pairs(p.a.type) || packs_in_pairs(p.b.type)) {
    if (scale == elem::e4m3) return block_format::nvfp4;
    if (powers) return block_format::mxfp4;
    if (!bytes) return block_format::nvfp4;  // which refuses other types by name
    if (std::ranges::any_of(
            a_and_b, [&](role x) { return tensor_of_role(g, second_level_of(x)) != nullptr; }))
      return block_format::nvfp4;
    return format_of_bytes(g, p, block_format::nvfp4, "nvfp4", block_format::mxfp4);
  }
  if (!is_fp8(p.a.type) || !(bytes || powers)) return std::nullopt;
  return format_of_bytes(g, p, std::nullopt, "1x128 or 128x128", block_format::mxfp8);
}

scale_desc read_scale(gemm_arguments const& g, gemm_problem const& p, role of,
                      std::optional<block_format> format) {
  char const* const argument = row_of(scales_of(of)).word;
  std::string_view const as = convention_of_role(g, scales_of(of));
  scaled_operand const x = scaled_operand_of(p, of);
  scale_tensor const s =
      with_groups_in_front(scale_tensor_of(*tensor_of_role(g, scales_of(of)), argument), x, p, as);
  if (!format)
    return found_or_thrown(recognise_scale(s, x, choice_of_word(as, argument)), argument);
  auto const order = parse_factor_order(as);
  if (!as.empty() && !order)
    refuse_argument("TW0486", fmt::format("{}_as", argument), std::string(as),
                    fmt::format("linear or 32x4x4, for {}", traits_of(*format).name));
  scale_desc d = found_or_thrown(recognise_block_scale(s, x, *format, order), argument);
  d.second_level = tensor_of_role(g, second_level_of(of)) != nullptr;
  return d;
}

result_scale_word parse_result_scale(std::string_view text) {
  result_scale_word w;
  if (text.empty()) return w;
  std::size_t const colon = text.find(':');
  for (block_format const f : block_formats) {
    if (text.substr(0, colon) != traits_of(f).name) continue;
    w.format = f;
    if (colon == std::string_view::npos) return w;
    if (auto const order = parse_factor_order(text.substr(colon + 1))) return w.order = *order, w;
  }
  auto const choice = w.format ? std::nullopt : parse_scale_choice(text);
  bool const computed =
      choice && (choice->kind == scaling::row || choice->kind == scaling::block_1x128);
  if (!computed)
    refuse_argument("TW0486", "scale_d_as", std::string(text),
                    "row, 1x128, LIBRARY:1x128, or mxfp8, mxfp4, nvfp4, also with :linear or "
                    ":32x4x4",
                    "without it scale_d is one float32 that is given");
  w.kind = choice->kind, w.library = choice->library;
  return w;
}

output_scales read_result_scale(gemm_arguments const& g, gemm_problem const& p) {
  constexpr char const* argument = "scale_d";
  result_scale_word const w = parse_result_scale(g.scale_d_as);
  scale_tensor const t = scale_tensor_of(*g.scale_d, argument);
  std::int64_t const cols = result_cols(p.epilogue, p.n);
  std::int64_t count = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.rank); ++i) count *= t.shape[i];
  if (w.format) {
    output_scales const dense = make_block_result(*w.format, p.m, cols, w.order, p.batch);
    gemm_problem with = p;
    with.scale_d = dense;
    bool const bytes = t.type == elem::u8 && t.rank == 1 && (t.stride[0] == 1 || count == 1);
    if (bytes && count == block_result_bytes(with)) return dense;
    if (!dense.desc.second_level) {
      scale_desc const d = found_or_thrown(
          recognise_block_scale(t, scaled_operand_of(p, role::d), *w.format, w.order), argument);
      return {d};
    }
    refuse_argument("TW0616", "shape of scale_d",
                    fmt::format("{} {}", type_name(g.scale_d->type),
                                list_text(g.scale_d->shape, g.scale_d->rank)),
                    fmt::format("uint8 ({},): the factors, and a float32 for each matrix",
                                block_result_bytes(with)));
  }
  if (!w.kind) {
    if (count != 1)
      refuse_argument("TW0616", "shape of scale_d", list_text(g.scale_d->shape, g.scale_d->rank),
                      "one float32 that is given", "scale_d_as = row or 1x128 computes scales");
    if (t.type != elem::f32)
      refuse_argument("TW0483", "type of scale_d", type_name(g.scale_d->type), "float32");
    return {.desc = {}, .given = true};
  }
  scale_desc const d = found_or_thrown(
      recognise_scale(t, scaled_operand_of(p, role::d), {w.kind, w.library}), argument);
  return {d, false, g.scale_d_power_of_two || is_exponent(d.type)};
}

scale_tensor dense_result_scales(result_scale_word const& w, gemm_problem const& p) {
  std::int64_t const cols = result_cols(p.epilogue, p.n);
  if (w.format) {
    gemm_problem with = p;
    with.scale_d = make_block_result(*w.format, p.m, cols, w.order, p.batch);
    return dense_scales(elem::u8, {block_result_bytes(with)});
  }
  if (!w.kind) return dense_scales(elem::f32, {});
  scale_library const library = w.library.value_or(scale_library::torch);
  for (scale_convention const& c : scale_conventions({false, p.m, cols}, elem::f32))
    if (c.kind == *w.kind && c.library == library) return c.tensor;
  refuse_argument("TW0450", "scale_d", "a scaling that the library does not have",
                  scale_choice_words());
}

}  // namespace tw
