// SPDX-License-Identifier: Apache-2.0
// device_memory.nocuda.cpp  A build without CUDA has no GPU memory; it says so.
#include "tools/operand/device_memory.hpp"

namespace tw {

bool built_with_cuda() { return false; }
bytes free_device_memory() { throw rejected(gpu().why_not); }
device_workspace::device_workspace(std::int64_t) { throw rejected(gpu().why_not); }
device_workspace::~device_workspace() = default;
device_matrix::device_matrix(matrix_view const&) { throw rejected(gpu().why_not); }
device_matrix::~device_matrix() = default;
void device_matrix::upload() { throw rejected(gpu().why_not); }
void device_matrix::download(std::byte*) const { throw rejected(gpu().why_not); }
device_stream::device_stream() { throw rejected(gpu().why_not); }
device_stream::~device_stream() = default;
void device_stream::synchronize() const { throw rejected(gpu().why_not); }
device_time time_on_device(std::function<void(cudaStream_t)> const&) {
  throw rejected(gpu().why_not);
}

}  // namespace tw
