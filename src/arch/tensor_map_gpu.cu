// SPDX-License-Identifier: Apache-2.0
// tensor_map_gpu.cu  cuTensorMapEncodeTiled, found in the driver at run time, so that the program
//                    starts without one. CUDA driver API, "Tensor Map Object Management".
#include "arch/tensor_map_gpu.hpp"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "tilewright/arch/cuda/driver_function.hpp"

namespace tw {

namespace {

static_assert(sizeof(tensor_map) == sizeof(CUtensorMap));

/// Bytes that L2 fetches for a miss. Where lines begin inside of sectors it reaches into two
/// such pieces, and 256 bytes take 15 % more time (docs/decisions/0019). Matrices at places of
/// their own (in_all_memory) are taken to begin at sectors.
CUtensorMapL2promotion promotion_of(tensor_map_desc const& d) {
  bool const whole = std::all_of(
      d.stride_bytes, d.stride_bytes + d.rank - 1,
      [](std::int64_t stride) { return stride % 32 == 0 || stride == tma_place::unit_bytes; });
  return whole && !d.l2_fetches_128 ? CU_TENSOR_MAP_L2_PROMOTION_L2_256B
                                    : CU_TENSOR_MAP_L2_PROMOTION_L2_128B;
}

[[noreturn]] void refuse(std::string got, std::string hint) {
  throw rejected({"TW0310", "tensor map for the GPU", std::move(got),
                  "a map that cuTensorMapEncodeTiled accepts", std::move(hint)});
}

template <class Function>
Function required_driver_function(char const* name) {
  auto const found = detail::driver_function<Function>(name);
  if (found == nullptr) refuse(std::string("no ") + name, "install an NVIDIA driver for CUDA 13");
  return found;
}

CUtensorMapDataType type_of(tensor_map_desc const& d) {
  switch (d.type) {
    case elem::f32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case elem::tf32: return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
    case elem::f16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case elem::bf16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case elem::s32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case elem::e2m3:
    case elem::e3m2: return CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
    case elem::e2m1:
      return d.padded ? CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B
                      : CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B;
    default: return CU_TENSOR_MAP_DATA_TYPE_UINT8;  // of 8 bits
  }
}

CUtensorMapSwizzle swizzle_of(swizzle_mode s) {
  switch (s) {
    case swizzle_mode::none: return CU_TENSOR_MAP_SWIZZLE_NONE;
    case swizzle_mode::b128: return CU_TENSOR_MAP_SWIZZLE_128B;
    case swizzle_mode::b64: return CU_TENSOR_MAP_SWIZZLE_64B;
    case swizzle_mode::b32: return CU_TENSOR_MAP_SWIZZLE_32B;
    case swizzle_mode::b128_base32: return CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
  }
  return CU_TENSOR_MAP_SWIZZLE_NONE;
}

}  // namespace

tensor_map encode_tensor_map_gpu(tensor_map_desc const& d) {
  static auto const encode =
      required_driver_function<PFN_cuTensorMapEncodeTiled_v12000>("cuTensorMapEncodeTiled");
  cuuint64_t dim[5], stride[4];
  cuuint32_t box[5], step[5];
  for (int i = 0; i < 5; ++i) {
    dim[i] = static_cast<cuuint64_t>(d.dim[i]);
    box[i] = static_cast<cuuint32_t>(d.box[i]);
    step[i] = 1;
  }
  for (int i = 0; i < 4; ++i) stride[i] = static_cast<cuuint64_t>(d.stride_bytes[i]);
  CUtensorMap map;
  auto const call = [&] {
    return encode(&map, type_of(d), static_cast<cuuint32_t>(d.rank), d.base, dim, stride, box, step,
                  CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_of(d.swizzle), promotion_of(d),
                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  CUresult r = call();
  if (r == CUDA_ERROR_NOT_INITIALIZED || r == CUDA_ERROR_INVALID_CONTEXT) {
    cudaFree(nullptr);  // makes the context of the current device
    r = call();
  }
  if (r != CUDA_SUCCESS) {
    static auto const error_name =
        required_driver_function<PFN_cuGetErrorName_v6000>("cuGetErrorName");
    char const* name = nullptr;
    error_name(r, &name);
    std::string const got =
        name != nullptr ? name : "CUresult " + std::to_string(static_cast<int>(r));
    // The driver says the same of every call after a kernel broke: that is not the map's fault.
    if (r != CUDA_ERROR_INVALID_VALUE)
      throw rejected({"TW0506", "CUDA driver", got, "success", ""});
    refuse(got, "");
  }
  return std::bit_cast<tensor_map>(map);
}

void readdress_tensor_map_gpu(tensor_map& map, void const* base) {
  static auto const replace =
      required_driver_function<PFN_cuTensorMapReplaceAddress_v12000>("cuTensorMapReplaceAddress");
  auto changed = std::bit_cast<CUtensorMap>(map);
  CUresult const r = replace(&changed, const_cast<void*>(base));
  if (r != CUDA_SUCCESS) refuse("CUresult " + std::to_string(static_cast<int>(r)), "");
  map = std::bit_cast<tensor_map>(changed);
}

}  // namespace tw
