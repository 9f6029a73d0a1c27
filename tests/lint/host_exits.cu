// SPDX-License-Identifier: Apache-2.0
// host_exits.cu  A host function that calls a __device__ function in a template, and those that
//                end the process themselves or have the same name for both sides.
#include <cstdio>
#include <cstdlib>

namespace {

template <int N>
__device__ __forceinline__ bool on_the_device(int x) {
  return x == N;
}
template <int N>
__host__ __device__ __forceinline__ bool on_both(int x) {
  return x == N;
}
template <int N>
struct order {
  static int wrong(int x) { return on_the_device<N>(x) ? 3 : 4; }
  static int right(int x) { return on_both<N>(x) ? 3 : 4; }
};

/// Its body in host code ends the process too, and nothing there calls it.
__device__ unsigned on_the_device_alone(unsigned x, unsigned y) {
  for (unsigned i = 0; i < y; ++i) x = x * 5 + i;
  return x;
}
__global__ void kernel(unsigned* x) { *x = on_the_device_alone(*x, blockDim.x); }

}  // namespace

int wrong(int x) {
  std::puts("the next call ends the process");
  return order<1>::wrong(x);
}
int right(int x) { return order<1>::right(x); }
int ends(int status) {
  std::puts("status 1 or another, as the caller says");
  std::exit(status == 0 ? 1 : status);
}
