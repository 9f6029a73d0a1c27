// SPDX-License-Identifier: Apache-2.0
// selftest_command.cpp  Runs, then: a file with the report, and a few lines for the terminal.
#include "tools/command/verb_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "tilewright/base/version.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tools/check/selftest/selftest.hpp"
#include "tools/command/guarded.hpp"
#include "tools/io/output_file.hpp"
#include "tools/io/to_stdout.hpp"
#include "tools/report/json_output.hpp"
#include "tools/request/device_choice.hpp"
#include "tools/request/words.hpp"

namespace tw {
namespace {

char const* const selftest_manual =
    "Runs every kernel of this build that the device runs, each on one small problem against "
    "float64, and probes of single instructions, whose words are compared with the tables of the "
    "PTX ISA. The report is one JSON file: please send it back where something failed, and from "
    "GPUs that this project has not (docs/selftest.md).\n"
    "Exit status: 0 all passed, 1 something failed, 2 refused, 77 no usable GPU.";

struct selftest_request {
  bool on_gpu = false, as_json = false;
  std::string file = "tilewright-selftest.json", text;
};

using json = nlohmann::ordered_json;

json json_of(std::vector<selftest::finding> const& found) {
  json all = json::array();
  for (selftest::finding const& f : found)
    all.push_back({{"name", f.name},
                   {"passed", f.passed},
                   {"problem", f.problem.empty() ? json() : json(f.problem)},
                   {"compared", f.compared},
                   {"wrong", f.wrong},
                   {"largest_ratio", f.largest_ratio},
                   {"digest", fmt::format("{:016x}", f.digest)},
                   {"trouble", f.trouble.empty() ? json() : json(f.trouble)}});
  return all;
}

std::string text_of(char const* what, std::vector<selftest::finding> const& found) {
  auto const passed = std::ranges::count(found, true, &selftest::finding::passed);
  std::string text = fmt::format("{:<9} {} of {} passed\n", what, passed, found.size());
  for (selftest::finding const& f : found)
    if (!f.passed)
      text += fmt::format(
          "  failed  {}: {}\n", f.name,
          !f.trouble.empty() ? f.trouble : fmt::format("{} of {} are wrong", f.wrong, f.compared));
  return text;
}

exit_status run_selftest(selftest_request const& r) {
  if (r.on_gpu) choose_gpu(device_choice::gpu);  // throws: status 77
  auto const kernels = selftest::run_kernels(r.on_gpu, r.text);
  auto const probes = selftest::run_probes(r.on_gpu, r.text);
  bool const passed = std::ranges::all_of(kernels, &selftest::finding::passed) &&
                      std::ranges::all_of(probes, &selftest::finding::passed);
  json report{{"schema", "tilewright.selftest/1"}, {"version", version_text}, {"passed", passed}};
  if (r.on_gpu) {
    gpu_info const& g = gpu();
    report["device"] = g.name;
    report["compute_capability"] =
        fmt::format("{}.{}", g.compute_capability / 10, g.compute_capability % 10);
    report["sms"] = g.sms;
    report["driver"] = g.driver;
  } else {
    report["device"] = "emulator";
  }
  report["kernels"] = json_of(kernels);
  report["probes"] = json_of(probes);
  std::string const bytes = json_text(report, 1) + "\n";
  output_file file(r.file);
  file.write(std::as_bytes(std::span(bytes)));
  file.commit();
  if (r.as_json) {
    print_json("tilewright.selftest/1", report);
  } else {
    to_stdout("device    {}\n{}{}report    {}\n", report["device"].get<std::string>(),
              text_of("kernels", kernels), text_of("probes", probes), r.file);
  }
  return passed ? exit_status::done : exit_status::wrong;
}

}  // namespace

void add_selftest_command(CLI::App& app, int& status) {
  auto const r = std::make_shared<selftest_request>();
  CLI::App* verb = app.add_subcommand(
      "selftest", "all kernels and probes of instructions on this device, one report");
  verb->footer(selftest_manual);
  verb->add_option_function<std::string>(
          "--device", [r](std::string const& text) { r->on_gpu = text == "gpu"; },
          "gpu, or emu (default)")
      ->transform(one_of({"gpu", "emu"}));
  verb->add_option("-o,--output", r->file, "the report")->capture_default_str();
  verb->add_option("--only", r->text, "kernels and probes whose name contains this text");
  verb->add_flag("--json", r->as_json, "the report on stdout too, in one line");
  verb->callback([r, &status] {
    status = static_cast<int>(guarded(r->as_json, [&] { return run_selftest(*r); }));
  });
}

}  // namespace tw
