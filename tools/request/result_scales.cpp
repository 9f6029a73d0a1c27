// SPDX-License-Identifier: Apache-2.0
// result_scales.cpp  A number, a file, or room for scales in the order of a library.
#include "tools/request/result_scales.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/problem/block_result.hpp"
#include "tilewright/problem/reference.hpp"
#include "tools/io/refuse.hpp"
#include "tools/operand/number_or_file.hpp"
#include "tools/operand/result_files.hpp"
#include "tools/operand/scale_file.hpp"
#include "tools/request/words.hpp"

namespace tw {
namespace {

float given_scale(std::string const& text) {
  if (text.starts_with("amax") && text.find('.') == std::string::npos)
    refuse("TW0611", "scale of D", text, "amax-row, amax-1x128, a number or a file",
           "amax-row computes scales of rows, amax-1x128 those of 128 columns of a row");
  float const x =
      number_or_file(text, {"TW0616", "scale of D", "one float for all of D, or a number",
                            "amax-row and amax-1x128 compute scales of rows and blocks"});
  if (!(x > 0))
    refuse("TW0616", "scale of D", fmt::format("{:g}", x), "a number above 0 in float32",
           "D is divided by it");
  return x;
}

}  // namespace

CLI::Option* add_result_scale_options(CLI::App& verb, result_scale_request& r,
                                      std::string const& text) {
  CLI::Option* const scale = verb.add_option("--scale-d", r.text, text);
  verb.add_option_function<std::string>(
          "--scale-d-as",
          [&r](std::string const& text) {
            r.as = text;
            if (auto const order = parse_factor_order(text))
              r.order = *order;
            else
              r.library = parse_scale_choice(text)->library.value();
          },
          "library whose order they are stored in (default: torch); of a D in mxfp8, mxfp4 or "
          "nvfp4 32x4x4 (default) or linear")
      ->transform(one_of(
          {"torch", "cublaslt", "deepgemm", "flashinfer-mn", "flashinfer-k", "32x4x4", "linear"}));
  verb.add_option_function<std::string>(
          "--scale-d-type",
          [&r](std::string const& text) {
            r.type = text == "ue8m0x4" ? elem::s32 : text == "ue8m0" ? elem::ue8m0 : elem::f32;
          },
          "f32 (default), ue8m0 in bytes, or ue8m0x4, four in an int32")
      ->transform(one_of({"f32", "ue8m0", "ue8m0x4"}))
      ->needs(scale);
  verb.add_flag("--scale-d-power-of-two", r.power_of_two,
                "they are powers of two, rounded up; ue8m0 needs it")
      ->needs(scale);
  return scale;
}

void add_result_scale_words(CLI::App& verb, result_scale_request& r) {
  add_result_scale_options(verb, r,
                           "D in 8 bits with scales: amax-row or amax-1x128, which are computed, "
                           "or `given`, one for all of D")
      ->check([](std::string const& text) {
        result_scale_request asked;
        asked.text = text;
        bool const known = asked.computed() || text == "given" || number_in(text).has_value();
        return known ? "" : text + ": need amax-row, amax-1x128, given or a number";
      });
}

matrix_address result_scale_address(result_scale_request const& r, matrix_address const& d) {
  if (r.out.empty() && d.format == file_format::stream)
    refuse("TW0612", "output " + d.text(), "a stream, which has one array",
           "a file for the scales: --scale-d-out FILE");
  return parse_address(r.out.empty() ? name_beside(d, ".scale") : r.out);
}

matrix_address second_level_address(result_scale_request const& r, matrix_address const& d) {
  if (r.second_out.empty() && d.format == file_format::stream)
    refuse("TW0612", "output " + d.text(), "a stream, which has one array",
           "a file for the second level: --scale2-d-out FILE");
  return parse_address(r.second_out.empty() ? name_beside(d, ".scale2") : r.second_out);
}

void check_result_scale_options(result_scale_request const& r) {
  auto const refused = [](std::string const& got, char const* need, char const* hint) {
    refuse("TW0615", "scales of D", got, need, hint);
  };
  if (r.format && !r.text.empty())
    refused(fmt::format("--scale-d beside --out-dtype {}", traits_of(*r.format).name),
            "one of them", "a block-scaled D has the scales of its format");
  bool const order = parse_factor_order(r.as).has_value();
  if (!r.as.empty() && r.format.has_value() != order)
    refused("--scale-d-as " + r.as,
            r.format ? "32x4x4 or linear" : "it with --out-dtype mxfp8, mxfp4 or nvfp4", "");
  if (!r.as.empty() && !r.any()) refused("--scale-d-as " + r.as, "--scale-d with it", "");
  if (r.any() && !r.computed()) {
    char const* const ignored = r.power_of_two        ? "--scale-d-power-of-two"
                                : r.type != elem::f32 ? "--scale-d-type"
                                : !r.as.empty()       ? "--scale-d-as"
                                                      : nullptr;
    if (ignored != nullptr)
      refused(fmt::format("{} beside --scale-d {}", ignored, r.text),
              "it with --scale-d amax-row or amax-1x128",
              "a scale that is given is taken as it is");
  }
  if (r.format != block_format::nvfp4 && !r.second_out.empty())
    refused("--scale2-d-out", "--out-dtype nvfp4 with it", "only nvfp4 has a second level");
  if (!r.out.empty() && !r.computed())
    refuse("TW0612", "output " + r.out + " of --scale-d-out",
           r.text.empty() ? "a D without scales" : "a scale that is given",
           "--scale-d amax-row or amax-1x128, which compute scales",
           "or --out-dtype mxfp8, mxfp4 or nvfp4");
}

std::optional<matrix_view> result_scales_data::second_levels() const {
  if (second_level_at_ == 0) return std::nullopt;
  return matrix_view{elem::f32, order::row_major, 1, matrices_, bytes_.data() + second_level_at_};
}

result_scales_data::result_scales_data(result_scale_request const& r, gemm_problem const& p,
                                       bool as_stack)
    : matrices_(p.batch) {
  if (!r.computed()) {
    desc_.given = true;
    size_ = bytes_of(type_, elements{1}).count;
    bytes_ = host_buffer(bytes{size_});
    float const x = given_scale(r.text);
    std::memcpy(bytes_.data(), &x, sizeof x);
    return;
  }
  scaled_operand const over{false, p.m, result_cols(p.epilogue, p.n)};
  desc_ = result_scales_of(r, over.outer, over.k, p.batch);
  if (r.format) {
    gemm_problem with = p;
    with.scale_d = desc_;
    type_ = desc_.desc.type, count_ = block_result_scale_bytes(with);
    size_ = block_result_bytes(with);
    if (desc_.desc.second_level) second_level_at_ = second_level_offset(with);
    bool const tiled = r.order == factor_order::swizzled;
    std::int64_t const rows =
        tiled ? blocks_in(over.outer, scale_tile_rows) * scale_tile_rows : over.outer;
    tensor_ = dense_scales(type_, {rows, count_ / p.batch / rows});
  } else {
    tensor_ = scales_to_write(over, r.kind(), r.library, r.type).tensor;
    type_ = tensor_.type, count_ = elements_of(tensor_) * p.batch;
    size_ = bytes_of(type_, elements{count_}).count;
  }
  if (as_stack) tensor_ = stack_of(tensor_, p.batch);
  bytes_ = host_buffer(bytes{size_});
  std::fill_n(bytes_.data(), size_, std::byte{0});
}

std::string text_of(result_scales_data const& s, gemm_problem const& p) {
  if (s.desc().given) {
    float x = 0;
    std::memcpy(&x, s.data(), sizeof x);
    return fmt::format("given: {:.9g}", x);
  }
  return result_scale_text(s.desc(), p.m, result_cols(p.epilogue, p.n), p.batch);
}

}  // namespace tw
