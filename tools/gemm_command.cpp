// SPDX-License-Identifier: Apache-2.0
// gemm_command.cpp  Options, then: open, allocate, run, check, write, report.
#include "tools/gemm_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "tilewright/base/elem_text.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_scale_convention.hpp"
#include "tools/family_choice.hpp"
#include "tools/gemm_report.hpp"
#include "tools/gemm_run.hpp"
#include "tools/guarded.hpp"
#include "tools/io/npy.hpp"
#include "tools/io/refuse.hpp"
#include "tools/json_output.hpp"
#include "tools/memory.hpp"
#include "tools/number_checks.hpp"
#include "tools/precision_options.hpp"
#include "tools/quantize_blocks.hpp"
#include "tools/reference_blas.hpp"
#include "tools/scale_file.hpp"
#include "tools/to_stderr.hpp"
#include "tools/trace/write_timeline.hpp"
#include "tools/words.hpp"

namespace tw {
namespace {

char const* const gemm_manual =
    "D = alpha A B + beta C. A is MxK, B is KxN, C and D are MxN; the sums over K are float32,\n"
    "of 8-bit integers exact (docs/formats.md).\n"
    "Fused: x = alpha (A B) row_scale col_scale + bias + beta C, D = activation(x) + residual; "
    "with\n"
    "a gate D = unit(x of gates) x of ups, MxN/2. Vectors are arrays of one dimension.\n"
    "Files: FILE.npy (float16, float32, float64, bfloat16 by ml_dtypes; C or Fortran order is "
    "used\n"
    "as it is), FILE.safetensors:TENSOR or FILE.safetensors.index.json:TENSOR (F16, BF16, F32,\n"
    "F64), or a stream: - and <(...). An array of one dimension is a row as A and a column as B, "
    "as\n"
    "in NumPy. D is written row-major, whole or not at all.\n"
    "Exit status: 0 done, 1 --check did not pass or the emulated kernel broke a rule (D is not\n"
    "written), 2 refused, 77 no usable GPU.";

device_choice device_of(std::string const& text) {
  if (text == "emu") return device_choice::emu;
  return text == "gpu" ? device_choice::gpu : device_choice::automatic;
}

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

struct output {
  std::string text, path;  // as given; of the file
  char const *option, *content;
};

/// Two results in one file: the second would replace the first. D may replace an operand, what
/// else is written may not.
void check_apart(std::vector<output> const& outputs, gemm_request const& r) {
  for (std::size_t i = 1; i < outputs.size(); ++i) {
    output const& out = outputs[i];
    for (std::size_t before = 0; before < i; ++before)
      if (same_file(outputs[before].path, out.path))
        refuse("TW0612", fmt::format("output {} of {}", out.text, out.option),
               fmt::format("the file that {} goes to", outputs[before].content), "a separate file",
               "each result replaces its whole file");
    epilogue_request const& e = r.epilogue;
    for (std::string const& operand :
         {r.a, r.b, r.c, r.scale_a, r.scale_b, r.second_a, r.second_b,
          r.scale_d.computed() ? "" : r.scale_d.text, e.bias, e.row_scale, e.col_scale, e.residual})
      if (!operand.empty() && operand != "-" && same_file(parse_address(operand).path, out.path))
        refuse("TW0612", fmt::format("output {} of {}", out.text, out.option),
               "the file of an operand", "a separate file");
  }
}

/// D and the auxiliary output: written first, visible after commit(). The matrices must live until
/// then.
class results {
 public:
  void add(matrix_address const& to, matrix_view const& m, std::vector<std::int64_t> const& shape) {
    std::string header = array_header(to, m.type, shape);
    std::span<std::byte const> const data(m.data, static_cast<std::size_t>(m.size().count));
    if (to.format == file_format::stream) {
      stdout_header_ = std::move(header), stdout_data_ = data;
      return;
    }
    files_.push_back(std::make_unique<output_file>(to.path));
    files_.back()->write(std::as_bytes(std::span(header)));
    files_.back()->write(data);
  }
  void add(matrix_address const& to, std::string const& header, matrix_view const& line) {
    files_.push_back(std::make_unique<output_file>(to.path));
    files_.back()->write(std::as_bytes(std::span(header)));
    files_.back()->write({line.data, static_cast<std::size_t>(line.size().count)});
  }
  void commit() {
    std::fwrite(stdout_header_.data(), 1, stdout_header_.size(), stdout);
    std::fwrite(stdout_data_.data(), 1, stdout_data_.size(), stdout);
    flush_stdout();
    for (auto const& file : files_) file->commit();
  }

 private:
  std::vector<std::unique_ptr<output_file>> files_;
  std::string stdout_header_;
  std::span<std::byte const> stdout_data_;
};

gemm_run run_of_nothing(gemm_files const& files) {
  gemm_run run;
  run.device = "none";
  run.plan.problem = files.problem();
  run.plan.kernel = "none";
  run.plan.why = "D has no elements";
  return run;
}

void check_truncation(gemm_request const& r) {
  auto const as_tf32 = [](std::optional<elem> e) { return e && multiplied_type(*e) == elem::tf32; };
  if (r.truncates_tf32 && (!as_tf32(r.dtype) || (r.dtype_b && !as_tf32(r.dtype_b))))
    refuse("TW0615", "command line", "--truncate-tf32 without --dtype tf32 or f32 for A and B",
           "--dtype tf32 with it", "");
}

/// Options of other operands beside a block-scaled format.
void check_format(gemm_request const& r) {
  bool const order = r.order_a || r.order_b, second = !r.second_a.empty() || !r.second_b.empty();
  if (!r.format) {
    if (order || second)
      refuse("TW0615", "command line",
             order ? "linear or 32x4x4 without a block-scaled format" : "--scale2-a or --scale2-b",
             "--dtype mxfp8, mxfp4 or nvfp4 with it", "");
    return;
  }
  bool const choice = r.scale_a_as.kind || r.scale_a_as.library || r.scale_b_as.kind ||
                      r.scale_b_as.library || r.scaling_a || r.scaling_b || r.dtype_b;
  if (choice)
    refuse("TW0615", "command line",
           fmt::format("--dtype {} with --dtype-b, --scaling-a, --scaling-b, or another convention "
                       "of scales",
                       traits_of(*r.format).name),
           "one of them", "wide matrices of block-scaled formats are quantised without an option");
}

/// Elements of 4 bits in a .npy file, as ml_dtypes has them: a byte for each.
host_buffer one_to_a_byte(matrix_view const& m) {
  std::int64_t const count = m.count().count;
  host_buffer wide(bytes{count});
  for (std::int64_t i = 0; i < count; ++i)
    wide.data()[i] = m.data[i / 2] >> (i % 2 * 4) & std::byte{0xF};
  return wide;
}

exit_status run_gemm(gemm_request const& r) {
  check_truncation(r);
  check_format(r);
  check_result_scale_options(r.scale_d);
  matrix_address const out = parse_address(r.d);
  check_output(out);
  bool const d_to_stdout = out.format == file_format::stream;
  if (d_to_stdout && r.json)
    refuse("TW0612", "output -", "--json, which prints to stdout too", "D in a file");
  std::vector<output> outputs{{out.text(), out.path, "-o", "D"}};
  std::optional<matrix_address> aux;
  if (!r.epilogue.aux.empty()) {
    check_output(aux.emplace(parse_address(r.epilogue.aux)));
    outputs.push_back({aux->text(), aux->path, "--aux", "the auxiliary output"});
  }
  std::optional<matrix_address> scales;
  if (r.scale_d.computed()) {
    scales = result_scale_address(r.scale_d, out);
    check_output(*scales);
    if (scales->format == file_format::stream)
      refuse("TW0612", "output " + scales->text() + " of --scale-d-out", "a stream",
             "FILE.npy or FILE.safetensors:TENSOR");
    outputs.push_back({scales->text(), scales->path, "--scale-d-out", "the scales of D"});
  }
  std::optional<matrix_address> second;
  if (r.scale_d.format == block_format::nvfp4) {
    check_output(second.emplace(second_level_address(r.scale_d, out)));
    if (second->format == file_format::stream)
      refuse("TW0612", "output " + second->text() + " of --scale2-d-out", "a stream",
             "FILE.npy or FILE.safetensors:TENSOR");
    outputs.push_back({second->text(), second->path, "--scale2-d-out", "the second level of D"});
  }
  timeline_files const timeline{r.trace, r.timeline};
  check_timeline_files(timeline);
  if (!r.trace.empty()) outputs.push_back({r.trace, r.trace, "--trace", "the trace"});
  if (!r.timeline.empty()) outputs.push_back({r.timeline, r.timeline, "--timeline", "the picture"});
  check_apart(outputs, r);
  if (timeline.any() && r.device == device_choice::gpu) refuse_trace_of_gpu();
  if (r.hazards && r.device == device_choice::gpu) refuse_hazards_of_gpu();
  gemm_files files(r);
  bool const on_gpu = choose_gpu(r.device);
  if (on_gpu) check_arch(r.arch, gpu().compute_capability);
  if (r.check) reference_blas::get();  // refuses before the work is done
  if (timeline.any() && on_gpu) refuse_trace_of_gpu();
  if (r.hazards && on_gpu) refuse_hazards_of_gpu();
  require_memory(files.host_memory(), "operands and D");
  gemm_data data(files);
  std::string said;
  bool const nothing = files.nothing_to_compute();
  gemm_run const run = nothing  ? run_of_nothing(files)
                       : on_gpu ? run_on_gpu(files, data, r.family)
                                : run_recorded(r, files, data, said);
  std::optional<check_report> check;
  if (r.check && !nothing) check = check_gemm(files.problem(), data.operands());
  bool const right = !check || check->passed();
  results written;
  host_buffer bytes_of_d;
  if (right && packs_in_pairs(data.d().type) && out.format != file_format::safetensors) {
    bytes_of_d = one_to_a_byte(data.d());
    written.add(out, array_header(out, data.d().type, files.d_array()),
                {elem::u8, order::row_major, 1, data.d().count().count, bytes_of_d.data()});
  } else if (right) {
    written.add(out, data.d(), files.d_array());
  }
  if (right && aux) written.add(*aux, data.aux(), files.aux_array());
  if (right && scales && files.scale_d())
    written.add(*scales, scale_header(*scales, files.scale_d()->tensor()), files.scale_d()->view());
  if (right && second && files.scale_d()) {
    matrix_view const levels = *files.scale_d()->second_levels();
    std::vector<std::int64_t> shape;  // of one matrix a scalar
    if (files.as_stack()) shape.push_back(levels.cols);
    written.add(*second, array_header(*second, levels.type, shape), levels);
  }
  if (r.json) {
    print_json("tilewright.gemm/1", json_report(r, files, run, check));
  } else if (!r.quiet) {
    std::string const report = text_report(r, files, run, check) + said;
    if (d_to_stdout)
      to_stderr("{}", report);
    else
      fmt::print("{}", report);
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
  verb->footer(gemm_manual);
  verb->add_option("A", r->a, "MxK matrix, or - for stdin")->required();
  verb->add_option("B", r->b, "KxN matrix")->required();
  verb->add_option("-o,--output", r->d, "where D goes; - for stdout")->required();
  verb->add_flag("--batch", r->batch,
                 "A, B and C may be arrays of three dimensions, stacks of matrices in C order; "
                 "a matrix is the same for all GEMMs; D and its scales are stacks");
  verb->add_flag("--transpose-a", r->transpose_a,
                 "the file holds A^T, KxM: it is read as its transpose, nothing is copied");
  verb->add_flag("--transpose-b", r->transpose_b,
                 "the file holds B^T, NxK, the usual order of weights");
  CLI::Option* const added =
      verb->add_option("-C,--add", r->c, "MxN matrix that is added, times beta");
  add_epilogue_options(*verb, r->epilogue);
  verb->get_option("--residual")->excludes(added);
  verb->add_option("--alpha", r->alpha, "factor of A B (default 1)")->check(in_float_range());
  verb->add_option("--beta", r->beta, "factor of C or the residual (default 1)")
      ->check(in_float_range());
  verb->add_option_function<std::string>(
          "--dtype,--ab",
          [r](std::string const& text) {
            r->format = parse_block_format(text);
            if (!r->format) r->dtype = parse_elem(text);
          },
          "type in which A and B are multiplied; other types are rounded to nearest even; f32 "
          "is another word for tf32 (default: bf16, or the files' if both are f16, 8-bit "
          "floats or 8-bit integers). mxfp8, mxfp4 and nvfp4: files of `tilewright quantize` and "
          "their scales, or wide matrices, which are quantised first (docs/block_scaling.md)")
      ->transform(elem_word(with_block_formats(operand_words())));
  verb->add_option_function<std::string>(
          "--dtype-b", [r](std::string const& text) { r->dtype_b = parse_elem(text); },
          "type of B where it is another than that of A: e4m3 beside e5m2, s8 beside u8")
      ->transform(elem_word(operand_words()));
  verb->add_option_function<std::string>(
          "--out-dtype,--d",
          [r](std::string const& text) {
            r->scale_d.format = parse_block_format(text);
            if (!r->scale_d.format) r->out_dtype = parse_elem(text);
          },
          "type of D (default: that of A and B; bf16 of 8-bit floats, s32 of integers, f32 of "
          "tf32; e4m3 or s8 with --scale-d); e4m3 and e5m2 saturate. mxfp8, mxfp4 and nvfp4: D "
          "and its scales, as `tilewright quantize` makes them of D in float32")
      ->transform(elem_word(with_block_formats(result_words_with_scales())));
  add_precision_options(*verb, r->precision);
  verb->add_flag("--truncate-tf32", r->truncates_tf32,
                 "tf32: the low 13 bits of float32 numbers are ignored, not rounded");
  add_invariance_option(*verb, r->reproducible);
  auto const add_scale = [&](char const* option, char const* text, std::string& file,
                             char const* as, scale_choice& choice,
                             std::optional<factor_order>& block_order) {
    CLI::Option* const scale = verb->add_option(option, file, text);
    verb->add_option_function<std::string>(
            as,
            [&choice, &block_order, as](std::string const& word) {
              block_order = parse_factor_order(word);
              if (block_order) return;
              auto const named = parse_scale_choice(word);
              if (!named)
                throw CLI::ValidationError(as, word + " is none of " + scale_choice_words() +
                                                   "; linear or 32x4x4 of block-scaled operands");
              choice = *named;
            },
            "its convention where it has several readings: " + scale_choice_words() +
                "; linear or 32x4x4 of block-scaled operands")
        ->needs(scale);
  };
  add_scale("--scale-a", "tensor of scales that A is multiplied by (docs/scales.md)", r->scale_a,
            "--scale-a-as", r->scale_a_as, r->order_a);
  add_scale("--scale-b", "tensor of scales that B is multiplied by", r->scale_b, "--scale-b-as",
            r->scale_b_as, r->order_b);
  for (auto const& [option, of, to] :
       {std::tuple{"--scale2-a", "A", &r->second_a}, std::tuple{"--scale2-b", "B", &r->second_b}})
    verb->add_option(
        option, *to,
        fmt::format("nvfp4: the float32 scale of {} as a whole, a file or a number", of));
  add_result_scale_options(*verb, r->scale_d,
                           "D in 8 bits with scales: amax-row or amax-1x128 computes them as "
                           "`tilewright quantize` does; "
                           "or a number, or a file with one, that D is divided by");
  verb->add_option("--scale-d-out", r->scale_d.out,
                   "where computed scales of D go (default: -o with .scale before its suffix)");
  verb->add_option("--scale2-d-out", r->scale_d.second_out,
                   "where the float32 scale of a D in nvfp4 goes (default: .scale2)");
  auto const add_scaling = [&](char const* option, char const* text, char const* scale,
                               std::optional<scaling>& kind) {
    verb->add_option_function<std::string>(
            option, [&kind](std::string const& word) { kind = parse_scale_choice(word)->kind; },
            text)
        ->transform(scaling_word())
        ->excludes(verb->get_option(scale));
  };
  add_scaling("--scaling-a",
              "A is wide: it is quantised first, to --dtype (default e4m3), with such scales",
              "--scale-a", r->scaling_a);
  add_scaling("--scaling-b", "the same of B", "--scale-b", r->scaling_b);
  verb->add_option_function<std::string>(
          "--device", [r](std::string const& text) { r->device = device_of(text); },
          "auto (default): the GPU if a Hopper is present, else the emulator")
      ->transform(place_word({"auto", "emu", "gpu"}));
  add_arch_option(*verb, r->arch);
  add_family_option(*verb, r->family);
  verb->add_option("--threads", r->threads,
                   "threads of the emulator (default: one per core that it may use)")
      ->check(CLI::Range(0, 1024));
  verb->add_option("--trace", r->trace,
                   "FILE.json: what the emulated kernel did when, for Perfetto (docs/timeline.md)");
  verb->add_option("--timeline", r->timeline, "FILE.svg: its first tiles as a picture");
  verb->add_flag("--hazards", r->hazards,
                 "in the emulator: check the order of the kernel's accesses, as `tilewright check "
                 "gemm` does; a fault ends the run with status 1, and D is not written");
  verb->add_flag("--check", r->check, "compare with float64 within the proven error bound");
  verb->add_flag("--json", r->json, "one JSON record on stdout");
  verb->add_flag("--quiet", r->quiet, "no report, no progress bar");
  verb->callback(
      [r, &status] { status = static_cast<int>(guarded(r->json, [&] { return run_gemm(*r); })); });
}

}  // namespace tw
