// SPDX-License-Identifier: Apache-2.0
// quantize_int4.cpp  Values and scales of symmetric int4 weights, to tensors that `prepare` reads.
#include "tools/command/quantize/quantize_int4.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>

#include "tilewright/kernel/weights/weight_quantize.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/to_stdout.hpp"
#include "tools/operand/operand.hpp"
#include "tools/operand/result_files.hpp"
#include "tools/report/json_output.hpp"

namespace tw {

exit_status run_quantize_int4(quantize_int4_request r) {
  if (!r.unused.empty())
    refuse("TW0455", r.unused, "it with --to int4", "int4 without it",
           "int4 has scales of bf16 or f16 for --group elements along K");
  matrix_address const out = parse_address(r.out);
  if (out.format != file_format::safetensors)
    refuse("TW0612", "output of --to int4", r.out,
           "FILE.safetensors:NAME: two elements fill a byte, and the file has the scales too");
  if (r.scale_out.empty()) r.scale_out = r.out + "_scale";
  std::vector<matrix_address> const to{out, parse_address(r.scale_out)};
  check_outputs(to);
  matrix_address const from = parse_address(r.in);
  check_apart(from, "", to);
  matrix_file const file(from, {.of_operand = true});
  matrix_view in = file.view();
  elem const scale = in.type == elem::f16 ? elem::f16 : elem::bf16;
  if (in.ord != order::row_major)
    refuse("TW0455", "order of " + r.in, "column-major", "rows of weights (N, K) in C order");
  operand const wide(in, elem::f32);
  int4_weights const w = quantize_to_int4(reinterpret_cast<float const*>(wide.view().data), in.rows,
                                          in.cols, r.group, scale);
  result_files files;
  files.add({to[0], elem::s8, {w.n, w.k / 2}, std::as_bytes(std::span(w.values))});
  files.add({to[1], scale, {w.n, w.groups()}, std::as_bytes(std::span(w.scales))});
  files.write();
  if (r.json) {
    print_json("tilewright.quantize_int4/1", {{"file", r.in},
                                              {"rows", w.n},
                                              {"cols", w.k},
                                              {"file_dtype", type_text(in)},
                                              {"values", r.out},
                                              {"scales", r.scale_out},
                                              {"group", w.group},
                                              {"scale_dtype", name(scale)},
                                              {"nan", w.nan},
                                              {"infinite", w.infinite},
                                              {"zero_groups", w.zero_groups}});
  } else if (!r.quiet) {
    to_stdout("quantize {}x{} {}, weights (N, K)\n", w.n, w.k, type_text(in));
    to_stdout("values   int4, two in a byte -> {}\n", r.out);
    to_stdout("scales   {} for {} elements, ({}, {}) -> {}\n", name(scale),
              w.group == 0 ? w.k : w.group, w.n, w.groups(), r.scale_out);
    if (w.nan > 0) to_stdout("note     {} NaN became 0\n", w.nan);
    if (w.infinite > 0) to_stdout("note     {} infinite: clamped to 7 scales\n", w.infinite);
    if (w.zero_groups > 0) to_stdout("note     {} groups are zeros: scale 1\n", w.zero_groups);
  }
  flush_stdout();
  files.commit();
  return exit_status::done;
}

}  // namespace tw
