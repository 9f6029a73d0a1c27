// SPDX-License-Identifier: Apache-2.0
// request.hpp  Options of `tilewright ladder`, and its three ways to run.
#pragma once

#include <string>

#include "tilewright/base/check.hpp"

namespace ladder {

/// Rungs with a larger number are for Blackwell and run only in the emulator.
inline constexpr int last_gpu_rung = 12;

struct request {
  int rung = 0;       // 0: all
  bool side = false;  // the experiments beside the rungs instead
  int size = 0;       // M = N = K; 0: the default of the device
  int sms = 0;        // that persistent rungs run on; 0: all of the GPU, 4 in the emulator
  std::string device = "auto";
  std::string bug;  // a name, "list", or empty
  int seeds = 1;    // of schedules in the emulator
  bool json = false;
  std::string plot;             // a path, or empty
  std::string timeline, trace;  // paths, or empty: of one rung in the emulator
  std::string from;             // a path, or empty: a recorded GPU run is shown instead
  std::string tiles;            // a path, or empty: the order of the tiles is drawn instead
  bool quick = false;           // on a GPU: fewer rounds
  bool baseline = true;         // on a GPU: cuBLASLt too
};

tw::exit_status list_bugs(request const& r);
tw::exit_status run_in_emulator(request const& r);
tw::exit_status run_on_gpu(request const& r);
/// Prints and draws the record `r.from` of an earlier run on a GPU (TW0682 if it is not one).
tw::exit_status show_record(request const& r);

}  // namespace ladder
