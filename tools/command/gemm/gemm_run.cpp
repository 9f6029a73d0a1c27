// SPDX-License-Identifier: Apache-2.0
// gemm_run.cpp  Copies operands to the device that runs the GEMM, and D back.
#include "tools/command/gemm/gemm_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "tilewright/arch/emu/cores.hpp"
#include "tilewright/problem/block_scaled.hpp"
#include "tools/io/progress_bar.hpp"
#include "tools/io/refuse.hpp"
#include "tools/operand/device_memory.hpp"
#include "tools/operand/device_operands.hpp"
#include "tools/request/family_choice.hpp"

namespace tw {
namespace {

void require_device_memory(gemm_problem const& p) {
  bytes const need = memory_of_copies(p) + bytes{device_workspace::size_bytes};
  bytes const available = free_device_memory();
  if (need > available) {
    auto const gib = [](bytes n) {
      return fmt::format("{:.2f} GiB", static_cast<double>(n.count) / (1 << 30));
    };
    refuse("TW0613", "memory of the GPU", gib(available) + " free", gib(need),
           "the emulator uses the host's memory: --device emu");
  }
}

}  // namespace

gemm_run run_on_gpu(gemm_files const& files, gemm_data& data, std::string const& family) {
  require_device_memory(files.problem());
  copied_operands<> const on_device(files.problem(), data.operands());
  gemm_problem const& p = on_device.problem();
  gemm_operands o = on_device.operands();
  bool const gathers = p.groups && p.groups->gather_from > 0;
  std::int64_t const workspace_bytes = p.scale_d || is_block_scaled(p) || gathers
                                           ? gemm_workspace_bytes(p, o, gpu_device())
                                           : device_workspace::size_bytes;
  device_workspace const workspace(workspace_bytes);
  o.workspace = workspace.data(), o.workspace_bytes = workspace_bytes;
  gemm_run run;
  run.on_gpu = true;
  run.device = gpu().name;
  run.plan = plan_of_family(p, o, gpu_device(), family);
  device_time const t = time_on_device([&](cudaStream_t stream) { gemm(run.plan, o, stream); });
  run.seconds = t.seconds;
  run.timed_runs = t.runs;
  on_device.download();
  return run;
}

gemm_run run_emulated(gemm_request const& r, gemm_files const& files, gemm_data& data,
                      emu::trace* record) {
  emu_options options;
  options.os_threads = r.threads > 0 ? r.threads : record != nullptr ? 1 : emu::usable_cores();
  options.record = record;
  progress_bar bar(!r.quiet);
  emu::statistics counts;
  options.counted = &counts;
  options.hazards = r.hazards;    // they cost time
  options.catch_crashes = false;  // an input that is truncated meanwhile: main() names the file
  options.progress = [&](double share) { bar.update(share); };
  gemm_run run;
  run.device = "emulator";
  run.threads = record != nullptr ? 1 : options.os_threads;
  run.plan = plan_of_family(files.problem(), data.operands(),
                            emulated_device(options, device_of(r.arch, r.family)), r.family);
  require_memory(bytes{run.plan.workspace_bytes}, "workspace of the emulated GEMM");
  auto const start = std::chrono::steady_clock::now();
  gemm_emulated(run.plan, data.operands(), options);  // makes its workspace
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.hazards = counts.hazards;
  run.ordinary_accesses = counts.plain_accesses_seen;
  return run;
}

}  // namespace tw
