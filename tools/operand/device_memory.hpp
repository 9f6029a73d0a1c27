// SPDX-License-Identifier: Apache-2.0
// device_memory.hpp  The little of CUDA that the command needs: matrices on the GPU, and its clock.
// In a build without CUDA every function but built_with_cuda() throws gpu().why_not.
#pragma once

#include <cstdint>
#include <functional>

#include "tilewright/base/units.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tools/io/matrix_view.hpp"

namespace tw {

bool built_with_cuda();

/// GPU memory that is free now.
bytes free_device_memory();

/// A matrix on the GPU with the order and type of one in host memory, at its padded pitch. Throws
/// `rejected` TW0507 when there is no memory, TW0506 when another CUDA call fails.
class device_matrix {
 public:
  explicit device_matrix(matrix_view const& host);  // uninitialised
  ~device_matrix();
  device_matrix(device_matrix const&) = delete;
  device_matrix& operator=(device_matrix const&) = delete;

  void upload();                       // from the host matrix
  void download(std::byte* to) const;  // dense, in the same order
  void* data() const { return data_; }
  matrix_desc desc() const { return desc_; }

 private:
  matrix_view host_;
  matrix_desc desc_;
  void* data_ = nullptr;
};

/// A workspace for launches (gemm_operands::workspace) on the current GPU; its counters are zero.
class device_workspace {
 public:
  static constexpr std::int64_t size_bytes = std::int64_t{64} << 20;
  explicit device_workspace(std::int64_t bytes = size_bytes);
  ~device_workspace();
  device_workspace(device_workspace const&) = delete;
  device_workspace& operator=(device_workspace const&) = delete;
  void* data() const { return data_; }

 private:
  void* data_ = nullptr;
};

/// A stream that does not wait for others.
class device_stream {
 public:
  device_stream();
  ~device_stream();
  device_stream(device_stream const&) = delete;
  device_stream& operator=(device_stream const&) = delete;
  operator cudaStream_t() const { return at_; }
  void synchronize() const;

 private:
  cudaStream_t at_ = nullptr;
};

/// Seconds of one run of `work` on the GPU, by its event clock: one run to warm up, then the mean
/// of runs back to back for about 20 ms, at most 20.
struct device_time {
  double seconds = 0;
  int runs = 0;
};
device_time time_on_device(std::function<void(cudaStream_t)> const& work);

}  // namespace tw
