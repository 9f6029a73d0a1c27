// SPDX-License-Identifier: Apache-2.0
// block_scaled_operand.cpp  On the host: problem/block_quantize.hpp, and the bytes of files.
#include "tools/operand/block_scaled_operand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/base/round_up.hpp"
#include "tilewright/problem/block_quantize.hpp"
#include "tilewright/problem/block_scale_convention.hpp"
#include "tools/io/file_types.hpp"
#include "tools/io/refuse.hpp"
#include "tools/operand/number_or_file.hpp"
#include "tools/operand/operand.hpp"
#include "tools/operand/scale_file.hpp"

namespace tw {
namespace {

char const* letter(bool is_b) { return is_b ? "B" : "A"; }
char const* small_letter(bool is_b) { return is_b ? "b" : "a"; }

void check_second(bool is_b, block_format format, block_scale_request const& r) {
  if (format != block_format::nvfp4 && !r.second.empty())
    refuse("TW0476", fmt::format("second level of {}'s scales", letter(is_b)),
           fmt::format("--scale2-{} with {}", small_letter(is_b), traits_of(format).name),
           "none: only nvfp4 has one", "");
}

/// Two elements to a byte along K, from codes in bytes or from packed ones in any order.
void pack(matrix_view const& over, bool packed, std::byte* to) {
  auto const bits_at = [&](std::int64_t i) -> unsigned {
    if (!packed) return std::to_integer<unsigned>(over.data[i]);
    return std::to_integer<unsigned>(over.data[i / 2]) >> (i % 2 * 4) & 0xFU;
  };
  std::int64_t const row_step = over.ord == order::row_major ? over.cols : 1;
  std::int64_t const col_step = over.ord == order::row_major ? 1 : over.rows;
  std::int64_t out = 0;
  for (std::int64_t m = 0; m < over.matrices; ++m)
    for (std::int64_t r = 0; r < over.rows; ++r)
      for (std::int64_t k = 0; k < over.cols; ++k, ++out) {
        unsigned const code = bits_at(m * over.rows * over.cols + r * row_step + k * col_step);
        if (code > 0xF)
          refuse("TW0475", "values of e2m1", fmt::format("the byte {:#04x}", code),
                 "0 to 15, one element in a byte", "`tilewright quantize` writes such files");
        to[out / 2] = static_cast<std::byte>(
            out % 2 == 0 ? code : std::to_integer<unsigned>(to[out / 2]) | code << 4);
      }
}

/// Refuses factors with the bit that e4m3 has for a sign: the tensor core does not read it.
void check_signs(scale_desc const& s, scaled_operand const& x, std::byte const* factors,
                 std::string const& file) {
  std::int64_t const matrices = s.batch_stride == 0 ? 1 : x.batch;
  for (std::int64_t i = 0; i < matrices; ++i)
    for (std::int64_t outer = 0; outer < x.outer; ++outer)
      for (std::int64_t k = 0; k < x.k; k += s.block_k) {
        auto const factor = std::to_integer<unsigned>(factors[scale_offset(s, outer, k, i)]);
        if (factor > 0x7F)
          refuse("TW0478", fmt::format("nvfp4 scale of {} in {}", letter(x.is_b), file),
                 fmt::format("{:#04x} for {} {}, elements {} to {} of K", factor,
                             x.is_b ? "column" : "row", outer, k, k + s.block_k - 1),
                 "0x00 to 0x7f: ue4m3 has no sign", "the sign of an element is in its value");
      }
}

/// Refuses a NaN between the blocks of a row and the end of its tile of the order 32x4x4: the
/// tensor core multiplies zeros of K by it, and D gets NaN.
void check_padding(scale_desc const& s, scaled_operand const& x, std::byte const* factors,
                   std::string const& file) {
  if (!s.tiled) return;
  unsigned const nan = is_exponent(s.type) ? 0xFF : 0x7F;
  std::int64_t const matrices = s.batch_stride == 0 ? 1 : x.batch;
  std::int64_t const blocks = scale_blocks(s.block_k, x.k);
  std::int64_t const end = round_up(blocks, scale_tile_blocks);
  for (std::int64_t i = 0; i < matrices; ++i)
    for (std::int64_t outer = 0; outer < x.outer; ++outer)
      for (std::int64_t block = blocks; block < end; ++block)
        if (std::to_integer<unsigned>(factors[scale_offset(s, outer, block * s.block_k, i)]) == nan)
          refuse("TW0491", fmt::format("scale of {} in {}", letter(x.is_b), file),
                 fmt::format("NaN ({:#04x}) for {} {} after its last block, {} of {}", nan,
                             x.is_b ? "column" : "row", outer, blocks - 1, blocks),
                 "numbers, 0 for example, up to a multiple of 4 blocks",
                 "the tensor core multiplies zeros by them, and 0 * NaN is NaN");
}

}  // namespace

float second_level_in(block_scale_request const& r, bool is_b, std::int64_t matrices) {
  std::string const what = fmt::format("second level of {}'s scales", letter(is_b));
  float const x = number_or_file(
      r.second,
      {"TW0476", what, "one float32, or a number",
       "`tilewright quantize` writes it beside the scales, .scale2", matrices,
       fmt::format("give {} as the stack of wide matrices, which this command quantises with one "
                   "second level, or multiply the matrices one by one: FILE.safetensors:TENSOR[0]",
                   letter(is_b))});
  if (!r.second_is_reciprocal) return x;
  if (!std::isfinite(1 / x))
    refuse("TW0476", what, fmt::format("1 / {:g}", x), "a reciprocal that is finite");
  return 1 / x;
}

block_scaled_operand::block_scaled_operand(matrix_view const& file, bool in_npy, bool is_b,
                                           block_format format, block_scale_request const& r,
                                           std::int64_t batch) {
  if (is_wide(file)) {
    if (!r.scale.empty())
      refuse("TW0475", fmt::format("scales of {}", letter(is_b)),
             fmt::format("a file of them beside {} values", type_text(file)),
             fmt::format("values of {}, or no scales: then {} is quantised", traits_of(format).name,
                         letter(is_b)),
             format == block_format::nvfp4
                 ? fmt::format("a static input_scale of nvfp4 is its second level: --scale2-{}",
                               small_letter(is_b))
                 : "");
    check_second(is_b, format, r);
    quantise(file, is_b, format, r);
    return;
  }
  read_values(file, in_npy, is_b, format);
  read_scales(is_b, format, r, batch);
}

void block_scaled_operand::quantise(matrix_view const& wide, bool is_b, block_format format,
                                    block_scale_request const& r) {
  quantised_ = true;
  operand const read(wide, wide.doubles ? elem::f32 : wide.type);
  matrix_view const over = is_b ? transposed(read.view()) : read.view();  // (outer, k)
  elem const type = traits_of(format).value;
  if (packs_in_pairs(type) && over.cols % 2 != 0)
    refuse("TW0477", fmt::format("{} operands", traits_of(format).name),
           fmt::format("K = {}", over.cols), "an even K: two elements fill a byte",
           "add a column of zeros to A and a row of zeros to B");
  block_quantize_problem p{over.rows, over.cols, over.desc(), format};
  if (auto const why = accept(p)) throw rejected(*why);
  values_ = {type, order::row_major, over.rows, over.cols, nullptr, over.matrices};
  desc_ = make_block_scale({is_b, over.rows, over.cols, over.matrices}, format);
  scales_ = {desc_.type, order::row_major, 1, p.factor_bytes() * over.matrices};
  value_bytes_ = host_buffer(values_.size());
  scale_bytes_ = host_buffer(scales_.size());
  std::int64_t const wide_bytes = bytes_of(over.type, elements{p.outer * p.k}).count;
  if (!r.second.empty()) {
    p.second_level = second_ = second_level_in(r, is_b, wide.matrices);
  } else if (format == block_format::nvfp4) {
    float amax = 0;
    for (std::int64_t i = 0; i < over.matrices; ++i)
      amax = std::max(amax, largest_magnitude(p, over.data + i * wide_bytes));
    p.second_level = second_ = second_level_of(format, amax);
  }
  if (auto const why = accept(p)) throw rejected(*why);
  for (std::int64_t i = 0; i < over.matrices; ++i)
    (void)tw::quantize(p, over.data + i * wide_bytes,
                       value_bytes_.data() + i * p.outer * p.row_bytes(),
                       scale_bytes_.data() + i * p.factor_bytes());
  values_.data = value_bytes_.data();
  scales_.data = scale_bytes_.data();
  if (is_b) values_ = transposed(values_);
}

void block_scaled_operand::read_values(matrix_view const& file, bool in_npy, bool is_b,
                                       block_format format) {
  values_ = file;
  if (format == block_format::mxfp8) {
    if (is_fp8(file.type)) return;
    refuse("TW0475", fmt::format("values of {}", letter(is_b)), type_text(file),
           "e4m3 or e5m2, or a wide matrix, which is quantised", "");
  }
  bool const packed = file.type == traits_of(format).value;
  if (!packed && !(in_npy && file.type == unnamed_byte))
    refuse("TW0475", fmt::format("values of {}", letter(is_b)), type_text(file),
           "e2m1: F4, or U8 with two to a byte, in a .safetensors file, '<V1' in a .npy file; or a "
           "wide matrix, which is quantised",
           "");
  matrix_view const over = is_b ? transposed(file) : file;  // (outer, k)
  if (over.cols % 2 != 0)
    refuse("TW0477", fmt::format("{} operands", traits_of(format).name),
           fmt::format("K = {}", over.cols), "an even K: two elements fill a byte",
           "add a column of zeros to A and a row of zeros to B, before quantising");
  if (packed && over.ord == order::row_major) return;
  values_ = {
      traits_of(format).value, order::row_major, over.rows, over.cols, nullptr, over.matrices};
  value_bytes_ = host_buffer(values_.size());
  pack(over, packed, value_bytes_.data());
  values_.data = value_bytes_.data();
  if (is_b) values_ = transposed(values_);
}

void block_scaled_operand::read_scales(bool is_b, block_format format, block_scale_request const& r,
                                       std::int64_t batch) {
  block_format_traits const f = traits_of(format);
  if (r.scale.empty())
    refuse("TW0475", fmt::format("scales of {}", letter(is_b)), "none",
           fmt::format("{} for each {} elements of K: --scale-{}", name(f.factor), f.block,
                       small_letter(is_b)),
           "`tilewright quantize` writes them beside the values, .scale");
  if (format == block_format::nvfp4 && r.second.empty())
    refuse("TW0476", fmt::format("second level of {}'s scales", letter(is_b)), "none",
           fmt::format("a file of one float32 or a number: --scale2-{}", small_letter(is_b)),
           "`tilewright quantize` writes it beside the scales, .scale2");
  check_second(is_b, format, r);
  matrix_address const address = parse_address(r.scale);
  scale_file_.emplace(address, scale_shapes);
  matrix_view const& v = scale_file_->view();
  scale_tensor t = scale_tensor_of(v);
  // '<V1' of .npy files may be any type of a byte; .safetensors files say which.
  if (v.type == unnamed_byte) t.type = address.format == file_format::npy ? f.factor : v.type;
  scaled_operand const x{is_b, is_b ? values_.cols : values_.rows,
                         is_b ? values_.rows : values_.cols, batch};
  auto const found = recognise_block_scale(t, x, format, r.order);
  if (auto const* why = std::get_if<rejection>(&found)) throw rejected(*why);
  desc_ = std::get<scale_desc>(found);
  scales_ = {desc_.type, order::row_major, 1, v.count().count, v.data};
  check_padding(desc_, x, v.data, r.scale);
  if (format != block_format::nvfp4) return;
  second_ = second_level_in(r, is_b, values_.matrices);
  check_signs(desc_, x, v.data, r.scale);
}

}  // namespace tw
