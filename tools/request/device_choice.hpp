// SPDX-License-Identifier: Apache-2.0
// device_choice.hpp  The place of a run: the emulator, the GPU, or the GPU if it
//                    can be used.
#pragma once

#include "tilewright/base/check.hpp"

namespace tw {

enum class device_choice { automatic, emu, gpu };

/// --device gpu on a machine without a usable GPU: exit status 77.
class no_usable_gpu : public rejected {
 public:
  using rejected::rejected;
};

/// The device that `choice` means here: true for the GPU. Throws `no_usable_gpu` when the GPU is
/// requested and cannot be used.
bool choose_gpu(device_choice choice);

}  // namespace tw
