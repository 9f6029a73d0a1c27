// SPDX-License-Identifier: Apache-2.0
// info_command.cpp  Version, build and GPU.
#include "tools/command/verb_commands.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "tilewright/arch/emu/cores.hpp"
#include "tilewright/base/version.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tools/command/guarded.hpp"
#include "tools/operand/device_memory.hpp"
#include "tools/report/json_output.hpp"

namespace tw {
namespace {

std::string capability(gpu_info const& g) {
  return fmt::format("{}.{}", g.compute_capability / 10, g.compute_capability % 10);
}

exit_status info_json(gpu_info const& g) {
  kernel_set_facts const here = kernels_of_this_build();
  nlohmann::ordered_json out{
      {"version", version_text},
      {"cuda", built_with_cuda()},
      {"kernels", {{"set", here.name}, {"built", here.built}, {"all", here.all}}},
      {"cores", emu::usable_cores()}};
  if (g.usable) {
    out["gpu"] = {{"name", g.name},
                  {"sms", g.sms},
                  {"compute_capability", capability(g)},
                  {"memory_bytes", g.memory_bytes},
                  {"driver", g.driver}};
  } else {
    out["gpu"] = nullptr;
    out["why_no_gpu"] = json_error(g.why_not)["error"];
  }
  print_json("tilewright.info/1", out);
  return exit_status::done;
}

exit_status info(bool json) {
  gpu_info const& g = gpu();
  if (json) return info_json(g);
  fmt::print("tilewright {}\n", version_text);
  fmt::print("build      {}\n", built_with_cuda()
                                    ? "with device code for sm_80, sm_90a and sm_100f (CUDA)"
                                    : "without CUDA: the emulator alone");
  kernel_set_facts const here = kernels_of_this_build();
  fmt::print("kernels    {} of {}: the {} set (TW_KERNELS)\n", here.built, here.all, here.name);
  fmt::print("emulator   {} cores\n", emu::usable_cores());
  if (g.usable) {
    fmt::print("GPU        {}, {} SMs, compute capability {}, {:.0f} GiB, driver for CUDA {}\n",
               g.name, g.sms, capability(g), static_cast<double>(g.memory_bytes) / (1 << 30),
               g.driver);
  } else {
    fmt::print("GPU        none: {}\n", to_string(g.why_not));
  }
  return exit_status::done;
}

}  // namespace

void add_info_command(CLI::App& app, int& status) {
  auto const json = std::make_shared<bool>(false);
  CLI::App* verb =
      app.add_subcommand("info", "version, build, and the GPU or why none can be used");
  verb->add_flag("--json", *json, "one JSON record on stdout");
  verb->callback(
      [json, &status] { status = static_cast<int>(guarded(*json, [&] { return info(*json); })); });
}

}  // namespace tw
