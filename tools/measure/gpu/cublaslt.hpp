// SPDX-License-Identifier: Apache-2.0
// cublaslt.hpp  The baseline: cuBLASLt, found at run time, with its descriptors made outside
// timing.
#pragma once

#include <cublasLt.h>

#include <memory>
#include <string>
#include <vector>

#include "tilewright/problem/operand.hpp"
#include "tools/measure/gpu/buffer.hpp"

namespace tw::bench {

/// The functions of the loaded library, a handle, and a workspace of 64 MiB.
class cublaslt {
 public:
  /// Throws `rejected` TW0712 when `file` is not found or lacks a function.
  explicit cublaslt(std::string const& file);
  cublaslt(cublaslt const&) = delete;
  cublaslt& operator=(cublaslt const&) = delete;
  ~cublaslt();

  std::string version() const;  // "13.1.0"
  std::string const& path() const { return path_; }

 private:
  friend class lt_product;
  struct functions;
  std::unique_ptr<functions> api_;
  std::string path_;
  cublasLtHandle_t handle_ = nullptr;
  device_buffer workspace_;
};

/// An algorithm as a named struct: nvcc 13.0 cannot keep cuBLASLt's unnamed struct in a vector.
struct lt_algorithm {
  cublasLtMatmulAlgo_t value;
};

/// One problem, or a batch of them by strides or by pointers (then of A, B and D, without C):
/// row-major D as cuBLAS's column-major D^T = B^T A^T. Sums are float32, of 8-bit floats with fast
/// accumulation where the problem never promotes; s32 of integers; tf32; f16 where the problem
/// allows it. Of epilogues those of cublaslt_part(). Of scales of A and B those that the library
/// has, in its order: by row, 1x128, 128x128; those of block-scaled formats in 32x4x4.
class lt_product {
 public:
  /// `second_levels`: those of NVFP4's A and B multiplied, which the library takes as a factor of
  /// alpha.
  lt_product(cublaslt const& library, gemm_problem const& p, float second_levels = 1);
  lt_product(lt_product const&) = delete;
  lt_product& operator=(lt_product const&) = delete;
  ~lt_product();

  /// The heuristic's algorithms, best first, at most `count`. Throws TW0712 if it has no algorithm.
  std::vector<lt_algorithm> algorithms(int count) const;
  /// "algo 66, tile 128x256 ..." as far as the library reports it.
  std::string describe(lt_algorithm const& algorithm) const;
  /// Asynchronous on `stream`. Throws TW0712 when the library refuses.
  void enqueue(lt_algorithm const& algorithm, gemm_operands const& o, cudaStream_t stream) const;

 private:
  void destroy();

  cublaslt const& library_;
  /// A factor of the type that the GEMM's factors have.
  struct factor {
    float f32;
    std::int32_t s32;
    std::uint16_t f16;
  };
  void const* data_of(factor const& x) const;
  factor alpha_, beta_;
  cudaDataType_t factors_ = CUDA_R_32F;
  bool c_, bias_;
  ab_table<bool> scaled_;
  bool pointers_;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t left_ = nullptr, right_ = nullptr, addend_ = nullptr, result_ = nullptr;
};

}  // namespace tw::bench
