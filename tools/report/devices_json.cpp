// SPDX-License-Identifier: Apache-2.0
// devices_json.cpp  Facts of devices/*.json, and what the driver reports.
#include "tools/report/devices_json.hpp"

#include <nlohmann/json.hpp>

#include "tilewright/base/version.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tools/report/json_output.hpp"

namespace tw {

nlohmann::ordered_json devices_json() {
  using json = nlohmann::ordered_json;
  kernel_set_facts const here = kernels_of_this_build();
  json out{{"schema", "tilewright.devices/1"},
           {"version", version_text},
           {"kernels", {{"set", here.name}, {"built", here.built}, {"all", here.all}}},
           {"devices", json::array()}};
  for (device const& d : known_devices())
    out["devices"].push_back(
        {{"id", d.id},
         {"name", d.name},
         {"compute_capability", d.compute_capability},
         {"sms", d.sm_count},
         {"l2_bytes", d.l2_bytes},
         {"max_smem_bytes_per_cta", d.max_smem_bytes_per_cta},
         {"dram_gb_per_s", d.dram_gb_per_s},
         {"max_clock_mhz", d.max_clock_mhz},
         {"calibration", d.source == calibration_source::measured ? "measured" : "data_sheet"}});
  gpu_info const& g = gpu();
  if (g.usable) {
    out["gpu"] = {{"name", g.name},
                  {"compute_capability", g.compute_capability},
                  {"sms", g.sms},
                  {"memory_bytes", g.memory_bytes},
                  {"driver", g.driver}};
  } else {
    out["gpu"] = nullptr;
    out["why_no_gpu"] = json_error(g.why_not)["error"];
  }
  return out;
}

}  // namespace tw
