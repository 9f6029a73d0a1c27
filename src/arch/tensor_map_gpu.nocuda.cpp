// SPDX-License-Identifier: Apache-2.0
// tensor_map_gpu.nocuda.cpp  Tensor maps for the GPU in a build without CUDA.
#include "arch/tensor_map_gpu.hpp"

namespace tw {

namespace {

[[noreturn]] void refuse() {
  throw rejected({"TW0501", "tensor map for the GPU", "a build without CUDA",
                  "a build with a CUDA 13 toolkit",
                  "configure with -DTW_CUDA=ON, or run in the emulator"});
}

}  // namespace

tensor_map encode_tensor_map_gpu(tensor_map_desc const&) { refuse(); }
void readdress_tensor_map_gpu(tensor_map&, void const*) { refuse(); }

}  // namespace tw
