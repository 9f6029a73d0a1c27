// SPDX-License-Identifier: Apache-2.0
// verb_commands.hpp  The verbs: each function adds one to a command. The verb that is chosen sets
//                    `status`: 0, or 1 (a result is wrong), 2 (refused) or 77 (no usable GPU).
#pragma once

namespace CLI {
class App;
}

namespace tw {

/// tilewright gemm A B -o D: a GEMM from files to a file.
void add_gemm_command(CLI::App& app, int& status);
/// tilewright layout EXPRESSION: the layout algebra, as text, JSON and pictures.
void add_layout_command(CLI::App& app, int& status);
/// tilewright banks: wavefronts of a layout and an access, who collides where, and swizzles that
/// remove the conflicts.
void add_banks_command(CLI::App& app, int& status);
/// tilewright check: kernels, ours or a plugin's, and the mutants, in the emulator with all checks.
void add_check_command(CLI::App& app, int& status);
/// tilewright bench: GEMMs, ceilings, the emulator, calls. Status 77: no usable GPU.
void add_bench_command(CLI::App& app, int& status);
/// tilewright info: the version, the build and the GPU, or why no GPU can be used.
void add_info_command(CLI::App& app, int& status);
/// tilewright explain CODE: the page of an error code; KEY=VALUE...: does a combination of tile,
/// copy and memory work, and why.
void add_explain_command(CLI::App& app, int& status);
/// tilewright ladder: the rungs of ladder/, run and checked.
void add_ladder_command(CLI::App& app, int& status);
/// tilewright plan M N K: which kernel, why, and how long. Needs no GPU.
void add_plan_command(CLI::App& app, int& status);
/// tilewright quantize: a wide matrix in 8 or 4 bits, and its scales.
void add_quantize_command(CLI::App& app, int& status);
/// tilewright prepare: 4-bit weights of a checkpoint in the order of the kernels, and back.
void add_prepare_command(CLI::App& app, int& status);
/// tilewright selftest: all kernels and probes of instructions, one report.
void add_selftest_command(CLI::App& app, int& status);
/// tilewright tune: measures plans on this device and stores the fastest.
void add_tune_command(CLI::App& app, int& status);
/// tilewright occupancy: CTAs and warps that an SM holds, and the limits. Needs no GPU.
void add_occupancy_command(CLI::App& app, int& status);
/// tilewright roofline M N K: bytes, operations and ceilings. Needs no GPU.
void add_roofline_command(CLI::App& app, int& status);
/// tilewright profile -- COMMAND: Nsight Compute's figures with their meaning.
void add_profile_command(CLI::App& app, int& status);
/// tilewright playground: the pages for a browser, served to this machine; the runs of its page of
/// races.
void add_playground_command(CLI::App& app, int& status);
/// tilewright stages M N K: how long a kernel loads, multiplies and stores.
void add_stages_command(CLI::App& app, int& status);

}  // namespace tw
