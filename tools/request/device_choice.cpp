// SPDX-License-Identifier: Apache-2.0
// device_choice.cpp  Refuses the GPU if it cannot be used.
#include "tools/request/device_choice.hpp"

#include "tilewright/dispatch/gemm.hpp"

namespace tw {

bool choose_gpu(device_choice choice) {
  if (choice == device_choice::emu) return false;
  if (choice == device_choice::gpu && !gpu().usable) {
    rejection why = gpu().why_not;  // what the other verbs say too, and what this one can do
    why.hint += ", or run in the emulator with --device emu";
    throw no_usable_gpu(why);
  }
  return gpu().usable;
}

}  // namespace tw
