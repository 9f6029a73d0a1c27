// SPDX-License-Identifier: Apache-2.0
// check_command.cpp  Options, then: run, print, and a status that says whether all is well.
#include "tools/command/verb_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "tilewright/arch/limits.hpp"
#include "tilewright/problem/epilogue_kind.hpp"
#include "tools/check/hazards/gemm_check.hpp"
#include "tools/check/hazards/invariant_check.hpp"
#include "tools/check/hazards/mutants_check.hpp"
#include "tools/check/hazards/plugin_check.hpp"
#include "tools/check/hazards/results.hpp"
#include "tools/command/guarded.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/to_stdout.hpp"
#include "tools/report/json_output.hpp"
#include "tools/request/words.hpp"
#include "tools/trace/write_timeline.hpp"

namespace tw {
namespace {

using namespace hazards;

char const* const check_manual =
    "check PLUGIN.so   the kernels of a shared library (CMake: tilewright_add_kernel)\n"
    "check gemm        every GEMM kernel of the library, over random shapes\n"
    "check --mutants   kernels with a planted bug each: is every bug named?\n"
    "Runs are spread over four kinds of schedule: eager, lazy, random, random-warps.\n"
    "Exit status: 0 nothing was found (--mutants: all were), 1 something was, 2 refused.";

exit_status status_of(bool good) { return good ? exit_status::done : exit_status::wrong; }

exit_status run_mutants(request const& r) {
  if (!r.target.empty() || !r.shapes.empty() || !r.bug.empty() || r.runs > 0 ||
      r.tensor_fences != emu::tensor_order::strict)
    refuse("TW0630", "check --mutants", "another target or option",
           "--seeds, --first-seed, --schedule, --kernel, --examples, --json and --quiet alone");
  mutants_result const m = check_mutants(r);
  if (m.mutants.empty()) refuse("TW0634", "--kernel", r.kernel, "a part of the name of a mutant");
  if (r.json)
    print_json("tilewright.check.mutants/1", to_json(m, r.examples));
  else
    fmt::print("{}", text_of(m, r.examples));
  return status_of(m.good());
}

exit_status run_gemm_kernels(request const& r) {
  if (!r.bug.empty()) refuse("TW0630", "check gemm", "--bug", "a plugin, or --mutants");
  if (r.invariant && !r.shapes.empty())
    refuse("TW0630", "check gemm --invariant", "--shape", "shapes that the check draws itself");
  std::vector<kernel_result> results = r.invariant ? check_invariance(r) : check_gemm_kernels(r);
  std::size_t const asked = results.size();
  if (r.invariant) std::erase_if(results, [](kernel_result const& k) { return k.runs == 0; });
  if (results.empty())
    refuse("TW0634", r.kernel.empty() ? "--family" : "--kernel",
           r.kernel.empty() ? r.family : r.kernel,
           "a kernel that serves reproducible GEMMs on one of the described devices",
           "`tilewright plan --invariant` shows which do");
  kernel_result const all =
      merged(results, results.size() == 1 ? results[0].name
                                          : fmt::format("gemm, {} kernels", results.size()));
  std::vector<kernel_result> bad;
  std::ranges::copy_if(results, std::back_inserter(bad), [](auto const& k) { return !k.clean(); });
  if (r.json) {
    nlohmann::ordered_json record = json_of_kernels(results);
    record["runs"] = all.runs;
    record["false_reports"] = all.bad_runs;
    print_json("tilewright.check/1", record);
  } else {
    if (results.size() > 1) fmt::print("{}", table_of(results));
    if (bad.empty())
      to_stdout("{}", text_of_kernels(std::span(&all, 1), r));
    else
      to_stdout("{}{} of {} kernels with findings\n", text_of_kernels(bad, r), bad.size(),
                results.size());
    if (r.invariant)
      fmt::print(
          "{} of {} kernels serve reproducible GEMMs: the bits of their rows were compared\n",
          results.size(), asked);
  }
  return status_of(bad.empty());
}

exit_status run_plugin(request r, timeline_files const& timeline) {
  check_timeline_files(timeline);
  emu::trace record;
  if (timeline.any()) r.record = &record;
  std::vector<kernel_result> const results = check_plugin(r);
  std::string const said = timeline.any() ? write_timeline(record, timeline) : "";
  if (r.json)
    print_json("tilewright.check/1", json_of_kernels(results));
  else
    to_stdout("{}{}", text_of_kernels(results, r), said);
  return status_of(std::ranges::all_of(results, [](auto const& k) { return k.clean(); }));
}

exit_status run_check(request const& r, timeline_files const& timeline) {
  bool const plugin = !r.mutants && !r.target.empty() && r.target != "gemm";
  if (timeline.any() && !plugin)
    refuse("TW0630", "check", "--trace or --timeline without a plugin", "PLUGIN.so",
           "tilewright gemm has both for kernels of the library");
  if (r.invariant && r.target != "gemm")
    refuse("TW0630", "check", "--invariant without gemm", "tilewright check gemm --invariant");
  if (r.mutants) return run_mutants(r);
  if (r.target.empty())
    refuse("TW0630", "check", "nothing to check", "PLUGIN.so, gemm, or --mutants",
           "tilewright check --help");
  return r.target == "gemm" ? run_gemm_kernels(r) : run_plugin(r, timeline);
}

}  // namespace

void add_check_command(CLI::App& app, int& status) {
  auto const r = std::make_shared<request>();
  CLI::App* verb = app.add_subcommand("check", "hazards of a kernel, found in the emulator");
  verb->footer(check_manual);
  verb->add_option("TARGET", r->target, "gemm, or the path of a plugin");
  verb->add_flag("--mutants", r->mutants, "kernels with planted bugs");
  verb->add_option("--shape", r->shapes, "extents with commas, as M,N,K; may be repeated");
  verb->add_option("--seeds", r->seeds, "seeds of each schedule (default: 3; gemm 1, --mutants 2)")
      ->check(CLI::Range(1, 1000000));
  verb->add_option("--runs", r->runs, "runs of each kernel, instead of --seeds")
      ->check(CLI::Range(1, 1000000));
  verb->add_option("--first-seed", r->first_seed, "the first seed (default 1)");
  verb->add_option("--schedule", r->schedule, "this kind of schedule alone");
  std::string endings;  // of the names of library kernels with a fused epilogue
  for (epilogue_kind const& e : all_epilogues)
    if (*e.suffix != '\0') endings += fmt::format("{} {}", endings.empty() ? "" : ",", e.suffix);
  verb->add_option("--kernel", r->kernel,
                   "only kernels whose name contains this text; those of gemm with a fused "
                   "epilogue end in" +
                       endings);
  verb->add_option("--family", r->family,
                   "of gemm: only kernels of this family, such as sm100_gemm");
  verb->add_flag("--invariant", r->invariant,
                 "of gemm: rows of reproducible GEMMs must have the same bits in parts of other M, "
                 "first rows and columns (docs/invariance.md)");
  verb->add_option("--bug", r->bug, "switches on a bug that the plugin names");
  verb->add_option("--timeout", r->time_limit_seconds,
                   "processor seconds that one run of a plugin's kernel may take (default 60)")
      ->check(CLI::PositiveNumber);
  verb->add_flag("--proxy-on-path", r->proxy_on_path,
                 "of a plugin: a proxy fence of any thread between two accesses orders them");
  verb->add_flag("!--no-provenance", r->provenance,
                 "of a plugin: do not compare where operands, scale factors and the rows of an "
                 "ldmatrix come from (E0037 to E0039, E0113, E0114)");
  verb->add_flag("--bank-conflicts", r->bank_conflicts,
                 "of a plugin: report instructions that take twice the wavefronts they need");
  verb->add_option_function<std::string>(
          "--tensor-fences",
          [r](std::string const& text) {
            r->tensor_fences =
                text == "acquire" ? emu::tensor_order::acquire : emu::tensor_order::strict;
          },
          "of gemm and of a plugin, how tcgen05 operations of different threads are ordered: "
          "strict (default), by tcgen05.fence on both sides of the synchronisation; acquire, by a "
          "barrier that releases and acquires too, as CUTLASS relies on")
      ->transform(one_of({"strict", "acquire"}));
  verb->add_option("--sms", r->sms,
                   fmt::format("of a plugin: SMs of the emulated device (default {})", h100_sms))
      ->check(CLI::Range(1, 1024));
  verb->add_option("--live-clusters", r->live_clusters,
                   "of a plugin: clusters that run at once (default: what the SMs can hold)")
      ->check(CLI::Range(1, 1000000));
  auto const timeline = std::make_shared<timeline_files>();
  verb->add_option("--trace", timeline->chrome,
                   "of a plugin: FILE.json, what the first run did when, for Perfetto");
  verb->add_option("--timeline", timeline->svg, "of a plugin: FILE.svg, its begin as a picture");
  verb->add_flag("--examples", r->examples, "with --mutants: each change, and how it is named");
  verb->add_flag("--json", r->json, "one JSON record on stdout");
  verb->add_flag("--quiet", r->quiet, "no progress bar");
  verb->callback([r, timeline, &status] {
    status = static_cast<int>(guarded(r->json, [&] { return run_check(*r, *timeline); }));
  });
}

}  // namespace tw
