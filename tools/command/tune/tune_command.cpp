// SPDX-License-Identifier: Apache-2.0
// tune_command.cpp  Options to problems; then tune, list or export.
#include "tools/command/verb_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "dispatch/tuning/tuned.hpp"
#include "dispatch/tuning/winners.hpp"
#include "tilewright/problem/block_scaled.hpp"
#include "tilewright/problem/scale_convention.hpp"
#include "tilewright/problem/weights_desc.hpp"
#include "tools/command/guarded.hpp"
#include "tools/command/tune/tune.hpp"
#include "tools/command/tune/tune_ranks.hpp"
#include "tools/io/progress_bar.hpp"
#include "tools/io/to_stderr.hpp"
#include "tools/io/to_stdout.hpp"
#include "tools/measure/environment.hpp"
#include "tools/measure/options.hpp"
#include "tools/measure/plan_meter.hpp"
#include "tools/measure/shape_options.hpp"
#include "tools/measure/support.hpp"
#include "tools/report/ceilings.hpp"
#include "tools/report/json_output.hpp"
#include "tools/report/plan_report.hpp"
#include "tools/request/device_choice.hpp"
#include "tools/request/number_checks.hpp"
#include "tools/request/sizes.hpp"
#include "tools/request/words.hpp"

namespace tw {
namespace {

using json = nlohmann::ordered_json;

char const* const tune_manual =
    "Measures the best candidates of each GEMM on this device and keeps the fastest in "
    "$XDG_CACHE_HOME/tilewright/tune.db (~/.cache), where the planner looks first. A run that "
    "was ended goes on where it was; several may run at once. TILEWRIGHT_TUNE=/PATH names "
    "another file, TILEWRIGHT_TUNE=off makes the planner ignore it. docs/planning.md has the "
    "rest.";

struct tune_request {
  bench::shape_request shapes;
  std::string export_path;
  int ranks = 0;  // 0: one GPU
  dist::operation op = dist::operation::all_gather_gemm;
  int top = 16;
  double minutes = 0;
  bool list = false, again = false, quiet = false, as_json = false;
};

/// Are the operands of the problem those of the row, and their scales?
bool has_operands_of(gemm_problem const& p, bench::dtype_row const& row) {
  auto const same = [&](role x) {
    auto const& of_row = row.scales[x];
    auto const& s = scale(p, x);
    return of_row ? s && scaling_of(*s) == *of_row : !s;
  };
  if (row.ab != p.a.type || row.b.value_or(row.ab) != p.b.type) return false;
  if (row.format) return is_block_scaled(p) && format_of(p) == *row.format;
  return std::ranges::all_of(a_and_b, same) && row.precision == p.precision;
}

/// The word of --dtype, with the type of D if it is not the usual one.
std::string dtype_of(gemm_problem const& p) {
  for (bool const usual_d : {true, false})
    for (bench::dtype_row const& row : bench::dtypes)
      if (has_operands_of(p, row) && (!usual_d || row.d == p.d.type))
        return usual_d ? std::string(row.name) : fmt::format("{}_{}", row.name, name(p.d.type));
  return fmt::format("{}x{}_{}", name(p.a.type), name(p.b.type), name(p.d.type));
}

std::string layout_of(gemm_problem const& p) {
  return {p.a.ord == order::row_major ? 'T' : 'N', p.b.ord == order::col_major ? 'N' : 'T'};
}

/// "8 groups of m, 300 expected".
std::string groups_text(group_desc const& g) {
  return fmt::format("{} {} of {}{}", g.count, g.slots() ? "slots" : "groups",
                     group_axis_names[static_cast<int>(g.axis)],
                     g.expected_size > 0 ? fmt::format(", {} expected", g.expected_size) : "");
}

std::string product_text(gemm_problem const& p) {
  std::string text = fmt::format("{}x{}x{}", p.m, p.n, p.k);
  if (p.batch > 1) text += fmt::format(" batch {}", p.batch);
  text += fmt::format(" {} {}", dtype_of(p), layout_of(p));
  if (p.groups) text += " " + groups_text(*p.groups);
  if (p.weights_b) text += " weights " + text_of(p.weights_b);
  if (is_fused(p.epilogue)) text += " fused";
  if (p.scale_d) text += " D " + result_scale_text(*p.scale_d, p.m, result_cols(p.epilogue, p.n));
  return text;
}

std::string kernel_text(measured_plan const& m) {
  std::string text = m.kernel + (m.swapped ? " swap-AB" : "");
  if (m.split_k_tiles > 0)
    text += fmt::format(", {} tile{} split along K among {}", m.split_k_tiles,
                        m.split_k_tiles == 1 ? "" : "s", m.split_k_clusters);
  if (m.starts_early) text += *m.starts_early ? ", starts early" : ", does not start early";
  return text;
}

std::string store_path() {
  std::string const path = tuning_file();
  if (!path.empty()) return path;
  throw rejected({"TW0802", "tuning file",
                  "none: TILEWRIGHT_TUNE=off, or neither XDG_CACHE_HOME nor HOME", "a file",
                  "set TILEWRIGHT_TUNE=/PATH"});
}

/// Why a shape of a list is not tuned, if it is not; a size is refused.
std::optional<std::string> why_left_out(bench::gemm_shape const& s) {
  bool const listed = s.category != bench::category_of_sizes;
  if (listed)
    if (auto why = bench::why_unsupported(s)) return why;
  auto const refusal = accept(bench::problem_of(s));
  if (refusal && !listed) throw rejected(*refusal);
  return refusal ? std::optional(to_string(*refusal)) : std::nullopt;
}

/// Each problem once: shapes that differ in nothing but the sizes of their groups have one key.
std::vector<bench::tune_problem> problems_of(bench::shape_request const& r) {
  std::vector<bench::tune_problem> problems;
  std::map<std::string, std::string> name_of;  // by key
  for (bench::gemm_shape const& s : bench::shapes_of(r)) {
    std::optional<std::string> why = why_left_out(s);
    if (!why) {
      gemm_problem const p = bench::problem_of(s);
      auto const [same, added] = name_of.try_emplace(problem_key(p), s.name);
      if (added)
        problems.push_back({p, bench::sizes_of_groups(s, bench::measure_options{}.seed)});
      else
        why = same->second + " is the same GEMM to the planner";
    }
    if (why) to_stderr("tilewright: {} is left out: {}\n", s.name, *why);
  }
  if (problems.empty())
    throw rejected({"TW0803", "GEMMs to tune", "none",
                    "sizes (M N K, or MxNxK...) or --shapes FILE", "--list shows what was tuned"});
  return problems;
}

json fastest_json(measured_plan const& m) {
  json j{{"kernel", m.kernel},
         {"swapped", m.swapped},
         {"shared_tiles", m.split_k_tiles},
         {"sharers", m.split_k_clusters},
         {"us", m.us},
         {"predicted_us", m.predicted_us}};
  j["starts_early"] = m.starts_early ? json(*m.starts_early) : json(nullptr);
  return j;
}

json groups_json(group_desc const& g) {
  return {{"count", g.count},
          {"axis", group_axis_names[static_cast<int>(g.axis)]},
          {"form", group_form_names[static_cast<int>(g.form)]},
          {"expected_size", g.expected_size > 0 ? json(g.expected_size) : json(nullptr)}};
}

json weights_json(weight_format const& f) {
  return {{"format", name(f.code)},
          {"scale_dtype", name(f.scale)},
          {"zeros", name(f.zeros)},
          {"group", f.group}};
}

json problem_json(gemm_problem const& p) {
  json j{{"m", p.m},
         {"n", p.n},
         {"k", p.k},
         {"batch", p.batch},
         {"ab", name(p.a.type)},
         {"d", name(p.d.type)},
         {"layout", layout_of(p)},
         {"epilogue", is_fused(p.epilogue) ? json(text_of(p.epilogue)) : json(nullptr)}};
  j.update(scales_json(p));
  j["groups"] = p.groups ? groups_json(*p.groups) : json(nullptr);
  j["weights"] = p.weights_b ? weights_json(p.weights_b) : json(nullptr);
  return j;
}

json result_json(bench::tune_result const& r) {
  json j = problem_json(r.problem);
  j["failure"] = r.failure.empty() ? json(nullptr) : json(r.failure);
  j["fastest"] = r.failure.empty() ? fastest_json(r.fastest) : json(nullptr);
  j["planned_us"] = r.failure.empty() ? json(r.planned_us) : json(nullptr);
  j["tried"] = r.tried;
  return j;
}

void tell(bench::tune_result const& r) {
  if (!r.failure.empty()) {
    fmt::print("{:<32} failed: {}\n", product_text(r.problem), r.failure);
  } else {
    rates const x = rates_of(r.problem, r.fastest.us, gpu_device());
    fmt::print(
        "{:<32} {:>9.2f} us {:>6.1f} TFLOP/s {:>5.3f} of the ceiling {:>6.3f} x planned  {}\n",
        product_text(r.problem), r.fastest.us, x.tflops, x.of_ceiling(),
        r.planned_us / r.fastest.us, kernel_text(r.fastest));
  }
  std::fflush(stdout);
}

exit_status measure(tune_request const& r) {
  bench::tune_options options;
  options.problems = problems_of(r.shapes);
  options.top = r.top, options.minutes = r.minutes, options.again = r.again;
  std::string const path = store_path();
  if (!gpu().usable) throw no_usable_gpu(gpu().why_not);
  tuning_store store(path, tuning_store::access::write);
  auto const meter = bench::open_plan_meter();
  bench::tune_outcome outcome;
  json results = json::array();
  {
    progress_bar bar(!r.quiet);
    outcome = bench::tune(
        *meter, store, options, [&](double share) { bar.update(share); },
        [&](bench::tune_result const& result) {
          bar.wipe();
          if (r.as_json)
            results.push_back(result_json(result));
          else if (!r.quiet)
            tell(result);
          else if (!result.failure.empty())
            to_stderr("tilewright: {} failed: {}\n", product_text(result.problem), result.failure);
        });
  }
  forget_tuning();
  forget_plans();
  if (r.as_json)
    print_json("tilewright.tune.run/1", {{"file", path},
                                         {"tuned", outcome.finished},
                                         {"known_before", outcome.skipped},
                                         {"failed", outcome.failed},
                                         {"out_of_time", outcome.out_of_time},
                                         {"results", results}});
  else if (!r.quiet)
    to_stdout("{} tuned, {} known before, {} failed; {}\n", outcome.finished, outcome.skipped,
              outcome.failed, path);
  if (outcome.out_of_time && !r.as_json) fmt::print("the time is over: run it again to go on\n");
  return outcome.failed == 0 ? exit_status::done : exit_status::wrong;
}

bool is_there(std::string const& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

json tuned_json(tuned_problem const& t) {
  json j = problem_json(t.problem);
  j["fastest"] = fastest_json(t.fastest);
  j["tried"] = t.tried;
  j["device_name"] = t.identity.card;
  j["driver"] = t.identity.driver;
  j["version"] = t.identity.version;
  j["date"] = t.date;
  return j;
}

exit_status list(bool as_json) {
  std::string const path = store_path();
  if (!is_there(path)) {  // which is no error
    if (as_json)
      print_json("tilewright.tune.list/1", {{"file", path}, {"tuned", json::array()}});
    else
      to_stdout("nothing is tuned yet: there is no {}\n", path);
    return exit_status::done;
  }
  tuning_store const store(path, tuning_store::access::read);
  if (as_json) {
    json all = json::array();
    for (tuned_problem const& t : store.finished()) all.push_back(tuned_json(t));
    print_json("tilewright.tune.list/1", {{"file", path}, {"tuned", all}});
    return exit_status::done;
  }
  for (tuned_problem const& t : store.finished())
    fmt::print("{:<32} {:>9.2f} us  {}  of {}; {}, driver {}, {}, {}\n", product_text(t.problem),
               t.fastest.us, kernel_text(t.fastest), t.tried, t.identity.card, t.identity.driver,
               t.identity.version, t.date);
  return exit_status::done;
}

std::string scales_cell(gemm_problem const& p) {
  auto const a = scaling_in_tables(p, role::a), b = scaling_in_tables(p, role::b);
  return a ? fmt::format("{}:{}", name(*a), name(*b)) : "";
}

std::string promote_cell(gemm_problem const& p) {
  int const every = p.precision.promote_k;
  return is_fp8(p.a.type) && every != gemm_precision{}.promote_k ? fmt::format("{}", every) : "";
}

/// Rows for gen/tuning.py, of the problems that tuning tables have.
exit_status export_to(std::string const& file) {
  constexpr char const* head =
      "device,m,n,k,batch,ab,d,layout,scales,promote,kernel,shared_tiles,sharers,us,start\n";
  bench::check_own_file(file, "--export", head);
  std::string const path = store_path();
  if (!is_there(path))
    throw rejected({"TW0802", "tuning file " + path, "no such file", "what --export writes out",
                    "nothing is tuned yet: `tilewright tune M N K` makes it"});
  tuning_store const store(path, tuning_store::access::read);
  std::string rows = head;
  int left_out = 0;
  for (tuned_problem const& t : store.finished()) {
    gemm_problem const& p = t.problem;
    measured_plan const& f = t.fastest;
    if (!fits_tables(p)) {
      ++left_out;
      continue;
    }
    rows +=
        fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{:.2f},{}\n", t.identity.card, p.m, p.n,
                    p.k, p.batch, name(p.a.type), name(p.d.type), layout_of(p), scales_cell(p),
                    promote_cell(p), f.kernel, f.split_k_tiles, f.split_k_clusters, f.us,
                    !f.starts_early   ? ""
                    : *f.starts_early ? "early"
                                      : "late");
  }
  bench::write_text(file, "--export", rows);
  if (left_out > 0)
    fmt::print(stderr,
               "tilewright: {} problem{} left out: tables have operands of one type, float32 "
               "scales of both or none, dense matrices, a row-major D, no C, no groups, no "
               "prepared weights "
               "and no fused epilogue\n",
               left_out, left_out == 1 ? " is" : "s are");
  return exit_status::done;
}

}  // namespace

void add_tune_command(CLI::App& app, int& status) {
  auto const r = std::make_shared<tune_request>();
  CLI::App* verb =
      app.add_subcommand("tune", "measure plans on this device; the planner takes the fastest");
  verb->footer(tune_manual);
  bench::add_shape_options(*verb, r->shapes);
  CLI::Option* const ranks =
      verb->add_option(
              "--ranks", r->ranks,
              "measure the paths of calls over this number of GPUs, and store the fastest; "
              "a size is the GEMM of one GPU, bf16 (docs/several-gpus.md)")
          ->check(CLI::Range(2, 8));
  verb->add_option_function<std::string>(
          "--op",
          [r](std::string const& word) {
            auto const* const at =
                std::find(std::begin(dist::operation_names), std::end(dist::operation_names), word);
            r->op = static_cast<dist::operation>(at - std::begin(dist::operation_names));
          },
          "with --ranks: all-gather (default), reduce-scatter or all-reduce")
      ->needs(ranks)
      ->transform(one_of({std::begin(dist::operation_names), std::end(dist::operation_names)}));
  for (char const* const other : {"--shapes", "--out-dtype", "--dtype", "--layout", "--epilogue",
                                  "--batch", "--groups", "--weights"})
    ranks->excludes(verb->get_option(other));
  verb->add_option("--top", r->top, "candidates of each GEMM")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("--minutes", r->minutes, "begin nothing later than that")->check(not_negative());
  verb->add_flag("--again", r->again, "also what was tuned before");
  verb->add_flag("--quiet", r->quiet, "no lines, no progress bar");
  verb->add_flag("--list", r->list, "show what was tuned, on any device");
  verb->add_option("--export", r->export_path,
                   "write what was tuned to this file (CSV, for gen/tuning.py)");
  verb->add_flag("--json", r->as_json, "one JSON record on stdout");
  verb->callback([r, &status] {
    status = static_cast<int>(guarded(r->as_json, [&] {
      if (r->list) return list(r->as_json);
      if (r->ranks > 0)
        return tune_ranks(parse_sizes(r->shapes.sizes), r->op, r->ranks, r->as_json);
      return r->export_path.empty() ? measure(*r) : export_to(r->export_path);
    }));
  });
}

}  // namespace tw
