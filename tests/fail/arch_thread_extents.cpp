// SPDX-License-Identifier: Apache-2.0
// arch_thread_extents.cpp  Refusals of thread extents.
#include "tilewright/arch/select.hpp"

using namespace tw;

// case thread_extents
// A CTA whose arrangement has another number of threads.
// expect-error: [TW0279]
// max lines(nvcc): 12
// max lines(g++): 14
namespace thread_extents {
struct kernel {
  static constexpr extents3 thread_extents{16, 16};
#ifdef TW_FAIL
  static constexpr int threads = 128;
#else
  static constexpr int threads = 256;
#endif
};
TW_DEVICE int column() { return thread_index<kernel>().x; }
}  // namespace thread_extents
