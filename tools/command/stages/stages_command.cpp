// SPDX-License-Identifier: Apache-2.0
// stages_command.cpp  Runs with recorded stages, a table and a trace.
#include "tools/command/verb_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <span>
#include <string_view>

#include "tilewright/base/elem_traits.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tools/command/guarded.hpp"
#include "tools/command/stages/kernels.hpp"
#include "tools/command/stages/report.hpp"
#include "tools/io/output_file.hpp"
#include "tools/io/refuse.hpp"
#include "tools/report/json_output.hpp"
#include "tools/request/device_choice.hpp"
#include "tools/request/sizes.hpp"
#include "tools/request/words.hpp"

namespace tw {
namespace {

char const* const stages_manual =
    "Runs a bf16 GEMM with a kernel that records when it waits for operands, multiplies and "
    "stores, and prints the cycles of each stage: measured on the GPU, and of the timeline's "
    "model in the emulator, which computes a few tiles with the same K. --trace writes both into "
    "one file for ui.perfetto.dev. docs/stages.md explains the table.";

struct stages_request {
  std::vector<std::string> size;
  std::string device = "both", family, tile, trace;
  bool as_json = false;
};

/// Two cluster tiles of the largest kernel for each of two CTAs: the stages of a tile depend on K
/// alone.
stages::request few_tiles(stages::request r) {
  constexpr std::int64_t rows = 256, cols = 512;
  r.m = std::min(r.m, rows);
  r.n = std::min(r.n, cols);
  return r;
}

/// "a, b and c" of what each kernel with a record has, in their order, each once.
template <class Kept>
std::vector<std::string> words_of_kernels(std::string stages::recorded_kernel::*word, Kept kept) {
  std::vector<std::string> all;
  for (stages::recorded_kernel const& k : stages::recorded_kernels())
    if (kept(k) && std::ranges::find(all, k.*word) == all.end()) all.emplace_back(k.*word);
  return all;
}

stages::recorded_kernel const& kernel_of(stages_request const& r) {
  using stages::recorded_kernel;
  recorded_kernel const* const found = stages::find_recorded(r.family, r.tile);
  if (found == nullptr)
    refuse("TW0656", fmt::format("stages --family {}", r.family), "--tile " + r.tile,
           fmt::format("{}", fmt::join(words_of_kernels(
                                           &recorded_kernel::word,
                                           [&](auto const& k) { return k.family == r.family; }),
                                       " or ")));
  if (r.device == "gpu" && !found->on_gpu)
    refuse("TW0656", fmt::format("stages --family {}", r.family), "--device gpu", "--device emu",
           fmt::format("on a GPU the kernels of {} have a record",
                       fmt::join(words_of_kernels(&recorded_kernel::family,
                                                  [](auto const& k) { return k.on_gpu; }),
                                 ", ")));
  return *found;
}

exit_status answer_stages(stages_request const& r) {
  std::vector<gemm_size> const sizes = parse_sizes(r.size);
  if (sizes.size() != 1)
    refuse("TW0803", "sizes of `tilewright stages`", fmt::format("{}", sizes.size()),
           "one GEMM: M N K, or MxNxK");
  stages::request const s{sizes[0].m, sizes[0].n, sizes[0].k, &kernel_of(r)};
  check_replaceable(r.trace, "--trace", "[{");
  constexpr int chunk = traits_of(elem::bf16).chunk();
  if (s.k % chunk != 0 ||
      s.n % chunk != 0)  // of the GEMM itself, not of the tiles that are emulated
    refuse("TW0656", "GEMM with a record of its stages", fmt::format("{} x {} x {}", s.m, s.n, s.k),
           "one that the kernel computes: K a multiple of 8, and N of 8");
  std::vector<stages::run> runs;
  if (r.device == "gpu" && !gpu().usable) throw no_usable_gpu(gpu().why_not);
  if (r.device != "emu" && s.kernel->on_gpu && gpu().usable) runs.push_back(stages::run_on_gpu(s));
  if (r.device != "gpu") runs.push_back(stages::run_emulated(few_tiles(s)));
  if (!r.trace.empty()) {
    std::string const text = stages::chrome_trace(runs);
    output_file file(r.trace);
    file.write(std::as_bytes(std::span(text)));
    file.commit();
  }
  if (r.as_json)
    print_json("tilewright.stages/1", report_json(runs));
  else
    fmt::print("{}", report_text(runs));
  bool const correct = std::ranges::all_of(runs, &stages::run::correct);
  return correct ? exit_status::done : exit_status::wrong;
}

}  // namespace

void add_stages_command(CLI::App& app, int& status) {
  auto const r = std::make_shared<stages_request>();
  auto const any = [](stages::recorded_kernel const&) { return true; };
  r->family = stages::recorded_kernels().front().family;
  CLI::App* verb =
      app.add_subcommand("stages", "cycles that a kernel loads, multiplies and stores");
  verb->footer(stages_manual);
  verb->add_option("SIZE", r->size, "M N K, or MxNxK")->required()->expected(1, 3);
  verb->add_option("--device", r->device, "gpu, emu, or both: the GPU where there is one")
      ->transform(place_word({"gpu", "emu", "both"}))
      ->capture_default_str();
  verb->add_option("--tile", r->tile,
                   "of a CTA: 128x256 in clusters of 2, four stages (default); 128x128 alone, six")
      ->transform(one_of(words_of_kernels(&stages::recorded_kernel::word, any)));
  verb->add_option("--family", r->family,
                   "sm90_gemm; in the emulator alone sm80_gemm (128x128 with cp.async) and "
                   "sm100_gemm (128x128 with tcgen05)")
      ->transform(one_of(words_of_kernels(&stages::recorded_kernel::family, any)))
      ->capture_default_str();
  verb->add_option("--trace", r->trace, "write the stages as a Chrome trace to this file");
  verb->add_flag("--json", r->as_json, "one JSON record on stdout");
  verb->callback([r, &status] {
    status = static_cast<int>(guarded(r->as_json, [&] { return answer_stages(*r); }));
  });
}

}  // namespace tw
