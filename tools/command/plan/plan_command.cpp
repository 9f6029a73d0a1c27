// SPDX-License-Identifier: Apache-2.0
// plan_command.cpp  Options to a problem, all its plans, and a report.
#include "tools/command/verb_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "tilewright/base/elem_text.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/block_scale_convention.hpp"
#include "tilewright/problem/block_scaled.hpp"
#include "tilewright/problem/scale_place.hpp"
#include "tools/command/guarded.hpp"
#include "tools/command/help_text.hpp"
#include "tools/command/plan/group_timeline.hpp"
#include "tools/io/mapped_file.hpp"
#include "tools/io/output_file.hpp"
#include "tools/io/refuse.hpp"
#include "tools/report/field_words.hpp"
#include "tools/report/group_report.hpp"
#include "tools/report/json_output.hpp"
#include "tools/report/model_report.hpp"
#include "tools/report/plan_answer.hpp"
#include "tools/report/plan_report.hpp"
#include "tools/request/epilogue_request.hpp"
#include "tools/request/family_choice.hpp"
#include "tools/request/gemm_request.hpp"
#include "tools/request/group_files.hpp"
#include "tools/request/number_checks.hpp"
#include "tools/request/precision_options.hpp"
#include "tools/request/problem_request.hpp"
#include "tools/request/rank_options.hpp"
#include "tools/request/result_scales.hpp"
#include "tools/request/sizes.hpp"
#include "tools/request/words.hpp"

namespace tw {
namespace {

char const* const plan_manual =
    "Ranks all kernels for D = A B by predicted time on a device; plans that were measured to be "
    "the fastest come first. Nothing runs, no GPU is needed. docs/planning.md explains the "
    "columns.\n"
    "With --model the GEMMs of a transformer's layers are planned instead, for each number of "
    "tokens and each format.";

struct plan_request {
  std::vector<std::string> size;
  problem_request product;
  std::string ab = "bf16", b, d, d_order = "row", epilogue, family, scale_order, weights;
  std::string device = "h200";
  int sms = 0, top = 10;
  std::int64_t workspace = std::int64_t{64} << 20;
  bool as_json = false, all_kernels = false;
  std::string model;  // a path: the GEMMs of this transformer instead
  model_request layers;
  rank_request ranks;
};

gemm_problem problem_of(plan_request const& r) {
  problem_request a = r.product;
  std::vector<gemm_size> const sizes = parse_sizes(r.size);
  if (sizes.size() != 1)
    refuse("TW0803", "sizes of `tilewright plan`", fmt::format("{}", sizes.size()),
           "one GEMM: M N K, or MxNxK");
  a.m = sizes[0].m, a.n = sizes[0].n, a.k = sizes[0].k;
  a.format = parse_block_format(r.ab);
  a.ab = a.format ? traits_of(*a.format).value : parse_elem(r.ab).value();
  if (a.format && (a.scales.a || a.scales.b))
    refuse("TW0615", "command line",
           fmt::format("--dtype {} with --scale-a or --scale-b", traits_of(*a.format).name),
           "one of them: the format has its scales", "--scale-order says where they lie");
  if (!a.format && !r.scale_order.empty())
    refuse("TW0615", "command line", "--scale-order without a block-scaled format",
           "--dtype mxfp8, mxfp4 or nvfp4 with it", "");
  if (!r.scale_order.empty()) a.scale_order = parse_factor_order(r.scale_order).value();
  if (!r.b.empty()) a.b = parse_elem(r.b);
  elem const usual = a.format && !a.scale_d.any()
                         ? elem::bf16
                         : default_d(a.ab, a.scale_d.any(), a.scales.a || a.scales.b);
  a.scale_d.format = parse_block_format(r.d);
  check_result_scale_options(a.scale_d);
  a.d = r.d.empty()        ? usual
        : a.scale_d.format ? traits_of(*a.scale_d.format).value
                           : parse_elem(r.d).value();
  a.d_order = r.d_order == "row" ? order::row_major : order::col_major;
  if (!r.weights.empty()) {
    auto const weights = parse_weights(r.weights, a.ab);
    if (!weights) refuse("TW0615", "--weights", r.weights, weights_words, "docs/weights4.md");
    a.weights = *weights;
  }
  a.epilogue = bench::find_epilogue(r.epilogue).value();
  return problem_of(a);
}

std::vector<std::string> ids_of_devices() {
  std::vector<std::string> ids;
  for (device const& d : known_devices()) ids.push_back(d.id);
  return ids;
}

/// "h200 (NVIDIA H200), h20 (NVIDIA H20, data sheet)".
std::string device_ids() {
  std::string text;
  for (device const& d : known_devices())
    text += fmt::format("{}{} ({}{})", text.empty() ? "" : ", ", d.id, d.name,
                        d.source == calibration_source::measured ? "" : ", data sheet");
  return text;
}

device device_of(plan_request const& r) {
  device const& whole = known_device(r.device);
  return r.sms > 0 ? with_sm_count(whole, r.sms) : whole;
}

exit_status plan_layers(plan_request const& r) {
  mapped_file const file(r.model);
  std::string const config(reinterpret_cast<char const*>(file.content().data()),
                           file.content().size());
  device const dev = device_of(r);
  model_plan const made = plan_model(model_shape_of(config), r.layers, dev);
  if (r.as_json)
    print_json("tilewright.model_plan/1", model_json(made, dev, with_options));
  else
    fmt::print("{}", model_text(made, dev));
  return exit_status::done;
}

/// Refuses options of one GEMM with --model, and options of --model without it.
void check_options(CLI::App const& verb, plan_request const& r) {
  static constexpr std::array of_model{"--model", "--tokens", "--formats", "--tp"};
  static constexpr std::array of_both{"--device", "--sms", "--json"};
  bool const model = !r.model.empty();
  if (!model && r.size.empty())
    refuse("TW0615", "command line", "neither a size nor --model", "M N K, or --model config.json",
           "");
  for (CLI::Option const* o : verb.get_options()) {
    std::string const name = o->get_name();
    if (o->count() == 0 || std::ranges::find(of_both, name) != of_both.end()) continue;
    bool const for_model = std::ranges::find(of_model, name) != of_model.end();
    if (for_model != model)
      refuse("TW0615", "command line", model ? name + " with --model" : name + " without --model",
             model ? "--tokens, --formats, --tp, --device, --sms and --json with it"
                   : "--model config.json with it",
             "");
  }
}

exit_status plan_ranks(plan_request const& r) {
  std::string const& timeline = r.ranks.timeline;
  check_replaceable(timeline, "--timeline", "<");
  constexpr int most_rows = 16;
  if (!timeline.empty() && r.ranks.ranks > most_rows)
    refuse("TW0615", "command line", fmt::format("--timeline with {} ranks", r.ranks.ranks),
           fmt::format("at most {}", most_rows), "");
  device const dev = device_of(r);
  dist::group_plan const g = dist::plan_over_ranks(
      r.ranks.operation(), problem_of(r), r.ranks.ranks, dev, {}, r.ranks.hosts, !r.ranks.no_p2p);
  if (!timeline.empty()) {
    std::string const svg = call_timeline_svg(g);
    output_file file(timeline);
    file.write(std::as_bytes(std::span(svg)));
    file.commit();
  }
  if (r.as_json)
    print_json("tilewright.group_plan/1", group_plan_json(g));
  else
    fmt::print("{}", dist::to_text(g));
  return exit_status::done;
}

exit_status plan(plan_request const& r) {
  if (!r.model.empty()) return plan_layers(r);
  if (r.ranks.any()) return plan_ranks(r);
  void* const aligned = reinterpret_cast<void*>(std::uintptr_t{0x100000});  // never followed
  gemm_operands const o{aligned, aligned, nullptr, aligned, aligned, r.workspace};
  gemm_problem const p = problem_of(r);
  device const dev = device_of(r);
  kernel_set const kernels = r.all_kernels ? kernel_set::all : kernel_set::built;
  auto const plans_for = [&](gemm_problem const& q) {
    return plans_of_family(q, o, dev, r.family, kernels);
  };
  plan_answer const a = answer_of(p, r.product.layout, r.epilogue, dev, r.workspace, plans_for);
  if (r.as_json)
    print_json("tilewright.plan/1", plan_json(a, r.top));
  else
    fmt::print("{}", plan_text(a, r.top, report_columns()));
  return exit_status::done;
}

}  // namespace

void add_plan_command(CLI::App& app, int& status) {
  auto const r = std::make_shared<plan_request>();
  CLI::App* verb = app.add_subcommand(
      "plan", "show the kernel chosen for a GEMM, the reason and the predicted time");
  verb->footer(plan_manual);
  verb->add_option("SIZE", r->size, "M N K, or MxNxK")->expected(1, 3);
  verb->add_option("--dtype,--ab", r->ab,
                   "type of A and B, or their block-scaled format (docs/block_scaling.md)")
      ->transform(elem_word(with_block_formats(operand_words())))
      ->capture_default_str();
  verb->add_option("--dtype-b", r->b, "type of B where it is another than that of A")
      ->transform(elem_word(operand_words()));
  verb->add_option(
          "--out-dtype,--d", r->d,
          "type of D (default: that of A and B; bf16 of 8-bit floats, s32 of integers or bf16 "
          "with scales, f32 of tf32; e4m3 or s8 with --scale-d); or a block-scaled format")
      ->transform(elem_word(with_block_formats(result_words_with_scales())));
  add_precision_options(*verb, r->product.precision);
  add_invariance_option(*verb, r->product.reproducible);
  for (role const x : a_and_b) {
    std::string const option = option_of(scales_of(x));
    auto& choice = r->product.scales[x];
    verb->add_option_function<std::string>(
        option,
        [&choice, option](std::string const& word) {
          choice = parse_scale_choice(word);
          if (!choice || !choice->kind)
            throw CLI::ValidationError(option, word +
                                                   ": need tensor, row, 1x128 or 128x128, "
                                                   "after a library and a colon or alone");
        },
        x == role::a ? "scaling of A: tensor, row, 1x128 or 128x128, also torch:1x128 and so on"
                     : "scaling of B");
  }
  add_result_scale_words(*verb, r->product.scale_d);
  verb->add_option("--scale-order", r->scale_order,
                   "scales of a block-scaled format: 32x4x4 (default), or linear, which is copied")
      ->transform(one_of({"32x4x4", "linear"}, {{"swizzled", "32x4x4"}}));
  verb->add_option("--weights", r->weights,
                   "B is prepared 4-bit weights: mxfp4, nvfp4, int4 (group 128), int4:GROUP, "
                   "int4:GROUP:integers or floats (docs/weights4.md)");
  verb->add_option("--layout", r->product.layout,
                   "A is T = (m, k) or N = (k, m) in memory, B is N = (n, k) or T = (k, n)")
      ->transform(one_of({"TN", "TT", "NT", "NN"}))
      ->capture_default_str();
  verb->add_option("--epilogue", r->epilogue,
                   "words joined by _: " + bench::epilogue_words() +
                       "; also as gemm has them, swiglu:interleaved (docs/epilogues.md)")
      ->check([](std::string const& text) {
        return bench::find_epilogue(text) ? "" : "no epilogue has the name " + text;
      });
  verb->add_flag("--beta-c", r->product.add_c, "beta C is added, of D's type and order");
  verb->add_option("--d-order", r->d_order, "which index of D is contiguous: row-major or not")
      ->transform(one_of({"row", "col"}))
      ->capture_default_str();
  verb->add_option("--batch", r->product.batch,
                   "number of GEMMs of this shape, stored one after another")
      ->check(above_zero())
      ->capture_default_str();
  add_groups_of_plan(*verb, r->product.groups);
  verb->get_option("--groups")->excludes(verb->get_option("--batch"));
  verb->add_option("--lda", r->product.lda, "leading dimension of A in elements (default: dense)");
  verb->add_option("--ldb", r->product.ldb, "leading dimension of B in elements (default: dense)");
  verb->add_option("--ldd", r->product.ldd, "leading dimension of D in elements (default: dense)");
  verb->add_option("--device", r->device, "device to plan for: " + device_ids())
      ->transform(device_word(ids_of_devices()))
      ->capture_default_str();
  add_family_option(*verb, r->family);
  verb->add_option("--sms", r->sms, "SMs of the device (default: all)")->check(CLI::Range(1, 1024));
  verb->add_option("--workspace", r->workspace, "bytes that the launch may use")
      ->check(not_negative())
      ->capture_default_str();
  verb->add_option("--top", r->top, "plans that are shown; 0: all")
      ->check(not_negative())
      ->capture_default_str();
  verb->add_flag("--all-kernels", r->all_kernels,
                 "also plans whose kernel this build lacks (TW_KERNELS)");
  add_rank_plan_options(*verb, r->ranks);
  for (char const* const other : {"--groups", "--batch", "--top", "--all-kernels", "--family"})
    verb->get_option("--ranks")->excludes(verb->get_option(other));
  verb->add_option("--model", r->model,
                   "config.json of a transformer: the GEMMs of its layers, instead of SIZE");
  verb->add_option("--tokens", r->layers.tokens, "with --model: numbers of tokens, M of the GEMMs")
      ->delimiter(',')
      ->check(above_zero())
      ->capture_default_str();
  verb->add_option("--formats", r->layers.formats,
                   "with --model: types or formats of the operands: bf16, e4m3:1x128, mxfp8, nvfp4")
      ->delimiter(',')
      ->capture_default_str();
  verb->add_option("--tp", r->layers.tp, "with --model: GPUs that share a layer")
      ->check(above_zero())
      ->capture_default_str();
  verb->add_flag("--json", r->as_json, "one JSON record on stdout");
  verb->callback([r, verb, &status] {
    status = static_cast<int>(guarded(r->as_json, [&] {
      check_options(*verb, *r);
      return plan(*r);
    }));
  });
}

}  // namespace tw
