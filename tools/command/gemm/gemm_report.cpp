// SPDX-License-Identifier: Apache-2.0
// gemm_report.cpp  The two forms of the same facts.
#include "tools/command/gemm/gemm_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "tilewright/problem/block_scale_convention.hpp"
#include "tilewright/problem/block_scaled.hpp"
#include "tools/command/gemm/gemm_notes.hpp"
#include "tools/operand/number_or_file.hpp"
#include "tools/report/field_words.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

constexpr char const* overflow = "float32 may overflow on the way";

/// fmt prints the sign of a NaN, which means nothing.
double unsigned_nan(double x) { return std::isnan(x) ? NAN : x; }

char const* text_of(order o) { return o == order::row_major ? "row-major" : "column-major"; }

std::string matrix_text(matrix_view const& m, elem used, bool transposed = false,
                        bool quantised = false) {
  std::string text = fmt::format("{}x{} {} {}", m.rows, m.cols, type_text(m), text_of(m.ord));
  if (m.matrices > 1) text = fmt::format("{} of ", m.matrices) + text;
  if (transposed) text += ", the transpose of its file";
  if (m.type != used || m.doubles)
    text += fmt::format(", {} to {}", quantised ? "quantised" : "rounded", name(used));
  return text;
}

std::string rate(double tflops) {
  return tflops >= 1.0 ? fmt::format("{:.1f} TFLOP/s", tflops)
                       : fmt::format("{:.1f} GFLOP/s", 1e3 * tflops);
}

std::string seconds_text(double s) {
  return s >= 1.0    ? fmt::format("{:.2f} s", s)
         : s >= 1e-3 ? fmt::format("{:.2f} ms", 1e3 * s)
                     : fmt::format("{:.1f} us", 1e6 * s);
}

/// The elements that were compared: "all 16 elements against float64", or how many of them.
std::string coverage(check_report const& c) {
  std::int64_t const all = c.judged + c.unjudged;
  std::string const what =
      c.rows_checked < c.rows
          ? fmt::format("{} of {} rows (too large for all)", c.rows_checked, c.rows)
      : c.unjudged == 0 ? fmt::format("all {} elements", all)
                        : fmt::format("{} of {} elements", c.judged, all);
  return what + " against float64" +
         (c.unjudged == 0 ? "" : fmt::format(", {} not judged ({})", c.unjudged, overflow));
}

char const* outcome_of(check_report const& c) {
  if (c.wrong > 0 || c.wrong_scales > 0) return "FAILED";
  return c.judged_enough() ? "passed" : "INCONCLUSIVE";
}

/// "error 0.02 (allowed 0.04)" is for finite numbers; of others the two values say all.
std::string place_text(check_place const& p) {
  return fmt::format(
      "got {:.9g}, exact {:.9g}{}", unsigned_nan(p.got), unsigned_nan(p.expected),
      std::isfinite(p.expected) ? fmt::format(", allowed {:.3g}", p.bound) : std::string());
}

/// "(3, 5)", or of a batch "(3, 5) of matrix 1".
std::string where_text(check_place const& p, std::int64_t batch) {
  return fmt::format("({}, {}){}", p.row, p.col,
                     batch > 1 ? fmt::format(" of matrix {}", p.product) : "");
}

std::string check_text(check_report const& c, std::int64_t batch) {
  std::string text = fmt::format("check    {}: {}\n", outcome_of(c), coverage(c));
  if (!c.judged_enough())
    text += fmt::format("         at least {:.0f} % of the elements must be judged\n",
                        100 * check_report::min_judged_share);
  if (c.judged == 0) return text;
  check_place const &e = c.largest_error, &r = c.largest_ratio;
  text += fmt::format(
      "         largest error {:.3g} at {}{}\n"
      "         largest share of the bound {:.3f} at {}: {}\n",
      e.error, where_text(e, batch),
      std::isfinite(e.expected) ? fmt::format(", where {:.3g} is allowed", e.bound) : "", r.ratio,
      where_text(r, batch), place_text(r));
  if (c.scales > 0)
    text += fmt::format("         {} of {} scales of D are those of their blocks\n",
                        c.scales - c.wrong_scales, c.scales);
  if (c.wrong > 0)
    text += fmt::format("         {} element{} beyond the bound\n", c.wrong,
                        c.wrong == 1 ? " is" : "s are");
  return text;
}

json place_json(check_place const& p) {
  return {{"product", p.product},   {"row", p.row},     {"col", p.col},     {"got", p.got},
          {"expected", p.expected}, {"bound", p.bound}, {"error", p.error}, {"ratio", p.ratio}};
}

json check_json(check_report const& c) {
  auto const judged = [&](json const& value) { return c.judged > 0 ? value : json(nullptr); };
  return {{"passed", c.passed()},
          {"rows", c.rows},
          {"rows_checked", c.rows_checked},
          {"max_error", judged(c.largest_error.error)},
          {"bound", judged(c.largest_error.bound)},
          {"ratio", judged(c.largest_ratio.ratio)},
          {"wrong", c.wrong},
          {"scales", c.scales},
          {"wrong_scales", c.wrong_scales},
          {"judged", c.judged},
          {"unjudged", c.unjudged},
          {"min_judged_share", check_report::min_judged_share},
          {"at_max_error", judged(place_json(c.largest_error))},
          {"at_max_ratio", judged(place_json(c.largest_ratio))}};
}

json matrix_json(std::string const& address, matrix_view const& m, elem used) {
  return {{"file", address},     {"rows", m.rows},
          {"cols", m.cols},      {"file_dtype", type_text(m)},
          {"dtype", name(used)}, {"layout", text_of(m.ord)}};
}

/// The order of a plan's sums; its text is the same on every device.
std::string order_text(gemm_plan const& plan) {
  return plan.family->order_of_sums(plan, known_device("h200")).text;
}

/// A or B with the type that its file stores. A .npy file of 4-bit values has the type uint8: the
/// values of a block-scaled operand have the type of the format.
matrix_view as_read(gemm_files const& f, role x) {
  matrix_view m = f.matrix(x);
  if (is_block_scaled(f.problem()) && !f.quantised(x)) m.type = matrix_of(f.problem(), x)->type;
  return m;
}

/// The convention of scales of A or B.
std::string text_of_scale(gemm_problem const& p, scale_desc const& s, scaled_operand const& x) {
  return is_block_scaled(p) ? block_scale_text(s, x) : scale_text(s, x);
}

}  // namespace

/// Where computed scales of D go.
static std::string scale_d_file(gemm_request const& r) {
  return result_scale_address(r.scale_d, parse_address(r.d)).text();
}

/// The second levels of NVFP4's scales of D, of each matrix, once they are computed; none of other
/// scales.
static std::vector<float> second_levels_of_d(gemm_files const& f) {
  std::optional<matrix_view> const levels = f.scale_d()->second_levels();
  if (!levels) return {};
  auto const* first = reinterpret_cast<float const*>(levels->data);
  return {first, first + levels->cols};
}
static std::string second_level_text(std::vector<float> const& levels) {
  if (levels.size() == 1) return fmt::format("second level {:g}", levels[0]);
  auto const [low, high] = std::ranges::minmax_element(levels);
  return fmt::format("second levels of {} matrices, {:g} to {:g}", levels.size(), *low, *high);
}
static std::string second_level_file(gemm_request const& r) {
  return second_level_address(r.scale_d, parse_address(r.d)).text();
}

/// ", 8 groups of m" or ", batch 3".
static std::string many_text(gemm_problem const& p) {
  if (!p.groups) return p.batch > 1 ? fmt::format(", batch {}", p.batch) : "";
  char const* const axis = group_axis_names[static_cast<int>(p.groups->axis)];
  return fmt::format(", {} groups of {}", p.groups->count, p.groups->slots() ? "slots" : axis);
}

namespace {

/// "ranks    4, all-gather + GEMM, pieces: rows 8+8+8+8 of A, columns 16+16+16+16 of B".
std::string ranks_text(ranks_done const& d) {
  bool const split = splits_k(d.op);
  std::string text = fmt::format(
      "ranks    {}, {}, {}: rows {} of {}, {} {}\n", d.ranks,
      split ? fmt::format("GEMM + {}", name(d.op)) : fmt::format("{} + GEMM", name(d.op)),
      name(d.via), d.rows, split ? "D" : "A", split ? "K" : "columns of B", d.parts);
  if (d.partials) text += fmt::format("         partial results {}\n", name(*d.partials));
  if (d.op == dist::operation::gemm_all_reduce)
    text += d.equal ? "         D has equal bits on all ranks\n"
                    : "         D differs from rank to rank\n";
  return text;
}

json ranks_json(ranks_done const& d) {
  return {{"ranks", d.ranks},
          {"op", name(d.op)},
          {"path", name(d.via)},
          {"rows", d.rows},
          {splits_k(d.op) ? "k" : "columns", d.parts},
          {"partials", d.partials ? json(name(*d.partials)) : json(nullptr)},
          {"equal", d.equal}};
}

}  // namespace

std::string text_report(gemm_request const& r, gemm_files const& f, gemm_run const& run,
                        std::optional<check_report> const& check) {
  gemm_problem const& p = f.problem();
  std::string text =
      fmt::format("GEMM     D = {}A B", p.alpha == 1.0F ? "" : fmt::format("{:g} ", p.alpha));
  if (p.c) text += fmt::format(" + {}C", p.beta == 1.0F ? "" : fmt::format("{:g} ", p.beta));
  if (is_fused(p.epilogue)) text += " (" + text_of(p.epilogue) + ")";
  text += fmt::format(", M = {}, N = {}, K = {}{}\n", p.m, p.n, p.k, many_text(p));
  for (role const x : a_and_b)
    text += fmt::format(
        "{}        {}\n", row_of(x).text,
        matrix_text(as_read(f, x), matrix_of(p, x)->type, r.of[x].transpose, f.quantised(x)));
  if (f.weights())
    text += fmt::format("weights  {}, {}, factor {:g}\n", text_of(f.weights()->desc().format),
                        f.weights()->checkpoint_layout().empty()
                            ? "prepared"
                            : f.weights()->checkpoint_layout() + ", prepared now",
                        f.weights()->desc().factor);
  for (role const x : a_and_b) {
    auto const& s = scale(p, x);
    if (!s) continue;
    float const* const second = f.second_level(x);
    matrix_view const* const file = f.scales(x);
    bool const given = f.quantised(x) && !(r.of[x].scale + r.of[x].second).empty();
    text += fmt::format("scale {}  {}{}{}{}\n", row_of(x).text,
                        text_of_scale(p, *s, scaled_operand_of(p, x)),
                        second != nullptr ? fmt::format(" {:g}", *second) : "",
                        file != nullptr ? conversion_text(*file) : "", given ? ", given" : "");
  }
  if (p.c) text += fmt::format("C        {}\n", matrix_text(*f.c(), p.c->type));
  text += fmt::format("D        {} -> {}\n", matrix_text(f.d_shape(), p.d.type), r.d);
  if (f.scale_d()) {
    text += fmt::format("scale D  {}{}\n", text_of(*f.scale_d(), p),
                        p.scale_d->given ? "" : " -> " + scale_d_file(r));
    if (auto const levels = second_levels_of_d(f); !levels.empty())
      text += fmt::format("         {} -> {}\n", second_level_text(levels), second_level_file(r));
  }
  if (p.aux)
    text +=
        fmt::format("aux      {} -> {}\n", matrix_text(f.aux_shape(), p.aux->type), r.epilogue.aux);
  for (std::string const& note : notes_of(r, f)) text += fmt::format("note     {}\n", note);
  if (f.nothing_to_compute())
    return text + fmt::format("note     {}: nothing was computed\n",
                              p.groups && p.groups->count == 0 ? "no groups" : "D has no elements");
  text += run.on_gpu ? fmt::format("device   GPU: {}\n", run.device)
                     : fmt::format("device   {}, {} thread{}\n", run.device, run.threads,
                                   run.threads == 1 ? "" : "s");
  if (run.ranks) text += ranks_text(*run.ranks);
  text += fmt::format("kernel   {}\n         {}\n", run.plan.kernel, run.plan.why);
  if (p.reproducible) text += fmt::format("order    {}\n", order_text(run.plan));
  text += fmt::format("time     {}, {}{}\n", seconds_text(run.seconds), rate(run.tflops()),
                      run.on_gpu ? fmt::format(" (mean of {} runs)", run.timed_runs) : "");
  if (run.hazards) text += "hazards  checked: no fault was found\n";
  if (run.hazards && !run.ordinary_accesses)
    text +=
        "         ordinary loads and stores were not seen: the kernel was compiled without\n"
        "         -fsanitize=thread\n";
  if (check) text += check_text(*check, p.batch);
  return text;
}

json json_report(gemm_request const& r, gemm_files const& f, gemm_run const& run,
                 std::optional<check_report> const& check) {
  gemm_problem const& p = f.problem();
  json out{{"m", p.m},         {"n", p.n},         {"k", p.k},
           {"batch", p.batch}, {"alpha", p.alpha}, {"beta", p.beta}};
  if (f.weights())
    out["weights"] = {{"format", name(p.weights_b.code)},
                      {"scale_dtype", name(p.weights_b.scale)},
                      {"zeros", name(p.weights_b.zeros)},
                      {"group", p.weights_b.group},
                      {"factor", f.weights()->desc().factor},
                      {"prepared", f.weights()->checkpoint_layout().empty()}};
  if (p.groups)
    out["groups"] = {{"count", p.groups->count},
                     {"axis", group_axis_names[static_cast<int>(p.groups->axis)]},
                     {"form", group_form_names[static_cast<int>(p.groups->form)]}};
  for (role const x : a_and_b) {
    json& record = out[row_of(x).word];
    record = matrix_json(r.of[x].file, as_read(f, x), matrix_of(p, x)->type);
    record["transposed"] = r.of[x].transpose;
  }
  auto const scale_json = [&](role x) {
    auto const& s = scale(p, x);
    if (!s) return json(nullptr);
    std::string const& file = r.of[x].scale;
    matrix_view const* const view = f.scales(x);
    json record{{"file", file},
                {"dtype", name(s->type)},
                {"convention", text_of_scale(p, *s, scaled_operand_of(p, x))}};
    bool const read = !file.empty() && !is_number(file) && view != nullptr && !f.quantised(x);
    record["file_dtype"] = read ? json(type_text(*view)) : json(nullptr);
    record["given"] = !file.empty() || !r.of[x].second.empty();
    if (float const* const second = f.second_level(x)) record["second_level"] = *second;
    return record;
  };
  out["format"] = r.format && is_block_scaled(p) ? json(traits_of(*r.format).name) : json(nullptr);
  for (role const x : a_and_b) out[row_of(scales_of(x)).word] = scale_json(x);
  std::string const& added = r.epilogue.residual.empty() ? r.c : r.epilogue.residual;
  out["c"] = p.c ? matrix_json(added, *f.c(), p.c->type) : json(nullptr);
  out["epilogue"] = is_fused(p.epilogue) ? json(text_of(p.epilogue)) : json(nullptr);
  out["d"] = matrix_json(r.d, f.d_shape(), p.d.type);
  out["scale_d"] = nullptr;
  if (f.scale_d())
    out["scale_d"] = {{"file", p.scale_d->given ? json(nullptr) : json(scale_d_file(r))},
                      {"dtype", name(f.scale_d()->view().type)},
                      {"given", p.scale_d->given},
                      {"power_of_two", p.scale_d->power_of_two},
                      {"convention", text_of(*f.scale_d(), p)}};
  if (auto const levels = f.scale_d() ? second_levels_of_d(f) : std::vector<float>();
      !levels.empty()) {
    if (f.as_stack())
      out["scale_d"]["second_levels"] = levels;
    else
      out["scale_d"]["second_level"] = levels[0];
    out["scale_d"]["second_level_file"] = second_level_file(r);
  }
  out["aux"] = p.aux ? matrix_json(r.epilogue.aux, f.aux_shape(), p.aux->type) : json(nullptr);
  out["device"] = run.on_gpu ? "gpu" : "emu";
  out["device_name"] = run.device;
  if (!run.on_gpu) {
    out["threads"] = run.threads;
    out["hazards_checked"] = run.hazards;
    out["ordinary_accesses_seen"] = run.ordinary_accesses;
  }
  out["ranks"] = run.ranks ? ranks_json(*run.ranks) : json(nullptr);
  out["kernel"] = run.plan.kernel;
  out["plan"] = run.plan.why;
  bool const in_an_order = p.reproducible && !f.nothing_to_compute();
  out["invariant"] = in_an_order ? json(order_text(run.plan)) : json(nullptr);
  out["hints"] = with_options(run.plan.hints);
  out["notes"] = notes_of(r, f);
  out["seconds"] = run.seconds;
  out["timed_runs"] = run.timed_runs;
  out["tflops"] = run.tflops();
  out["check"] = check ? check_json(*check) : json(nullptr);
  return out;
}

}  // namespace tw
