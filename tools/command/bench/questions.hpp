// SPDX-License-Identifier: Apache-2.0
// questions.hpp  The benchmarks of `tilewright bench`: GEMMs, peak rates of the GPU, the
// emulator.
#pragma once

#include "tilewright/base/check.hpp"
#include "tools/command/bench/options.hpp"
#include "tools/measure/dist_lab.hpp"

namespace tw::bench {

/// Measures the selected shapes: table on stdout as they finish, JSON after each. Throws `rejected`
/// for input that is refused, and `no_usable_gpu`.
exit_status run_gemm_bench(gemm_bench_options options);
exit_status run_ceiling_bench(ceiling_options options);

/// Times a GEMM in the emulator, with and without checks; needs no GPU.
exit_status run_emulator_bench(emulator_bench_options const& options);

/// Times GEMMs over the GPUs of this machine. Throws as run_gemm_bench, and TW0908.
exit_status run_dist_bench(dist_bench_options const& options);

/// Times the parts of a call of gemm() on the host, and on a GPU the whole call.
exit_status run_host_bench(host_bench_options const& options);

}  // namespace tw::bench
