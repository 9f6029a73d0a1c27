// SPDX-License-Identifier: Apache-2.0
// gpu_memory.cu  Places of addresses, as the CUDA runtime and the driver tell them.
#include "dist/gpu_memory.hpp"

#include <cuda.h>

#include "dist/gpu_parts.hpp"
#include "tilewright/arch/cuda/driver_function.hpp"

namespace tw::dist {
namespace {

memory_place place_of(void const* at) {
  cudaPointerAttributes a{};
  if (cudaPointerGetAttributes(&a, at) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  switch (a.type) {
    case cudaMemoryTypeDevice: return {memory_kind::device, a.device};
    case cudaMemoryTypeManaged: return {memory_kind::managed, a.device};
    case cudaMemoryTypeHost: return {memory_kind::registered, a.device};
    default: return {};
  }
}

memory_place sized_place_of(void const* at) {
  memory_place place = place_of(at);
  static auto const range =
      tw::detail::driver_function<decltype(&cuMemGetAddressRange)>("cuMemGetAddressRange");
  if (range == nullptr) return place;
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  auto const address = reinterpret_cast<CUdeviceptr>(at);
  if (range(&base, &bytes, address) == CUDA_SUCCESS)
    place.bytes = static_cast<std::int64_t>(base + bytes - address);
  return place;
}

device_memory memory_by(memory_place (*place)(void const*)) {
  return {place,
          [](void* to, std::int64_t bytes) {
            must(cudaMemset(to, 0, static_cast<std::size_t>(bytes)), "an arena");
            must(cudaDeviceSynchronize(), "an arena");
          },
          [](void* to, void const* from, std::int64_t bytes) {
            must(cudaMemcpy(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault),
                 "copy of words of an arena");
          }};
}

}  // namespace

device_memory const& memory_of_gpu() {
  static device_memory const memory = memory_by(place_of);
  return memory;
}
device_memory const& memory_of_gpu_with_sizes() {
  static device_memory const memory = memory_by(sized_place_of);
  return memory;
}

}  // namespace tw::dist
