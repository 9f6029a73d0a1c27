// SPDX-License-Identifier: Apache-2.0
// deepgemm.hpp  DeepGEMM's kernel for one GEMM: loaded, with its tensor maps and scales made
//             outside of timing.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <string>
#include <vector>

#include "tilewright/arch/types.hpp"
#include "tilewright/problem/operand.hpp"
#include "tools/measure/deepgemm.hpp"
#include "tools/measure/gpu/buffer.hpp"

namespace tw::bench {

/// The configurations that are tried, with tensor maps and scales of each set of operands. A's
/// scales are copied to rows padded to 16 bytes, and B's to rows without padding, if they lie
/// otherwise.
class deepgemm_product {
 public:
  /// Compiles at most `count` configurations of `p`. Enqueues copies of the scales of `sets` to
  /// DeepGEMM's order on `stream`. Throws `rejected` TW0716 if a configuration does not compile or
  /// the GPU is not a Hopper GPU. why_not_deepgemm(p) is empty.
  deepgemm_product(deepgemm_files const& files, gemm_problem const& p, int sms, std::size_t count,
                   std::vector<gemm_operands> const& sets, cudaStream_t stream);
  deepgemm_product(deepgemm_product const&) = delete;
  deepgemm_product& operator=(deepgemm_product const&) = delete;
  ~deepgemm_product();

  /// The first is the one that DeepGEMM would run.
  std::vector<deepgemm_config> const& configs() const { return configs_; }
  /// One launch of configuration `config` on operands `set`, which may start while the kernel
  /// before it ends (as after deep_gemm.set_pdl(True)). Asynchronous on `stream`; may be captured.
  void enqueue(std::size_t config, std::size_t set, cudaStream_t stream) const;

 private:
  /// Scales as the kernel wants them: in `copies_`, or the operands themselves.
  struct scales {
    float const* a;
    float* b;
  };
  struct maps {
    tensor_map a, b, d, scale_a;
  };

  scales scales_of(gemm_operands const& o, std::size_t set, cudaStream_t stream) const;
  maps maps_of(deepgemm_config const& c, gemm_operands const& o, scales const& s) const;

  gemm_problem const p_;
  int const sms_;
  std::int64_t const k_blocks_, n_blocks_, padded_m_;
  device_buffer copies_;  // of the scales of A and B of each set
  std::vector<deepgemm_config> configs_;
  std::vector<cudaLibrary_t> libraries_;
  std::vector<cudaKernel_t> kernels_;
  std::vector<scales> scales_;           // of each set
  std::vector<std::vector<maps>> maps_;  // of each configuration and set
};

}  // namespace tw::bench
