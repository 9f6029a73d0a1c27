// SPDX-License-Identifier: Apache-2.0
// on_device.hpp  A CUDA device that is current for a while.
#pragma once

namespace tw {

/// Makes a device current in this thread; its end restores the context that was current, or that
/// none was. The context is the driver's, which all copies of the CUDA runtime in a process share.
/// Throws `rejected` TW0503 for a device that the machine lacks. Without CUDA it does nothing.
class on_device {
 public:
  explicit on_device(int ordinal);
  ~on_device();
  on_device(on_device const&) = delete;
  on_device& operator=(on_device const&) = delete;

 private:
  void* before_ = nullptr;
  bool changed_ = false;
};

}  // namespace tw
