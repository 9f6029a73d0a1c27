// SPDX-License-Identifier: Apache-2.0
// quantize_command.cpp  Options, then: open, quantise, write values and scales, report.
#include "tools/command/verb_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tilewright/base/elem_text.hpp"
#include "tilewright/problem/quantize.hpp"
#include "tools/command/guarded.hpp"
#include "tools/command/quantize/quantize_blocks.hpp"
#include "tools/command/quantize/quantize_int4.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/to_stdout.hpp"
#include "tools/operand/number_or_file.hpp"
#include "tools/operand/operand.hpp"
#include "tools/operand/result_files.hpp"
#include "tools/operand/scale_file.hpp"
#include "tools/report/json_output.hpp"
#include "tools/request/precision_options.hpp"
#include "tools/request/words.hpp"

namespace tw {
namespace {

char const* const quantize_manual =
    "Values and scales: an element is decoded as value * scale. The scale of a block is its "
    "largest finite magnitude divided by 448 (e4m3), 57344 (e5m2) or 127 (s8); blocks of zeros "
    "have 1. Values beyond are clamped, infinities too; NaN stays NaN (0 in s8).\n"
    "Blocks are 128 elements along K: along the columns of an operand A, MxK, and of weights "
    "NxK; along the rows of an operand B that is KxN (--operand b). The last blocks may be "
    "smaller.\n"
    "mxfp8, mxfp4 and nvfp4 have scales of 8 bits for 32 or 16 elements along K, and no "
    "--scaling: powers of two, or e4m3 with a float32 scale of the matrix besides. OUT is MxK, "
    "of an operand B NxK; elements of 4 bits are two to a byte in .safetensors files, and a byte "
    "each in .npy files.\n"
    "int4 is symmetric weights NxK with a scale of bf16 (of an f16 matrix f16) for --group "
    "elements "
    "along K, amax / 7; OUT is FILE.safetensors:NAME, which `tilewright prepare` reads.\n"
    "Exit status: 0 done, 2 refused.";

std::vector<std::string> values_or_formats() {
  std::vector<std::string> words = quantized_words();
  for (char const* format : {"mxfp8", "mxfp4", "nvfp4", "int4"}) words.emplace_back(format);
  return words;
}

struct quantize_request {
  std::string in, out, scale_out;
  elem to = elem::e4m3;
  scaling kind = scaling::tensor;
  scale_library library = scale_library::torch;
  elem scale_type = elem::f32;  // s32: four ue8m0
  std::string given;            // the scale: a file or a number; empty: computed
  std::optional<checkpoint_layout> checkpoint;
  bool is_b = false, power_of_two = false, json = false, quiet = false;
};

/// All that was computed.
struct quantized_matrix {
  quantize_problem problem;
  scaled_operand operand;
  scale_convention scales;
  quantize_counts counts;
};

std::string many(std::int64_t n, char const* one, char const* more) {
  return fmt::format("{} {}", n, n == 1 ? one : more);
}

std::string notes(quantize_request const& r, quantize_counts const& c) {
  std::string text;
  auto const add = [&](std::string const& note) { text += "note     " + note + "\n"; };
  if (c.nan > 0)
    add(fmt::format("{} {}", many(c.nan, "element is NaN and", "elements are NaN and"),
                    is_integer(r.to) ? "became 0" : "stayed NaN"));
  if (c.infinite > 0)
    add(fmt::format("{} clamped to {:g}", many(c.infinite, "infinity is", "infinities are"),
                    quantize_limit(r.to)));
  if (c.zero_blocks > 0)
    add(fmt::format("{} no finite element but zero: scale 1",
                    many(c.zero_blocks, "block has", "blocks have")));
  return text;
}

void report(quantize_request const& r, matrix_view const& in, quantized_matrix const& q) {
  if (r.json) {
    nlohmann::ordered_json const record{
        {"file", r.in},
        {"rows", in.rows},
        {"cols", in.cols},
        {"file_dtype", type_text(in)},
        {"dtype", name(r.to)},
        {"values", r.out},
        {"scales", r.scale_out},
        {"scaling", name(r.kind)},
        {"scale_dtype", name(q.scales.tensor.type)},
        {"scale_shape", std::vector(q.scales.tensor.shape.begin(),
                                    q.scales.tensor.shape.begin() + q.scales.tensor.rank)},
        {"convention", scale_text(q.problem.scale, q.operand)},
        {"power_of_two", r.power_of_two},
        {"given", q.problem.given},
        {"nan", q.counts.nan},
        {"infinite", q.counts.infinite},
        {"zero_blocks", q.counts.zero_blocks}};
    return print_json("tilewright.quantize/1", record);
  }
  if (r.quiet) return;
  to_stdout("quantize {}x{} {}, operand {}\n", in.rows, in.cols, type_text(in),
            r.is_b ? "B: K along the rows" : "A: K along the columns");
  to_stdout("values   {} -> {}\n", name(r.to), r.out);
  to_stdout("scales   {} -> {}\n         {}{}\n", shape_text(q.scales.tensor), r.scale_out,
            scale_text(q.problem.scale, q.operand),
            r.power_of_two    ? ", powers of two"
            : q.problem.given ? ", given"
                              : "");
  fmt::print("{}", notes(r, q.counts));
}

exit_status run_quantize(quantize_request r) {
  matrix_address const out = parse_address(r.out);
  if (!r.given.empty() && r.power_of_two)
    refuse("TW0615", "command line", "--power-of-two with --scale", "one of them",
           "a scale that is given is used as it is");
  if (r.checkpoint) {
    r.scale_out =
        checkpoint_weight_of(*r.checkpoint, {{}, r.to, r.kind, r.scale_type}, out).scales.text();
    if (r.kind == scaling::block_128x128) r.library = scale_library::deepgemm;  // (Ob, Kb)
  }
  if (r.scale_out.empty()) r.scale_out = name_beside(out, ".scale");
  matrix_address const scale_out = parse_address(r.scale_out);
  check_outputs({out, scale_out});
  bool const to_stdout = out.format == file_format::stream;
  matrix_address const from = parse_address(r.in);
  check_apart(from, r.given, {out, scale_out});
  if (to_stdout && r.json)
    refuse("TW0612", "output -", "--json, which prints to stdout too", "the values in a file");
  if (to_stdout) r.quiet = true;
  matrix_file const file(
      from, {.for_stacks = "reshape it to (-1, K): the scales of rows and of 1x128 blocks are the "
                           "same",
             .of_operand = true});
  matrix_view const& in = file.view();
  operand const wide(in, in.doubles || size_bits(in.type) < 8 ? elem::f32 : in.type);
  matrix_view const over = r.is_b ? transposed(wide.view()) : wide.view();  // (outer, k)
  quantized_matrix q;
  q.operand = {r.is_b, over.rows, over.cols};
  q.problem = {over.rows, over.cols, over.desc(), over.desc(), {}, r.power_of_two};
  q.problem.to.type = r.to;
  q.scales = scales_to_write(q.operand, r.kind, r.library, r.scale_type);
  q.problem.scale = q.scales.desc;
  q.problem.given = !r.given.empty();
  if (auto const why = accept(q.problem)) throw rejected(*why);
  std::int64_t scale_count = 1;
  for (std::size_t i = 0; i < static_cast<std::size_t>(q.scales.tensor.rank); ++i)
    scale_count *= q.scales.tensor.shape[i];
  bytes const scale_bytes = bytes_of(q.scales.tensor.type, elements{scale_count});
  bytes const value_bytes = bytes_of(r.to, over.count());
  require_memory(value_bytes + scale_bytes, "values and scales");
  host_buffer values(value_bytes), scales(scale_bytes);
  std::fill_n(scales.data(), scale_bytes.count, std::byte{0});
  if (q.problem.given) {
    float const x = divisor_in(r.given, "scale that is given");
    std::memcpy(scales.data(), &x, sizeof x);
  }
  q.counts = quantize(q.problem, over.data, values.data(), scales.data());
  auto const span = [](host_buffer const& data, bytes size) {
    return std::span<std::byte const>(data.data(), static_cast<std::size_t>(size.count));
  };
  // The file keeps the order of IN.
  bool const fortran = in.ord == order::col_major && out.format != file_format::safetensors;
  result_files files;
  files.add({out, r.to, {in.rows, in.cols}, span(values, value_bytes), fortran});
  result_tensor in_file = scale_result(scale_out, q.scales.tensor, span(scales, scale_bytes));
  if (r.checkpoint)
    if (auto const shape = scale_shape_in(*r.checkpoint, r.kind, over.rows, over.cols))
      in_file.shape = *shape;
  files.add(in_file);
  files.write();
  report(r, in, q);
  flush_stdout();
  files.commit();
  return exit_status::done;
}

}  // namespace

void add_quantize_command(CLI::App& app, int& status) {
  auto const r = std::make_shared<quantize_request>();
  auto const blocks = std::make_shared<quantize_blocks_request>();
  auto const int4 = std::make_shared<quantize_int4_request>();
  CLI::App* verb = app.add_subcommand("quantize", "a matrix in 8 or 4 bits, with scales");
  verb->footer(quantize_manual);
  verb->add_option("IN", r->in, "matrix of bf16, f16, f32 or f64")->required();
  verb->add_option("OUT,-o,--output", r->out, "where the values go")->required();
  verb->add_option_function<std::string>(
          "--to,--dtype,--out-dtype",
          [r, blocks, int4](std::string const& text) {
            int4->wanted = text == "int4";
            if (int4->wanted) return;
            if (auto const format = parse_block_format(text))
              blocks->format = *format;
            else
              r->to = *parse_elem(text);
            blocks->wanted = parse_block_format(text).has_value();
          },
          "type of the values, or a format with scales of 8 bits for each 16 or 32 of them")
      ->transform(elem_word(values_or_formats()))
      ->required();
  verb->add_option_function<std::string>(
          "--scaling",
          [r](std::string const& text) { r->kind = parse_scale_choice(text)->kind.value(); },
          "elements that share a scale: all, a row of A or column of B, or a block; with e4m3, "
          "e5m2 "
          "and s8")
      ->transform(scaling_word());
  verb->add_option_function<std::string>(
          "--scale-order",
          [blocks](std::string const& text) {
            blocks->order = text == "linear" ? factor_order::linear : factor_order::swizzled;
          },
          "of mxfp8, mxfp4, nvfp4: 32x4x4 (default), as tcgen05 and torch's SWIZZLE_32_4_4 have "
          "them, or linear")
      ->transform(one_of({"32x4x4", "linear"}));
  verb->add_option(
      "--scale2-out", blocks->second_out,
      "where nvfp4's float32 scale goes (default: OUT with .scale2 before its suffix)");
  verb->add_option("--scale", r->given,
                   "the scale, a file of one number or a number: it is used, not computed "
                   "(--scaling tensor)");
  verb->add_option("--scale2", blocks->second,
                   "nvfp4: the float32 scale of the matrix, a file of one number or a number");
  verb->add_option_function<std::string>(
          "--scale2-as",
          [blocks](std::string const& text) {
            blocks->second_is_reciprocal = text == "reciprocal";
          },
          "scale (default), or reciprocal: 1 / scale, as compressed-tensors has it")
      ->needs("--scale2")
      ->transform(one_of({"scale", "reciprocal"}));
  verb->add_option_function<std::string>(
          "--scale-rule",
          [blocks](std::string const& text) {
            blocks->rule = text == "floor" ? scale_rule::floor : scale_rule::rceil;
          },
          "of mxfp8, mxfp4: rceil (default), no element is clamped, or floor, as the OCP "
          "specification has it")
      ->transform(one_of({"rceil", "floor"}));
  verb->add_option_function<std::string>(
          "--checkpoint",
          [r, blocks](std::string const& text) {
            r->checkpoint = blocks->checkpoint = parse_checkpoint_layout(text);
          },
          "OUT is FILE.safetensors:NAME.weight, and gets the scales too, with the names, shapes "
          "and types of this layout: deepseek, modelopt or compressed-tensors "
          "(docs/checkpoints.md)")
      ->transform(one_of(checkpoint_layout_words()));
  verb->add_option("--scale-out", r->scale_out,
                   "where the scales go (default: OUT with .scale before its suffix)");
  verb->add_option_function<std::string>(
          "--scale-as",
          [r](std::string const& text) { r->library = parse_scale_choice(text)->library.value(); },
          "library whose order the scales are stored in (default: torch)")
      ->transform(one_of({"torch", "cublaslt", "deepgemm", "flashinfer-mn", "flashinfer-k"}));
  verb->add_option_function<std::string>(
          "--scale-type",
          [r](std::string const& text) {
            r->scale_type = text == "ue8m0x4" ? elem::s32 : *parse_elem(text);
          },
          "f32 (default), ue8m0 in bytes, or ue8m0x4, four in an int32")
      ->transform(one_of({"f32", "ue8m0", "ue8m0x4"}));
  verb->add_option_function<std::string>(
          "--operand", [r](std::string const& text) { r->is_b = text == "b"; },
          "a (default): IN is MxK, or weights NxK; b: IN is KxN")
      ->transform(one_of({"a", "b"}));
  verb->add_option("--group", int4->group,
                   "int4: elements along K that share a scale: 16, 32, a multiple of 64; 0: all")
      ->capture_default_str();
  verb->add_flag("--power-of-two", r->power_of_two, "scales are powers of two, rounded up");
  verb->add_flag("--json", r->json, "one JSON record on stdout");
  verb->add_flag("--quiet", r->quiet, "no report");
  verb->callback([r, blocks, int4, verb, &status] {
    if (int4->wanted) {
      int4->in = r->in, int4->out = r->out, int4->scale_out = r->scale_out;
      int4->json = r->json, int4->quiet = r->quiet;
      for (char const* option : {"--scaling", "--scale-order", "--scale2-out", "--scale",
                                 "--scale2", "--scale2-as", "--scale-rule", "--checkpoint",
                                 "--scale-as", "--scale-type", "--operand", "--power-of-two"})
        if (verb->get_option(option)->count() > 0) int4->unused = option;
      status = static_cast<int>(guarded(r->json, [&] { return run_quantize_int4(*int4); }));
      return;
    }
    if (verb->get_option("--group")->count() > 0) blocks->unused = "--group";
    bool const scaling_given = verb->get_option("--scaling")->count() > 0;
    for (char const* option :
         {"--scale-order", "--scale2-out", "--scale2", "--scale2-as", "--scale-rule"})
      if (!blocks->wanted && verb->get_option(option)->count() > 0) blocks->unused = option;
    if (blocks->wanted) {
      blocks->in = r->in, blocks->out = r->out, blocks->scale_out = r->scale_out;
      blocks->is_b = r->is_b, blocks->json = r->json, blocks->quiet = r->quiet;
      for (char const* option :
           {"--scaling", "--scale-as", "--scale-type", "--power-of-two", "--scale"})
        if (verb->get_option(option)->count() > 0) blocks->unused = option;
    }
    status = static_cast<int>(guarded(r->json, [&] {
      for (char const* option :
           {"--scale-out", "--scale2-out", "--scale-as", "--scale-order", "--operand"})
        if (r->checkpoint && verb->get_option(option)->count() > 0)
          refuse("TW0615", "command line", fmt::format("--checkpoint with {}", option),
                 "one of them", "a layout says where scales go, and weights are NxK");
      if (blocks->wanted) return run_quantize_blocks(*blocks);
      if (!scaling_given && r->given.empty())
        refuse("TW0615", "--scaling", "nothing", "tensor, row, 1x128 or 128x128",
               "or a format that has its own blocks: --to mxfp8, mxfp4 or nvfp4");
      if (!blocks->unused.empty())
        refuse("TW0452", blocks->unused, "it with --to " + std::string(name(r->to)),
               "mxfp8, mxfp4 or nvfp4 with it");
      return run_quantize(*r);
    }));
  });
}

}  // namespace tw
