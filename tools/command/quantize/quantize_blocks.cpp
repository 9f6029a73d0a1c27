// SPDX-License-Identifier: Apache-2.0
// quantize_blocks.cpp  Values, factors and the second level of a block-scaled matrix, to files.
#include "tools/command/quantize/quantize_blocks.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "tilewright/atom/scale_factors.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/layout/answer.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/to_stdout.hpp"
#include "tools/operand/block_scaled_operand.hpp"
#include "tools/operand/memory.hpp"
#include "tools/operand/operand.hpp"
#include "tools/operand/result_files.hpp"
#include "tools/report/json_output.hpp"
#include "tools/request/words.hpp"

namespace tw {
namespace {

layout factor_layout(block_quantize_problem const& p) {
  int const block = traits_of(p.format).block;
  return p.order == factor_order::linear ? scale_factors_linear(p.outer, p.k, block)
                                         : scale_factors_32_4_4(p.outer, p.k, block);
}

std::string notes(block_quantize_problem const& p, block_quantize_counts const& c) {
  bool const keeps_nan = has_nan(traits_of(p.format).value);
  std::string text;
  if (c.nan > 0)
    text += fmt::format("note     {} NaN: {}\n", c.nan,
                        keeps_nan ? "they stay NaN" : "the scales of their blocks are NaN");
  if (c.infinite > 0)
    text += fmt::format("note     {} infinite: clamped to the largest value\n", c.infinite);
  if (c.zero_blocks > 0)
    text +=
        fmt::format("note     {} blocks have no finite element but zero: scale 1\n", c.zero_blocks);
  return text;
}

}  // namespace

exit_status run_quantize_blocks(quantize_blocks_request r) {
  block_format_traits const t = traits_of(r.format);
  bool const nvfp4 = r.format == block_format::nvfp4;
  if (!r.unused.empty())
    refuse("TW0455", r.unused, fmt::format("it with --to {}", t.name), "no such option",
           fmt::format("{} has scales of {} for {} elements along K", t.name, name(t.factor),
                       t.block));
  if (!nvfp4 && !r.second_out.empty())
    refuse("TW0455", "--scale2-out", fmt::format("it with --to {}", t.name), "nvfp4 with it",
           "only nvfp4 has a scale of the matrix");
  if (!nvfp4 && !r.second.empty())
    refuse("TW0455", "--scale2", fmt::format("it with --to {}", t.name), "nvfp4 with it",
           "only nvfp4 has a scale of the matrix");
  matrix_address out = parse_address(r.out);
  std::optional<checkpoint_weight> weight;
  if (r.checkpoint) {
    weight = checkpoint_weight_of(*r.checkpoint, {r.format}, out);
    out = weight->values, r.out = out.text();
    r.scale_out = weight->scales.text();
    if (nvfp4) r.second_out = weight->second.text();
    r.order = factor_order::linear;
  }
  if (r.scale_out.empty()) r.scale_out = name_beside(out, ".scale");
  if (nvfp4 && r.second_out.empty()) r.second_out = name_beside(out, ".scale2");
  std::vector<matrix_address> to{out, parse_address(r.scale_out)};
  if (nvfp4) to.push_back(parse_address(r.second_out));
  check_outputs(to);
  if (out.format == file_format::stream)
    refuse("TW0612", "output " + out.text(), "a stream", "FILE.npy or FILE.safetensors:TENSOR");
  matrix_address const from = parse_address(r.in);
  check_apart(from, r.second, to);
  matrix_file const file(from,
                         {.for_stacks = "reshape it to (-1, K), or give the stack to `tilewright "
                                        "gemm --batch`, which quantises it",
                          .of_operand = true});
  matrix_view const& in = file.view();
  operand const wide(in, in.doubles || size_bits(in.type) < 8 ? elem::f32 : in.type);
  matrix_view const over = r.is_b ? transposed(wide.view()) : wide.view();  // (outer, k)
  // .npy files of ml_dtypes have a byte for an element of 4 bits.
  bool const packed = out.format == file_format::safetensors;
  block_quantize_problem p{over.rows, over.cols, over.desc(), r.format, r.order, packed};
  p.rule = r.rule;
  if (!r.second.empty())
    p.second_level = second_level_in({{}, {}, r.second, r.second_is_reciprocal}, r.is_b, 1);
  if (auto const why = accept(p)) throw rejected(*why);
  if (packed && packs_in_pairs(t.value) && p.k % 2 != 0)
    refuse("TW0455", "K in a .safetensors file", fmt::format("{}", p.k), "an even number",
           "two elements of 4 bits fill a byte; write a .npy file");
  // A level that is stored as 1 / it is the one that a reader computes.
  std::optional<float> reciprocal;
  if (weight && weight->reciprocal && nvfp4) {
    float const amax = p.second_level ? 0 : largest_magnitude(p, over.data);
    reciprocal = 1 / p.second_level.value_or(second_level_of(r.format, amax));
    p.second_level = 1 / *reciprocal;
  }
  bytes const value_bytes{p.outer * p.row_bytes()}, factor_bytes{p.factor_bytes()};
  require_memory(value_bytes + factor_bytes, "values and scales");
  host_buffer values(value_bytes), factors(factor_bytes);
  block_quantize_counts const counts = quantize(p, over.data, values.data(), factors.data());
  auto const span = [](void const* data, bytes n) {
    return std::span(static_cast<std::byte const*>(data), static_cast<std::size_t>(n.count));
  };
  bool const in_bytes = weight && weight->in_bytes;
  bool const bytes_of_scales = in_bytes && is_exponent(t.factor);
  float const stored = reciprocal.value_or(counts.second_level);
  std::vector<std::int64_t> shape_of_second;
  if (reciprocal) shape_of_second = {1};
  result_files files;
  files.add({to[0],
             in_bytes ? elem::u8 : t.value,
             {p.outer, in_bytes ? p.row_bytes() : p.k},
             span(values.data(), value_bytes)});
  files.add({to[1],
             bytes_of_scales ? elem::u8 : t.factor,
             {p.factor_rows(), p.factor_cols()},
             span(factors.data(), factor_bytes)});
  if (nvfp4) files.add({to[2], elem::f32, shape_of_second, std::as_bytes(std::span(&stored, 1))});
  char const* const order = r.order == factor_order::linear ? "linear" : "32x4x4";
  std::string const layout_text = to_string(factor_layout(p));
  if (r.json) {
    nlohmann::ordered_json record{{"file", r.in},
                                  {"rows", in.rows},
                                  {"cols", in.cols},
                                  {"file_dtype", type_text(in)},
                                  {"format", t.name},
                                  {"dtype", name(t.value)},
                                  {"values", r.out},
                                  {"scales", r.scale_out},
                                  {"scale_dtype", name(t.factor)},
                                  {"scale_block", t.block},
                                  {"scale_order", order},
                                  {"scale_shape", {p.factor_rows(), p.factor_cols()}},
                                  {"scale_layout", layout_text},
                                  {"scale_rule", r.rule == scale_rule::floor ? "floor" : "rceil"}};
    if (nvfp4) {
      record["given"] = !r.second.empty();
      record["second_level"] = counts.second_level;
      record["second_level_stored"] = stored;
      record["second_level_file"] = r.second_out;
    }
    record["nan"] = counts.nan;
    record["infinite"] = counts.infinite;
    record["zero_blocks"] = counts.zero_blocks;
    print_json("tilewright.quantize_blocks/1", record);
  } else if (!r.quiet) {
    to_stdout("quantize {}x{} {}, operand {}\n", in.rows, in.cols, type_text(in),
              r.is_b ? "B: K along the rows" : "A: K along the columns");
    to_stdout("values   {} ({}, {}) of {} -> {}\n", t.name, p.outer, p.k, name(t.value), r.out);
    to_stdout("scales   {} for {} elements, {} ({}, {}) -> {}\n", name(t.factor), t.block, order,
              p.factor_rows(), p.factor_cols(), r.scale_out);
    fmt::print("         (row, k) -> byte: {}\n", layout_text);
    if (nvfp4)
      to_stdout("scale 2  {} of the matrix{} -> {}{}\n         element = value * scale * scale 2\n",
                counts.second_level, r.second.empty() ? "" : ", given", r.second_out,
                reciprocal ? fmt::format(", as 1 / it, {:.9g}", *reciprocal) : "");
    fmt::print("{}", notes(p, counts));
  }
  files.write();
  flush_stdout();
  files.commit();
  return exit_status::done;
}

}  // namespace tw
