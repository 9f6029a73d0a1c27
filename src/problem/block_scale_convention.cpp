// SPDX-License-Identifier: Apache-2.0
// block_scale_convention.cpp  Shapes of both orders, and the search in them.
#include "tilewright/problem/block_scale_convention.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"

#include <fmt/format.h>

namespace tw {
namespace {

std::string tensor_text(scale_tensor const& t) {
  std::string shape, stride;
  for (std::size_t i = 0; i < static_cast<std::size_t>(t.rank); ++i) {
    shape += fmt::format("{}{}", i == 0 ? "" : ", ", t.shape[i]);
    stride += fmt::format("{}{}", i == 0 ? "" : ", ", t.stride[i]);
  }
  return fmt::format("{} ({}), strides ({})", name(t.type), shape, stride);
}

/// One matrix's scales in a tensor, if they are there in this order.
std::optional<scale_desc> reading(scale_tensor const& t, scaled_operand const& x,
                                  block_format format, factor_order order) {
  scale_desc d = make_block_scale({x.is_b, x.outer, x.k}, format, order);
  std::int64_t const blocks = blocks_in(x.k, d.block_k);
  std::int64_t const rows = order == factor_order::linear ? x.outer : round_up(x.outer, 128);
  std::int64_t const cols = order == factor_order::linear ? blocks : round_up(blocks, 4);
  if (t.rank == 1) {
    if (t.shape[0] == rows * cols && (t.stride[0] == 1 || rows * cols == 1)) return d;
    return std::nullopt;
  }
  if (t.rank != 2 || t.shape[0] != rows || t.shape[1] != cols) return std::nullopt;
  if (order == factor_order::swizzled) {
    bool const dense = t.stride[1] == 1 && t.stride[0] == cols;
    return dense ? std::optional(d) : std::nullopt;
  }
  if ((cols > 1 && t.stride[1] < 1) || (rows > 1 && t.stride[0] < 1)) return std::nullopt;
  d.stride_outer = rows > 1 ? t.stride[0] : cols, d.stride_k = cols > 1 ? t.stride[1] : 1;
  return d;
}

}  // namespace

scale_desc make_block_scale(scaled_operand const& x, block_format format, factor_order order) {
  block_format_traits const f = traits_of(format);
  std::int64_t const blocks = blocks_in(x.k, f.block);
  scale_desc d;
  d.type = f.factor;
  d.block_outer = 1;
  d.block_k = f.block;
  d.second_level = format == block_format::nvfp4;
  if (order == factor_order::linear) {
    d.stride_outer = blocks, d.stride_k = 1;
  } else {
    d.tiled = true;
    d.stride_k = scale_tile_bytes;
    d.stride_outer = scale_tile_bytes * blocks_in(blocks, scale_tile_blocks);
  }
  if (x.batch > 1) d.batch_stride = scale_extent(d, x.outer, x.k);
  return d;
}

std::variant<scale_desc, rejection> recognise_block_scale(scale_tensor const& given,
                                                          scaled_operand const& x,
                                                          block_format format,
                                                          std::optional<factor_order> named) {
  block_format_traits const f = traits_of(format);
  std::string const what = fmt::format("{} scale of {}", f.name, x.is_b ? "B" : "A");
  scale_tensor t = given;
  bool const unsigned_bytes = is_8_bit_integer(t.type) && !is_signed(t.type);
  bool const bytes = unsigned_bytes || t.type == f.factor || t.type == with_sign(f.factor);
  if (bytes) t.type = f.factor;
  std::int64_t batch_stride = 0;
  if (t.rank == 3 && t.shape[0] == x.batch) {
    batch_stride = x.batch > 1 ? t.stride[0] : 0;
    t.rank = 2;
    t.shape = {t.shape[1], t.shape[2], 0}, t.stride = {t.stride[1], t.stride[2], 0};
  }
  std::optional<scale_desc> found[2];
  for (factor_order const order : {factor_order::linear, factor_order::swizzled})
    if (bytes && named.value_or(order) == order)
      found[static_cast<int>(order)] = reading(t, x, format, order);
  bool const nothing = x.outer == 0 || x.k == 0 || x.batch == 0;  // no scales to read
  if (found[0] && found[1] && !nothing)
    return rejection{
        "TW0451", what,
        fmt::format("{}: linear, or 32x4x4 (torch SWIZZLE_32_4_4)", tensor_text(given)),
        "one reading",
        "name it: the argument `order`, factor_order::linear or factor_order::swizzled; "
        "`tilewright quantize` writes 32x4x4"};
  if (!found[0] && !found[1]) {
    std::int64_t const blocks = blocks_in(x.k, f.block);
    return rejection{
        "TW0450", what, tensor_text(given),
        fmt::format(
            "{} ({}, {}) in linear order, or ({}, {}) in 32x4x4, contiguous; or those bytes "
            "as a vector",
            name(f.factor), x.outer, blocks, round_up(x.outer, 128), round_up(blocks, 4)),
        fmt::format("{} = {}, K = {}: a scale for each {} elements of a row along K",
                    x.is_b ? "N" : "M", x.outer, x.k, f.block)};
  }
  scale_desc d = found[0] ? *found[0] : *found[1];
  d.batch_stride = batch_stride;
  return d;
}

std::optional<factor_order> parse_factor_order(std::string_view text) {
  if (text == "linear") return factor_order::linear;
  if (text == "32x4x4") return factor_order::swizzled;
  return std::nullopt;
}

char const* name(factor_order o) { return o == factor_order::linear ? "linear" : "32x4x4"; }

std::string block_scale_text(scale_desc const& s, scaled_operand const& x) {
  std::string text = fmt::format("{} for {} elements, ", name(s.type), s.block_k);
  std::int64_t const blocks = blocks_in(x.k, s.block_k);
  if (s.tiled)
    text += "32x4x4 (torch SWIZZLE_32_4_4)";
  else if (s.stride_k == 1 && (s.stride_outer == blocks || x.outer == 1))
    text += "linear";
  else
    text += fmt::format("strides ({}, {})", s.stride_outer, s.stride_k);
  return text + (s.second_level ? "; times a float32" : "");
}

}  // namespace tw
