// SPDX-License-Identifier: Apache-2.0
// deepgemm.cu  Loads DeepGEMM's cubins and launches them persistently. Sources: CUDA runtime API,
// "Library Management"; the host code of DeepGEMM 54e22612 (arguments, boxes and swizzles).
#include "tools/measure/gpu/deepgemm.hpp"

#include "tilewright/arch/tensor_map.hpp"
#include "tools/io/refuse.hpp"

namespace tw::bench {
namespace {

constexpr std::int64_t scale_block = 128;

swizzle_mode swizzle_of(int bytes) {
  if (bytes == 128) return swizzle_mode::b128;
  if (bytes == 64) return swizzle_mode::b64;
  return bytes == 32 ? swizzle_mode::b32 : swizzle_mode::none;
}

/// A map of `rows` rows of `cols` elements.
tensor_map map_of(void const* base, elem type, std::int64_t cols, std::int64_t rows,
                  std::int64_t row_bytes, int box_cols, int box_rows, int swizzle_bytes) {
  tensor_map_desc d;
  d.base = const_cast<void*>(base);
  d.type = type;
  d.dim[0] = cols, d.dim[1] = rows;
  d.stride_bytes[0] = row_bytes;
  d.box[0] = box_cols, d.box[1] = box_rows;
  d.swizzle = swizzle_of(swizzle_bytes);
  return make_tensor_map(d, target::gpu);
}

}  // namespace

deepgemm_product::deepgemm_product(deepgemm_files const& files, gemm_problem const& p, int sms,
                                   std::size_t count, std::vector<gemm_operands> const& sets,
                                   cudaStream_t stream)
    : p_(p),
      sms_(sms),
      k_blocks_((p.k + scale_block - 1) / scale_block),
      n_blocks_((p.n + scale_block - 1) / scale_block),
      padded_m_((p.m + 3) / 4 * 4),
      copies_(sets.size() * static_cast<std::size_t>((padded_m_ + n_blocks_) * k_blocks_) *
              sizeof(float)),
      configs_(deepgemm_configs(p.m, p.n, p.k, sms, count)) {
  cudaDeviceProp device{};
  int current = 0;
  check(cudaGetDevice(&current), "cudaGetDevice");
  check(cudaGetDeviceProperties(&device, current), "cudaGetDeviceProperties");
  if (device.major != 9)
    refuse("TW0716", "device of DeepGEMM's Hopper kernel", device.name, "compute capability 9.0",
           "--baseline cublaslt measures without it");
  check(cudaMemsetAsync(copies_.data(), 0, copies_.bytes(), stream), "cudaMemset");
  for (std::size_t i = 0; i < sets.size(); ++i) scales_.push_back(scales_of(sets[i], i, stream));
  std::vector<std::string> sources;
  for (deepgemm_config const& c : configs_) sources.push_back(deepgemm_source(c, p.n, p.k, sms));
  std::vector<std::string> const cubins = compile_deepgemm(files, sources);
  for (std::size_t i = 0; i < configs_.size(); ++i) {
    check(cudaLibraryLoadData(&libraries_.emplace_back(), cubins[i].data(), nullptr, nullptr, 0,
                              nullptr, nullptr, 0),
          "cudaLibraryLoadData of DeepGEMM's kernel");
    check(cudaLibraryEnumerateKernels(&kernels_.emplace_back(), 1, libraries_.back()),
          "cudaLibraryEnumerateKernels");
    check(cudaFuncSetAttribute(reinterpret_cast<void const*>(kernels_.back()),
                               cudaFuncAttributeMaxDynamicSharedMemorySize, configs_[i].smem_bytes),
          "shared memory of DeepGEMM's kernel");
    std::vector<maps>& of_sets = maps_.emplace_back();
    for (std::size_t set = 0; set < sets.size(); ++set)
      of_sets.push_back(maps_of(configs_[i], sets[set], scales_[set]));
  }
}

deepgemm_product::~deepgemm_product() {
  for (cudaLibrary_t const library : libraries_)
    if (library != nullptr) cudaLibraryUnload(library);
}

deepgemm_product::scales deepgemm_product::scales_of(gemm_operands const& o, std::size_t set,
                                                     cudaStream_t stream) const {
  scale_desc const &a = *p_.scale_a, &b = *p_.scale_b;
  auto* const own = reinterpret_cast<float*>(copies_.data()) +
                    set * static_cast<std::size_t>((padded_m_ + n_blocks_) * k_blocks_);
  auto const copy = [&](float* to, std::int64_t to_pitch, void const* from, std::int64_t pitch,
                        std::int64_t columns, std::int64_t rows) {
    auto const bytes = [](std::int64_t elements) {
      return static_cast<std::size_t>(elements) * sizeof(float);
    };
    check(cudaMemcpy2DAsync(to, bytes(to_pitch), from, bytes(pitch), bytes(columns),
                            static_cast<std::size_t>(rows), cudaMemcpyDeviceToDevice, stream),
          "copy of scales");
  };
  float* const own_b = own + padded_m_ * k_blocks_;
  bool const same_a = a.stride_outer == 1 && a.stride_k == padded_m_;
  bool const same_b = b.stride_k == 1 && b.stride_outer == k_blocks_;
  if (!same_a) copy(own, padded_m_, o.scale_a, a.stride_k, p_.m, k_blocks_);
  if (!same_b) copy(own_b, k_blocks_, o.scale_b, b.stride_outer, k_blocks_, n_blocks_);
  return {same_a ? static_cast<float const*>(o.scale_a) : own,
          same_b ? static_cast<float*>(const_cast<void*>(o.scale_b)) : own_b};
}

deepgemm_product::maps deepgemm_product::maps_of(deepgemm_config const& c, gemm_operands const& o,
                                                 scales const& s) const {
  int const d_cols = c.swizzle_d / 2;
  return {map_of(o.a, elem::e4m3, p_.k, p_.m, p_.a.pitch_bytes(), scale_block, c.block_m, 128),
          map_of(o.b, elem::e4m3, p_.k, p_.n, p_.b.pitch_bytes(), scale_block, c.block_n, 128),
          map_of(o.d, elem::bf16, p_.n, p_.m, p_.d.pitch_bytes(), d_cols, c.block_m, c.swizzle_d),
          map_of(s.a, elem::f32, padded_m_, k_blocks_, padded_m_ * 4, c.block_m, 1, 0)};
}

void deepgemm_product::enqueue(std::size_t config, std::size_t set, cudaStream_t stream) const {
  deepgemm_config const& c = configs_[config];
  maps m = maps_[config][set];
  float* scale_b = scales_[set].b;
  int* groups = nullptr;
  auto rows = static_cast<std::uint32_t>(p_.m), cols = static_cast<std::uint32_t>(p_.n),
       depth = static_cast<std::uint32_t>(p_.k);
  void* arguments[] = {&scale_b, &groups, &rows, &cols, &depth, &m.a, &m.b, &m.d, &m.scale_a};
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {static_cast<unsigned>(c.clusters()), 1, 1};
  cudaLaunchConfig_t launch = {};
  launch.gridDim = dim3(static_cast<unsigned>(sms_));
  launch.blockDim = dim3(static_cast<unsigned>(c.threads()));
  launch.dynamicSmemBytes = static_cast<std::size_t>(c.smem_bytes);
  launch.stream = stream;
  launch.attrs = attributes;
  launch.numAttrs = c.clusters() > 1 ? 2 : 1;
  check(cudaLaunchKernelExC(&launch, reinterpret_cast<void const*>(kernels_[config]), arguments),
        "launch of DeepGEMM's kernel");
}

}  // namespace tw::bench
