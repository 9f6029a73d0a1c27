// SPDX-License-Identifier: Apache-2.0
// tensor_map_emu.hpp  The emulator's tensor map: the description itself, packed into 128 bytes.
#pragma once

#include "tilewright/arch/tensor_map.hpp"

namespace tw {

/// Packs a description that check_tensor_map accepts.
tensor_map pack_tensor_map_emu(tensor_map_desc const& d);

/// The description again. Throws `rejected` (TW0311) if the bytes are no map of the emulator: one
/// made for the GPU, never initialised, or overwritten.
tensor_map_desc unpack_tensor_map_emu(tensor_map const& m);

}  // namespace tw
