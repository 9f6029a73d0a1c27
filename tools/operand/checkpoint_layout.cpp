// SPDX-License-Identifier: Apache-2.0
// checkpoint_layout.cpp  One function for each layout.
#include "tools/operand/checkpoint_layout.hpp"

#include <fmt/format.h>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tools/io/refuse.hpp"

namespace tw {
namespace {

struct layout_word {
  char const *text, *has;
  checkpoint_layout layout;
};
constexpr layout_word layouts[] = {
    {"deepseek", "--to e4m3 --scaling 128x128, with --scale-type f32 or ue8m0",
     checkpoint_layout::deepseek},
    {"modelopt", "--to nvfp4, or --to e4m3 --scaling tensor or 128x128",
     checkpoint_layout::modelopt},
    {"compressed-tensors",
     "--to nvfp4 or mxfp4, --to e4m3 --scaling tensor, row or 128x128, or --to s8 --scaling tensor "
     "or row",
     checkpoint_layout::compressed_tensors}};

layout_word const& word_of(checkpoint_layout layout) {
  for (layout_word const& w : layouts)
    if (w.layout == layout) return w;
  return layouts[0];
}

bool layout_has(checkpoint_layout layout, weight_quantisation const& q) {
  bool const tensor = q.kind == scaling::tensor, row = q.kind == scaling::row;
  bool const square = q.kind == scaling::block_128x128;
  bool const as_v31 = layout == checkpoint_layout::deepseek && q.scale_type == elem::ue8m0;
  if (q.scale_type != elem::f32 && !as_v31) return false;
  switch (layout) {
    case checkpoint_layout::deepseek: return !q.format && q.to == elem::e4m3 && square;
    case checkpoint_layout::modelopt:
      return q.format ? q.format == block_format::nvfp4 : q.to == elem::e4m3 && (tensor || square);
    case checkpoint_layout::compressed_tensors:
      if (q.format) return q.format != block_format::mxfp8;
      return (q.to == elem::e4m3 && (tensor || row || square)) ||
             (q.to == elem::s8 && (tensor || row));
  }
  return false;
}

std::string text_of(weight_quantisation const& q) {
  return q.format ? fmt::format("--to {}", traits_of(*q.format).name)
                  : fmt::format("--to {} --scaling {}{}", name(q.to), name(q.kind),
                                q.scale_type == elem::f32
                                    ? ""
                                    : fmt::format(" --scale-type {}", q.scale_type == elem::s32
                                                                          ? "ue8m0x4"
                                                                          : name(q.scale_type)));
}

}  // namespace

std::optional<checkpoint_layout> parse_checkpoint_layout(std::string_view text) {
  for (layout_word const& w : layouts)
    if (text == w.text) return w.layout;
  return std::nullopt;
}

std::vector<std::string> checkpoint_layout_words() {
  std::vector<std::string> all;
  for (layout_word const& w : layouts) all.emplace_back(w.text);
  return all;
}

checkpoint_weight checkpoint_weight_of(checkpoint_layout layout, weight_quantisation const& q,
                                       matrix_address const& out) {
  layout_word const& w = word_of(layout);
  std::string const option = fmt::format("--checkpoint {}", w.text);
  if (!layout_has(layout, q)) refuse("TW0615", option, text_of(q), w.has);
  bool const named = out.tensor == "weight" || out.tensor.ends_with(".weight");
  if (out.format != file_format::safetensors || !named)
    refuse("TW0615", option, out.text(), "FILE.safetensors:NAME.weight as OUT",
           "the scales get names beside it");
  std::string const prefix = out.tensor.substr(0, out.tensor.size() - std::string("weight").size());
  auto const beside = [&](char const* suffix) {
    return matrix_address{out.format, out.path, prefix + suffix};
  };
  checkpoint_weight c{out, beside("weight_scale"), {}};
  c.in_bytes = q.format.has_value();
  switch (layout) {
    case checkpoint_layout::deepseek: c.scales = beside("weight_scale_inv"); break;
    case checkpoint_layout::modelopt: c.second = beside("weight_scale_2"); break;
    case checkpoint_layout::compressed_tensors:
      if (q.format) c.values = beside("weight_packed");
      c.second = beside("weight_global_scale");
      c.reciprocal = true;
      break;
  }
  return c;
}

std::optional<std::vector<std::int64_t>> scale_shape_in(checkpoint_layout layout, scaling kind,
                                                        std::int64_t rows, std::int64_t cols) {
  if (layout == checkpoint_layout::modelopt && kind == scaling::block_128x128)
    return {{blocks_in(rows, 128), 1, blocks_in(cols, 128), 1}};
  if (layout == checkpoint_layout::compressed_tensors && kind == scaling::tensor) return {{1}};
  return std::nullopt;
}

}  // namespace tw
