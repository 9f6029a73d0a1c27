// SPDX-License-Identifier: Apache-2.0
// devices_json.hpp  The described devices and the GPU as JSON ("tilewright.devices/1").
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace tw {

/// "devices": those that plans can be made for, and that the emulator can take the place of.
/// "gpu": the current device, or null and "why_no_gpu".
nlohmann::ordered_json devices_json();

}  // namespace tw
