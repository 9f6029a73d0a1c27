// SPDX-License-Identifier: Apache-2.0
// ceiling_table.hpp  Peak rates of devices beyond those of device.hpp: data/ceilings/*.json,
//                    embedded by gen/ceilings.py.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace tw {

enum class memory_level : int { shared_memory, l1, l2, dram };
inline constexpr int memory_level_count = 4;
inline constexpr char const* memory_level_names[] = {"shared memory", "L1", "L2", "DRAM"};

/// Of all SMs together, reads; 0: not measured. Latency in clocks of an SM.
struct memory_ceiling {
  double gb_per_s = 0, latency_clocks = 0;
};

struct device_ceilings {
  std::string_view device;  // its id
  double tensor_tflops;     // dense bf16, by the data sheet,
  std::string_view source;  // which is this
  std::string_view note;    // GPU and date of the measurement; empty: none
  std::array<memory_ceiling, memory_level_count> measured;

  memory_ceiling const& of(memory_level l) const { return measured[static_cast<std::size_t>(l)]; }
};

std::span<device_ceilings const> known_ceilings();

/// Those of a device, or nullptr.
inline device_ceilings const* find_ceilings(std::string_view device) {
  for (device_ceilings const& c : known_ceilings())
    if (c.device == device) return &c;
  return nullptr;
}

}  // namespace tw
