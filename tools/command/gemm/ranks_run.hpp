// SPDX-License-Identifier: Apache-2.0
// ranks_run.hpp  A GEMM divided over ranks, which are threads of this process: in the emulator, or
//                virtual ranks on one GPU.
#pragma once

#include "tools/command/gemm/gemm_inputs.hpp"
#include "tools/command/gemm/gemm_run.hpp"
#include "tools/request/gemm_request.hpp"

namespace tw {

/// Refuses options that do not fit to each other (TW0615).
void check_ranks(gemm_request const& r);

/// Divides the operands in memory, runs the operation on every rank and puts D together in
/// data.d(). With --timeline it draws the ranks' acts, and `said` has a line for the report. Throws
/// `rejected` (TW09xx) and emu::fault.
gemm_run run_over_ranks(gemm_request const& r, gemm_files const& files, gemm_data& data,
                        std::string& said);

}  // namespace tw
