// SPDX-License-Identifier: Apache-2.0
// on_device.nocuda.cpp  Without CUDA there is nothing to make current; gemm() refuses (TW0501).
#include "dispatch/launch/on_device.hpp"

namespace tw {

on_device::on_device(int) { (void)before_, (void)changed_; }
on_device::~on_device() = default;

}  // namespace tw
