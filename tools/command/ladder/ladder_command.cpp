// SPDX-License-Identifier: Apache-2.0
// ladder_command.cpp  Options of `tilewright ladder`.
#include "tools/command/verb_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "tilewright/dispatch/gemm.hpp"
#include "tools/command/guarded.hpp"
#include "tools/command/ladder/request.hpp"
#include "tools/command/ladder/tiles.hpp"
#include "tools/io/output_file.hpp"
#include "tools/io/refuse.hpp"
#include "tools/request/words.hpp"

namespace tw {

namespace {

char const* const ladder_manual =
    "Runs the kernels of ladder, from CUDA cores to the Hilbert order, and the "
    "library's kernel as rung 12: checked in the emulator, or timed on a GPU (docs/ladder.md). "
    "Rungs 13 to 15 are for Blackwell and run in the emulator: tcgen05, a pair of CTAs, NVFP4.\n"
    "In the emulator every check is on, and D is compared with sums in float64.\n"
    "Exit status: 0 all are correct, 1 a diagnosis or a wrong element, 2 refused, 77 no GPU.";

exit_status run_ladder(ladder::request const& r) {
  if (r.bug == "list") return ladder::list_bugs(r);
  check_replaceable(r.plot, "--plot", "<");
  for (std::string const& other : {r.timeline, r.trace})
    if (!r.plot.empty() && !other.empty() && same_file(r.plot, other))
      refuse("TW0612", "output " + r.plot + " of --plot", "the file of --timeline or --trace",
             "a separate file");
  check_replaceable(r.tiles, "--tiles", "<");
  if (!r.tiles.empty() && r.from.empty()) return ladder::draw_tiles(r);
  bool const emulated = !r.bug.empty() || r.seeds > 1 || !r.timeline.empty() ||
                        !r.trace.empty();  // what a GPU cannot show
  if (!r.from.empty()) {
    if (emulated || r.rung > 0 || r.side || r.device != "auto" || !r.tiles.empty() || r.quick ||
        !r.baseline || r.json)
      refuse("TW0681", "--from FILE", "an option of a run", "--size and --plot alone",
             "a record is shown, and nothing runs");
    return ladder::show_record(r);
  }
  if (emulated && r.device == "gpu")
    refuse("TW0681", "--bug, --seeds, --timeline and --trace", "--device gpu", "--device emu",
           "a GPU shows no diagnosis, and no schedule can be chosen there");
  if (r.device == "gpu" && r.rung > ladder::last_gpu_rung)
    refuse("TW0681", "--device gpu", fmt::format("rung {}", r.rung), "a rung from 1 to 12",
           "rungs 13 to 15 are kernels for Blackwell: --device emu");
  if (r.device == "gpu" ||
      (r.device == "auto" && !emulated && r.rung <= ladder::last_gpu_rung && gpu().usable))
    return ladder::run_on_gpu(r);
  return ladder::run_in_emulator(r);
}

}  // namespace

void add_ladder_command(CLI::App& app, int& status) {
  auto const r = std::make_shared<ladder::request>();
  CLI::App* verb = app.add_subcommand(
      "ladder", "the kernels of the tutorial: checked in the emulator, or timed on a GPU");
  verb->footer(ladder_manual);
  verb->add_option("--rung", r->rung, "only this rung, 1 to 15")->check(CLI::Range(1, 15));
  CLI::Option* const bug =
      verb->add_option("--bug", r->bug, "plants a fault in its rung; list: names them all");
  verb->add_flag("--side", r->side,
                 "the experiments beside rungs 3 and 5 to 10 instead: stages, ping-pong, "
                 "distributed shared memory, stores of D, bank conflicts")
      ->excludes(bug);
  verb->add_option("--size", r->size,
                   "M = N = K (default 512; on a GPU 512, 1024, 2048, 4096 and 8192)")
      ->check(CLI::Range(64, 8192));
  verb->add_option("--sms", r->sms,
                   "SMs that rungs 6 to 11 run on (default: all of the GPU, 4 in the emulator)")
      ->check(CLI::Range(1, 1024));
  verb->add_option("--device", r->device, "auto (default), gpu or emu")
      ->transform(place_word({"auto", "gpu", "emu"}));
  verb->add_option("--seeds", r->seeds, "runs of each rung, with other schedules (default 1)")
      ->check(CLI::Range(1, 100000));
  verb->add_option("--plot", r->plot, "draws a chart: TFLOP/s, in the emulator bytes from L2");
  verb->add_option("--from", r->from,
                   "runs nothing: shows a GPU run that --json recorded; --plot draws it");
  verb->add_option("--timeline", r->timeline, "draws a rung's emulated run over time, as SVG");
  verb->add_option("--trace", r->trace, "the same as a Chrome trace");
  verb->add_option("--tiles", r->tiles,
                   "runs nothing: draws the order of the tiles of rung 8, 9, 10 or 11, as SVG");
  verb->add_flag("--quick", r->quick, "on a GPU: fewer and shorter measurements");
  verb->add_flag("!--no-baseline", r->baseline, "on a GPU: without cuBLASLt");
  verb->add_flag("--json", r->json, "one JSON record on stdout");
  verb->callback([r, &status] {
    status = static_cast<int>(guarded(r->json, [&] { return run_ladder(*r); }));
  });
}

}  // namespace tw
