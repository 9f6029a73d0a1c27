// SPDX-License-Identifier: Apache-2.0
// gemm_options.cpp  Words of the command line to the members of a gemm_request.
#include "tools/command/gemm/gemm_options.hpp"

#include <fmt/format.h>

#include <string>

#include "tilewright/base/elem_text.hpp"
#include "tilewright/problem/block_scale_convention.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tools/request/epilogue_request.hpp"
#include "tools/request/family_choice.hpp"
#include "tools/request/number_checks.hpp"
#include "tools/request/precision_options.hpp"
#include "tools/request/rank_options.hpp"
#include "tools/request/result_scales.hpp"
#include "tools/request/words.hpp"

namespace tw {

namespace {

char const* const gemm_manual =
    "D = alpha A B + beta C. A is MxK, B is KxN, C and D are MxN; the sums over K are float32, "
    "of 8-bit integers exact (docs/formats.md).\n"
    "Fused: x = alpha (A B) row_scale col_scale + bias + beta C, D = activation(x) + residual; "
    "with a gate D = unit(x of gates) x of ups, MxN/2. Vectors are arrays of one dimension.\n"
    "Files: FILE.npy (float16, float32, float64, int8, uint8, int32; by ml_dtypes bfloat16, 8-bit "
    "and 4-bit floats; C or Fortran order is used as it is), FILE.safetensors:TENSOR or "
    "FILE.safetensors.index.json:TENSOR (F16, BF16, F32, F64, I8, U8, I32, F8_E4M3, F8_E5M2, F4; "
    "scales also F8_E8M0), or a stream: - and <(...). An array of one dimension is a row as A and "
    "a column as B, as in NumPy. D is written row-major, whole or not at all.\n"
    "Exit status: 0 done, 1 --check did not pass or the emulated kernel broke a rule (D is not "
    "written), 2 refused, 77 no usable GPU.";

std::string second_option(role x) { return fmt::format("--scale2-{}", row_of(x).word); }

device_choice device_of(std::string const& text) {
  if (text == "emu") return device_choice::emu;
  return text == "gpu" ? device_choice::gpu : device_choice::automatic;
}

}  // namespace

void add_gemm_options(CLI::App& verb, std::shared_ptr<gemm_request> const& r) {
  verb.footer(gemm_manual);
  verb.add_option("A", r->of.a.file, "MxK matrix, or - for stdin")->required();
  verb.add_option("B", r->of.b.file, "KxN matrix")->required();
  verb.add_option("-o,--output", r->d, "where D goes; - for stdout")->required();
  verb.add_flag("--batch", r->batch,
                "A, B and C may be arrays of three dimensions, stacks of matrices in C order; "
                "a matrix is the same for all GEMMs; D and its scales are stacks");
  add_group_options(verb, r->groups);
  verb.get_option("--groups")->excludes(verb.get_option("--batch"));
  verb.add_flag("--transpose-a", r->of.a.transpose,
                "the file holds A^T, KxM: it is read as its transpose, nothing is copied");
  verb.add_flag("--transpose-b", r->of.b.transpose,
                "the file holds B^T, NxK, the usual order of weights");
  CLI::Option* const added =
      verb.add_option("-C,--add", r->c, "MxN matrix that is added, times beta");
  add_epilogue_options(verb, r->epilogue);
  verb.get_option("--residual")->excludes(added);
  verb.add_option("--alpha", r->alpha, "factor of A B (default 1)")->check(in_float_range());
  verb.add_option("--beta", r->beta, "factor of C or the residual (default 1)")
      ->check(in_float_range());
  verb.add_option_function<std::string>(
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
  verb.add_option_function<std::string>(
          "--dtype-b", [r](std::string const& text) { r->dtype_b = parse_elem(text); },
          "type of B where it is another than that of A: e4m3 beside e5m2, s8 beside u8")
      ->transform(elem_word(operand_words()));
  verb.add_option_function<std::string>(
          "--out-dtype,--d",
          [r](std::string const& text) {
            r->scale_d.format = parse_block_format(text);
            if (!r->scale_d.format) r->out_dtype = parse_elem(text);
          },
          "type of D (default: that of A and B; bf16 of 8-bit floats, s32 of integers or bf16 with "
          "scales of A or B, f32 of tf32; e4m3 or s8 with --scale-d); e4m3 and e5m2 saturate. "
          "mxfp8, mxfp4 and nvfp4: D "
          "and its scales, as `tilewright quantize` makes them of D in float32")
      ->transform(elem_word(with_block_formats(result_words_with_scales())));
  add_precision_options(verb, r->precision);
  verb.add_flag("--truncate-tf32", r->truncates_tf32,
                "tf32: the low 13 bits of float32 numbers are ignored, not rounded");
  add_invariance_option(verb, r->reproducible);
  for (role const x : a_and_b) {
    factor_request& of = r->of[x];
    std::string const option = option_of(scales_of(x)), as = option + "-as";
    CLI::Option* const scale =
        verb.add_option(option, of.scale,
                        fmt::format("tensor of scales that {} is multiplied by, or a number{}",
                                    row_of(x).text, x == role::a ? " (docs/scales.md)" : ""));
    verb.add_option_function<std::string>(
            as,
            [&of, as](std::string const& word) {
              of.order = parse_factor_order(word);
              if (of.order) return;
              auto const named = parse_scale_choice(word);
              if (!named)
                throw CLI::ValidationError(as, word + " is none of " + scale_choice_words() +
                                                   "; linear or 32x4x4 of block-scaled operands");
              of.scale_as = *named;
            },
            "its convention where it has several readings: " + scale_choice_words() +
                "; linear or 32x4x4 of block-scaled operands")
        ->needs(scale);
  }
  for (role const x : a_and_b)
    verb.add_option(second_option(x), r->of[x].second,
                    fmt::format("nvfp4: the float32 scale of {} as a whole, a file or a number",
                                row_of(x).text));
  for (role const x : a_and_b)
    verb.add_option_function<std::string>(
            second_option(x) + "-as",
            [&of = r->of[x]](std::string const& word) {
              of.second_is_reciprocal = word == "reciprocal";
            },
            "scale (default), or reciprocal: 1 / scale, as compressed-tensors has it in "
            "weight_global_scale")
        ->needs(verb.get_option(second_option(x)))
        ->transform(one_of({"scale", "reciprocal"}));
  add_result_scale_options(verb, r->scale_d,
                           "D in 8 bits with scales: amax-row or amax-1x128 computes them as "
                           "`tilewright quantize` does; "
                           "or a number, or a file with one, that D is divided by");
  verb.add_option("--scale-d-out", r->scale_d.out,
                  "where computed scales of D go (default: -o with .scale before its suffix)");
  verb.add_option("--scale2-d-out", r->scale_d.second_out,
                  "where the float32 scale of a D in nvfp4 goes (default: .scale2)");
  for (role const x : a_and_b)
    verb.add_option_function<std::string>(
            fmt::format("--scaling-{}", row_of(x).word),
            [&of = r->of[x]](std::string const& word) {
              of.quantised_with = parse_scale_choice(word)->kind;
            },
            x == role::a
                ? "A is wide: it is quantised first, to --dtype (default e4m3; s8 beside a B of "
                  "int8), with such scales; tensor with --scale-a: with that scale, a static "
                  "input_scale"
                : "the same of B")
        ->transform(scaling_word());
  verb.add_option_function<std::string>(
          "--device", [r](std::string const& text) { r->device = device_of(text); },
          "auto (default): a GPU that has kernels here (A100, Hopper, Blackwell), else the "
          "emulator")
      ->transform(place_word({"auto", "emu", "gpu"}));
  add_arch_option(verb, r->arch);
  add_family_option(verb, r->family);
  verb.add_option("--threads", r->threads,
                  "threads of the emulator (default: one per core that it may use)")
      ->check(CLI::Range(0, 1024));
  verb.add_option("--trace", r->trace,
                  "FILE.json: what the emulated kernel did when, for Perfetto (docs/timeline.md)");
  verb.add_option(
      "--timeline", r->timeline,
      "FILE.svg: its first tiles as a picture; with --ranks the GEMMs, copies and waits "
      "of each rank");
  add_rank_options(verb, r->ranks);
  for (char const* const other : {"--batch", "--groups", "--trace", "--family"})
    verb.get_option("--ranks")->excludes(verb.get_option(other));
  verb.add_flag("--hazards", r->hazards,
                "in the emulator: check the order of the kernel's accesses, as `tilewright check "
                "gemm` does; a fault ends the run with status 1, and D is not written");
  verb.add_flag("--check", r->check, "compare with float64 within the proven error bound");
  verb.add_flag("--json", r->json, "one JSON record on stdout");
  verb.add_flag("--quiet", r->quiet, "no report, no progress bar");
}

}  // namespace tw
