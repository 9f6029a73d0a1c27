// SPDX-License-Identifier: Apache-2.0
// prepare_command.cpp  Options, then: recognise the checkpoint's layout, reorder, write, report.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <vector>

#include "tilewright/atom/weight_block.hpp"
#include "tilewright/kernel/weights/weight_checkpoint.hpp"
#include "tilewright/layout/answer.hpp"
#include "tools/command/guarded.hpp"
#include "tools/command/verb_commands.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/to_stdout.hpp"
#include "tools/operand/checkpoint_tensors.hpp"
#include "tools/operand/memory.hpp"
#include "tools/operand/result_files.hpp"
#include "tools/report/json_output.hpp"
#include "tools/request/words.hpp"

namespace tw {
namespace {

char const* const prepare_manual =
    "IN is FILE.safetensors:NAME (or the index of a checkpoint) of a weight in 4 bits: GPTQ, AWQ, "
    "compressed-tensors, gpt-oss, ModelOpt, torch tinygemm, int8 pairs. An asterisk in NAME stands "
    "for 0, 1, 2 ..., experts in separate tensors, which become one prepared tensor. Its scales "
    "and zero points "
    "are found by their names, its layout by types and shapes (docs/weights4.md). OUT is a "
    "vector of bytes: a header of 256 with format, extents and version, then blocks of 64 x 64 "
    "weights. `tilewright gemm` takes it as B.\n"
    "Preparing changes no number but scales that --scales-to rounds, and mxfp4 weights for e4m3 "
    "whose scales are far apart; the report counts them.\n"
    "Exit status: 0 done, 2 refused.";

struct prepare_request {
  checkpoint_file::addresses in;
  std::string out;
  checkpoint_options options;
  std::string second_as;
  bool undo = false, json = false, quiet = false;
  bool for_e4m3 = false;
  gating gate = gating::none;
  std::string order;  // a file for the order of K
  std::string up;     // another weight, whose rows follow
};

std::string layout_of(weights_desc const& w) {
  std::int64_t const bytes = w.format.block_bytes();
  return to_string(w.format.fp8 ? weight_nibbles_e4m3(w.n, w.k, bytes)
                                : weight_nibbles(w.n, w.k, bytes));
}

std::span<std::byte const> bytes_in(std::vector<std::uint8_t> const& v) {
  return std::as_bytes(std::span(v));
}

void report(prepare_request const& r, std::string const& layout_name, weights_desc const& w,
            weight_counts const& counts, bool undone) {
  std::string const layout_text = layout_of(w);
  if (r.json) {
    print_json("tilewright.prepare/1", {{"file", r.in.weight},
                                        {"output", r.out},
                                        {"undo", undone},
                                        {"checkpoint_layout", layout_name},
                                        {"format", name(w.format.code)},
                                        {"scale_dtype", name(w.format.scale)},
                                        {"zeros", name(w.format.zeros)},
                                        {"group", w.format.group},
                                        {"matrices", w.matrices},
                                        {"n", w.n},
                                        {"k", w.k},
                                        {"factor", w.factor},
                                        {"version", version_of(w.format)},
                                        {"block_bytes", w.format.block_bytes()},
                                        {"bytes", w.bytes()},
                                        {"layout", layout_text},
                                        {"activations", w.format.fp8 ? "e4m3" : "16 bits"},
                                        {"gate", w.format.gate == gating::none    ? "none"
                                                 : w.format.gate == gating::split ? "split"
                                                                                  : "interleaved"},
                                        {"rounded_scales", counts.rounded},
                                        {"nan_scales", counts.nan_scales},
                                        {"parts", counts.parts},
                                        {"rounded_parts", counts.rounded_parts},
                                        {"largest_error", counts.largest_error}});
    return;
  }
  if (r.quiet) return;
  if (undone)
    to_stdout("undo     {} -> {}\n", r.in.weight, r.out);
  else
    to_stdout("prepare  {} -> {}\n", layout_name, r.out);
  to_stdout("weights  {}{} ({}, {}), {}\n", w.matrices > 1 ? fmt::format("{} x ", w.matrices) : "",
            "(N, K)", w.n, w.k, text_of(w.format));
  to_stdout("blocks   {} bytes each, {} in all, factor {:g}\n", w.format.block_bytes(), w.bytes(),
            w.factor);
  to_stdout("         (n, k) -> nibble: {}\n", layout_text);
  if (counts.rounded > 0)
    to_stdout("note     {} scales and zero points are rounded to {}\n", counts.rounded,
              name(w.format.scale));
  if (counts.parts > 0)
    to_stdout("exact    {} of {} parts of a row with 128 of K{}\n",
              counts.parts - counts.rounded_parts, counts.parts,
              counts.rounded_parts == 0
                  ? ""
                  : fmt::format("; in the rest weights change by at most {:.3g} of the part's "
                                "largest one, because its scales are more than 15 binades apart",
                                counts.largest_error));
  if (counts.nan_scales > 0)
    to_stdout("note     {} scales are NaN and stay so\n", counts.nan_scales);
}

/// Prepared weights to rows: NAME, NAME_scale and NAME_zeros of a .safetensors file.
exit_status run_undo(prepare_request const& r) {
  matrix_address out = parse_address(r.out);
  if (out.format != file_format::safetensors)
    refuse("TW0612", "output of --undo", r.out, "FILE.safetensors:NAME, for values and scales");
  if (out.tensor.empty()) out.tensor = "weight";
  matrix_file const file(parse_address(r.in.weight), {.vectors = true});
  matrix_view const& v = file.view();
  std::span<std::byte const> const prepared(v.data, static_cast<std::size_t>(v.size().count));
  weights_desc const w = read_weights_header(prepared);
  auto const groups = static_cast<std::size_t>(w.matrices * w.n * w.groups());
  std::vector<std::uint8_t> nibbles(static_cast<std::size_t>(w.matrices * w.n * w.k / 2)),
      scales(groups * static_cast<std::size_t>(size_bytes(w.format.scale))),
      zeros(groups * static_cast<std::size_t>(w.format.zero_bytes_each()));
  unprepare_weights(w, prepared.data(), {nibbles.data(), scales.data(), zeros.data()});
  result_files files;
  auto const add = [&](std::string const& suffix, elem type, std::int64_t cols,
                       std::vector<std::uint8_t> const& data) {
    matrix_address to = out;
    to.tensor += suffix;
    std::vector<std::int64_t> shape{w.n, cols};
    if (w.matrices > 1) shape.insert(shape.begin(), w.matrices);
    files.add({to, type, shape, bytes_in(data)});
  };
  elem const zero = w.format.zeros == weight_zeros::integers ? elem::u8 : w.format.scale;
  add("", elem::u8, w.k / 2, nibbles);
  add("_scale", w.format.scale == elem::ue8m0 ? elem::u8 : w.format.scale, w.groups(), scales);
  if (!zeros.empty()) add("_zeros", zero, w.groups(), zeros);
  files.write();
  report(r, "rows", w, {}, true);
  flush_stdout();
  files.commit();
  return exit_status::done;
}

exit_status run_prepare(prepare_request r) {
  if (r.undo) return run_undo(r);
  matrix_address const out = parse_address(r.out);
  std::vector<matrix_address> outputs{out};
  if (!r.order.empty()) outputs.push_back(parse_address(r.order));
  check_outputs(outputs);
  r.options.reorders = !r.order.empty();
  if (out.format == file_format::stream && r.json)
    refuse("TW0612", "output -", "--json, which prints to stdout too", "the weights in a file");
  if (out.format == file_format::stream) r.quiet = true;
  checkpoint_file const file(r.in);
  r.options.second_is_reciprocal =
      r.second_as.empty() ? file.second_is_reciprocal() : r.second_as == "reciprocal";
  checkpoint_weights c = read_checkpoint(file.tensors(), r.options);
  if (!r.up.empty() && r.gate == gating::interleaved)
    refuse("TW0615", "command line", "--up and --gate interleaved",
           "--gate split: the rows of IN, then the rows of --up");
  if (!r.up.empty()) {
    checkpoint_file const up({r.up, {}, {}, {}});
    c = with_rows_of(std::move(c), read_checkpoint(up.tensors(), r.options));
  }
  if (r.for_e4m3) {
    if (r.options.scale)
      refuse("TW0615", "command line", "--scales-to and --activations e4m3",
             "one of them: these factors are float32");
    c.desc.format.fp8 = true;
    if (c.desc.format.code == weight_code::int4) c.desc.format.scale = elem::f32;
  }
  c.desc.format.gate = r.gate;
  if (auto const why = accept(c.desc)) throw rejected(*why);
  bytes const size{c.desc.bytes()};
  require_memory(size, "prepared weights");
  host_buffer prepared(size);
  weight_counts const counts = prepare_weights(c.desc, c.rows(), prepared.data());
  result_files files;
  files.add({out,
             elem::u8,
             {size.count},
             std::span<std::byte const>(prepared.data(), static_cast<std::size_t>(size.count))});
  if (!r.order.empty()) {
    if (c.order.empty()) {
      c.order.resize(static_cast<std::size_t>(c.desc.k));
      std::iota(c.order.begin(), c.order.end(), 0);
    }
    files.add({outputs[1], elem::s32, {c.desc.k}, std::as_bytes(std::span(c.order))});
  }
  files.write();
  report(r, c.layout, c.desc, counts, false);
  flush_stdout();
  files.commit();
  return exit_status::done;
}

}  // namespace

void add_prepare_command(CLI::App& app, int& status) {
  auto const r = std::make_shared<prepare_request>();
  CLI::App* verb = app.add_subcommand("prepare", "4-bit weights in the order of the kernels");
  verb->footer(prepare_manual);
  verb->add_option("IN", r->in.weight, "FILE.safetensors:NAME; with --undo what `prepare` wrote")
      ->required();
  verb->add_option("OUT,-o,--output", r->out, "file of the prepared weights")->required();
  verb->add_option("--scales", r->in.scales, "the scales, FILE.safetensors:TENSOR");
  verb->add_option("--zeros", r->in.zeros, "the zero points, FILE.safetensors:TENSOR");
  verb->add_option("--scale2", r->in.second, "nvfp4: the float32 scale of the matrix");
  verb->add_option("--scale2-as", r->second_as,
                   "scale, or reciprocal: 1 / scale, as compressed-tensors has it (default: by the "
                   "name of the tensor)")
      ->transform(one_of({"scale", "reciprocal"}));
  verb->add_option_function<std::string>(
          "--scales-to",
          [r](std::string const& text) {
            r->options.scale = text == "f16" ? elem::f16 : elem::bf16;
          },
          "int4: type of the prepared scales, bf16 or f16, as the activations (default: as in the "
          "checkpoint)")
      ->transform(one_of({"bf16", "f16"}));
  verb->add_option_function<std::string>(
          "--activations", [r](std::string const& text) { r->for_e4m3 = text == "e4m3"; },
          "16-bit (default: bf16 or f16) or e4m3: another order, of mxfp4 and of int4 with scales "
          "for 128 of K or more, without float zero points; the report says which weights are "
          "exact")
      ->transform(one_of({"16-bit", "e4m3"}));
  verb->add_option_function<std::string>(
          "--gate",
          [r](std::string const& text) {
            r->gate = text == "split" ? gating::split : gating::interleaved;
          },
          "for a GEMM with this gate (`gemm --gate swiglu:split`): gate and up rows of N lie 8 "
          "apart")
      ->transform(one_of({"split", "interleaved"}));
  verb->add_option_function<std::string>(
          "--gptq-version",
          [r](std::string const& text) { r->options.gptq_version = text == "2" ? 2 : 1; },
          "1 (default): GPTQ's zero points are stored as z - 1; 2: as z")
      ->transform(one_of({"1", "2"}));
  verb->add_option("--up", r->up,
                   "FILE.safetensors:NAME of a weight whose rows follow the rows of IN: a "
                   "checkpoint's gate_proj is IN, its up_proj this, for `--gate split`");
  verb->add_option("--order", r->order,
                   "file for the order of the activations' columns (int32, K), which GPTQ with "
                   "act_order needs: multiply x[:, order]");
  verb->add_flag("--undo", r->undo, "the other direction: OUT gets rows, and their scales");
  verb->add_flag("--json", r->json, "one JSON record on stdout");
  verb->add_flag("--quiet", r->quiet, "no report");
  verb->callback([r, &status] {
    status = static_cast<int>(guarded(r->json, [&] { return run_prepare(*r); }));
  });
}

}  // namespace tw
