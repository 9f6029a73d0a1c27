// SPDX-License-Identifier: Apache-2.0
// gemm_command.cpp  Open, allocate, run, check, write, report.
#include "tools/command/verb_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_format.hpp"
#include "tools/check/reference_blas.hpp"
#include "tools/command/gemm/gemm_options.hpp"
#include "tools/command/gemm/gemm_outputs.hpp"
#include "tools/command/gemm/gemm_report.hpp"
#include "tools/command/gemm/gemm_run.hpp"
#include "tools/command/gemm/ranks_run.hpp"
#include "tools/command/guarded.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/to_stderr.hpp"
#include "tools/io/to_stdout.hpp"
#include "tools/operand/memory.hpp"
#include "tools/operand/number_or_file.hpp"
#include "tools/operand/result_files.hpp"
#include "tools/operand/scale_file.hpp"
#include "tools/report/json_output.hpp"
#include "tools/request/family_choice.hpp"
#include "tools/trace/write_timeline.hpp"

namespace tw {
namespace {

[[noreturn]] void refuse_trace_of_gpu() {
  refuse("TW0646", "--trace and --timeline", "a run on the GPU", "a run in the emulator",
         "add --device emu");
}

[[noreturn]] void refuse_hazards_of_gpu() {
  refuse("TW0658", "--hazards", "a run on the GPU", "a run in the emulator", "add --device emu");
}

/// An emulated run, and its timeline, also where the kernel broke a rule: it shows who is stuck.
gemm_run run_recorded(gemm_request const& r, gemm_files const& files, gemm_data& data,
                      std::string& said) {
  timeline_files const to{r.trace, r.timeline};
  if (!to.any()) return run_emulated(r, files, data);
  emu::trace record;
  try {
    gemm_run run = run_emulated(r, files, data, &record);
    said = write_timeline(record, to);
    return run;
  } catch (emu::fault const&) {
    write_timeline(record, to);
    throw;
  }
}

gemm_run run_of_nothing(gemm_files const& files) {
  gemm_run run;
  run.device = "none";
  run.plan.problem = files.problem();
  run.plan.kernel = "none";
  run.plan.why = "D has no elements";
  return run;
}

void check_truncation(gemm_request const& r) {
  auto const as_tf32 = [](std::optional<elem> e) { return e && is_multiplied_as_tf32(*e); };
  if (r.truncates_tf32 && (!as_tf32(r.dtype) || (r.dtype_b && !as_tf32(r.dtype_b))))
    refuse("TW0615", "command line", "--truncate-tf32 without --dtype tf32 or f32 for A and B",
           "--dtype tf32 with it", "");
}

/// A scale that is a number, or by which a wide matrix is divided, has no order.
void check_orders(gemm_request const& r) {
  for (role const x : a_and_b) {
    factor_request const& of = r.of[x];
    if (!of.scale_as.kind && !of.scale_as.library) continue;
    if (of.quantised_with)
      refuse("TW0615", "command line",
             fmt::format("--scale-{0}-as with --scaling-{0}", row_of(x).word), "one of them",
             "scales that the command computes have an order of its choice");
    if (is_number(of.scale))
      refuse("TW0615", "command line", fmt::format("--scale-{}-as with a number", row_of(x).word),
             "a file of scales with it", "one number has no order");
  }
}

/// Options of other operands beside a block-scaled format.
void check_format(gemm_request const& r) {
  auto const any = [&](auto const& holds) {
    return std::ranges::any_of(a_and_b, [&](role x) { return holds(r.of[x]); });
  };
  bool const order = any([](factor_request const& of) { return of.order.has_value(); });
  bool const second = any([](factor_request const& of) { return !of.second.empty(); });
  if (!r.format) {
    if (order || second)
      refuse("TW0615", "command line",
             order ? "linear or 32x4x4 without a block-scaled format" : "--scale2-a or --scale2-b",
             "--dtype mxfp8, mxfp4 or nvfp4 with it", "");
    return;
  }
  bool const choice = r.dtype_b || any([](factor_request const& of) {
                        return of.scale_as.kind || of.scale_as.library || of.quantised_with;
                      });
  for (role const x : a_and_b)
    if (is_number(r.of[x].scale))
      refuse("TW0615", "command line",
             fmt::format("{} {} with --dtype {}", option_of(scales_of(x)), r.of[x].scale,
                         traits_of(*r.format).name),
             "a file of scales", "each block of the format has a separate scale");
  if (choice)
    refuse("TW0615", "command line",
           fmt::format("--dtype {} with --dtype-b, --scaling-a, --scaling-b, or another convention "
                       "of scales",
                       traits_of(*r.format).name),
           "one of them", "wide matrices of block-scaled formats are quantised without an option");
}

std::span<std::byte const> content_of(matrix_view const& m) {
  return {m.data, static_cast<std::size_t>(m.size().count)};
}

exit_status run_gemm(gemm_request const& r) {
  check_truncation(r);
  check_format(r);
  check_orders(r);
  check_ranks(r);
  check_result_scale_options(r.scale_d);
  matrix_address const out = parse_address(r.d);
  std::vector<matrix_address> arrays{out};
  bool const d_to_stdout = out.format == file_format::stream;
  if (d_to_stdout && r.json)
    refuse("TW0612", "output -", "--json, which prints to stdout too", "D in a file");
  std::vector<gemm_output> outputs{{out.text(), out.path, "-o", "D", out}};
  std::optional<matrix_address> aux;
  if (!r.epilogue.aux.empty()) {
    arrays.push_back(aux.emplace(parse_address(r.epilogue.aux)));
    outputs.push_back({aux->text(), aux->path, "--aux", "the auxiliary output", aux});
  }
  std::optional<matrix_address> scales;
  if (r.scale_d.computed()) {
    scales = result_scale_address(r.scale_d, out);
    arrays.push_back(*scales);
    if (scales->format == file_format::stream)
      refuse("TW0612", "output " + scales->text() + " of --scale-d-out", "a stream",
             "FILE.npy or FILE.safetensors:TENSOR");
    outputs.push_back({scales->text(), scales->path, "--scale-d-out", "the scales of D", scales});
  }
  std::optional<matrix_address> second;
  if (r.scale_d.format == block_format::nvfp4) {
    arrays.push_back(second.emplace(second_level_address(r.scale_d, out)));
    if (second->format == file_format::stream)
      refuse("TW0612", "output " + second->text() + " of --scale2-d-out", "a stream",
             "FILE.npy or FILE.safetensors:TENSOR");
    outputs.push_back(
        {second->text(), second->path, "--scale2-d-out", "the second level of D", second});
  }
  check_outputs(arrays);
  timeline_files const timeline{r.trace, r.timeline};
  check_timeline_files(timeline);
  if (!r.trace.empty()) outputs.push_back({r.trace, r.trace, "--trace", "the trace"});
  if (!r.timeline.empty()) outputs.push_back({r.timeline, r.timeline, "--timeline", "the picture"});
  check_apart(outputs, r);
  if (timeline.any() && r.device == device_choice::gpu) refuse_trace_of_gpu();
  if (r.hazards && r.device == device_choice::gpu) refuse_hazards_of_gpu();
  gemm_files files(r);
  bool const on_gpu = !r.ranks.any() && choose_gpu(r.device);
  if (on_gpu) check_arch(r.arch, gpu().compute_capability);
  if (r.check) reference_blas::get();  // refuses before the work is done
  if (timeline.any() && on_gpu) refuse_trace_of_gpu();
  if (r.hazards && on_gpu) refuse_hazards_of_gpu();
  require_memory(files.host_memory(), "operands and D");
  gemm_data data(files);
  std::string said;
  bool const nothing = files.nothing_to_compute();
  gemm_run const run = nothing         ? run_of_nothing(files)
                       : r.ranks.any() ? run_over_ranks(r, files, data, said)
                       : on_gpu        ? run_on_gpu(files, data, r.family)
                                       : run_recorded(r, files, data, said);
  std::optional<check_report> check;
  if (r.check && !nothing) check = check_gemm(files.problem(), data.operands());
  bool const right = !check || check->passed();
  result_files written;
  host_buffer bytes_of_d;
  if (right && packs_in_pairs(data.d().type) && out.format != file_format::safetensors) {
    bytes_of_d = one_to_a_byte(data.d());
    written.add({out,
                 data.d().type,
                 files.d_array(),
                 {bytes_of_d.data(), static_cast<std::size_t>(data.d().count().count)}});
  } else if (right) {
    written.add({out, data.d().type, files.d_array(), content_of(data.d())});
  }
  if (right && aux) written.add({*aux, data.aux().type, files.aux_array(), content_of(data.aux())});
  if (right && scales && files.scale_d())
    written.add(
        scale_result(*scales, files.scale_d()->tensor(), content_of(files.scale_d()->view())));
  if (right && second && files.scale_d()) {
    matrix_view const levels = *files.scale_d()->second_levels();
    std::vector<std::int64_t> shape;  // of one matrix a scalar
    if (files.as_stack()) shape.push_back(levels.cols);
    written.add({*second, levels.type, shape, content_of(levels)});
  }
  written.write();
  if (r.json) {
    print_json("tilewright.gemm/1", json_report(r, files, run, check));
  } else if (!r.quiet) {
    std::string const report = text_report(r, files, run, check) + said;
    if (d_to_stdout)
      to_stderr("{}", report);
    else
      to_stdout("{}", report);
  }
  flush_stdout();  // a report that cannot be printed refuses, with nothing written
  written.commit();
  if (right) return exit_status::done;
  to_stderr("tilewright: the check {}; {} written\n",
            check->wrong + check->wrong_scales > 0 ? "failed" : "could judge too few elements",
            aux      ? fmt::format("{} and {} are not", r.d, r.epilogue.aux)
            : second ? fmt::format("{}, {} and {} are not", r.d, scales->text(), second->text())
            : scales ? fmt::format("{} and {} are not", r.d, scales->text())
                     : r.d + " is not");
  return exit_status::wrong;
}

}  // namespace

void add_gemm_command(CLI::App& app, int& status) {
  auto const r = std::make_shared<gemm_request>();
  CLI::App* verb = app.add_subcommand("gemm", "matrix product of two files");
  add_gemm_options(*verb, r);
  verb->callback(
      [r, &status] { status = static_cast<int>(guarded(r->json, [&] { return run_gemm(*r); })); });
}

}  // namespace tw
