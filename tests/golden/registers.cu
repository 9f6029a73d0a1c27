// SPDX-License-Identifier: Apache-2.0
// registers.cu  The epilogues of registers_kernel.hpp as device code, without a bound on threads:
//               ptxas takes the registers that it wants. registers_test.py compares them.
#include "tests/golden/registers_kernel.hpp"

namespace tw_test {

using tw::swizzle_mode;
using enum writer;
using enum address;

__global__ void sw64_stmatrix(__grid_constant__ writing_params const p) {
  writing_kernel<writing{96, swizzle_mode::b64, stmatrix4, stepped}>::run(p);
}
__global__ void sw32_stmatrix(__grid_constant__ writing_params const p) {
  writing_kernel<writing{96, swizzle_mode::b32, stmatrix4, stepped}>::run(p);
}
__global__ void none_stmatrix(__grid_constant__ writing_params const p) {
  writing_kernel<writing{96, swizzle_mode::none, stmatrix4, stepped}>::run(p);
}
__global__ void sw128_n32_stmatrix(__grid_constant__ writing_params const p) {
  writing_kernel<writing{32, swizzle_mode::b128, stmatrix4, stepped}>::run(p);
}
__global__ void sw128_turns_stmatrix(__grid_constant__ writing_params const p) {
  writing_kernel<writing{96, swizzle_mode::b128, stmatrix4, stepped, true}>::run(p);
}
__global__ void sw64_st32(__grid_constant__ writing_params const p) {
  writing_kernel<writing{96, swizzle_mode::b64, st32, stepped}>::run(p);
}
__global__ void sw64_st16(__grid_constant__ writing_params const p) {
  writing_kernel<writing{96, swizzle_mode::b64, st16, stepped}>::run(p);
}
__global__ void sw64_st32_swizzled(__grid_constant__ writing_params const p) {
  writing_kernel<writing{96, swizzle_mode::b64, st32, swizzled}>::run(p);
}
__global__ void sw64_st16_swizzled(__grid_constant__ writing_params const p) {
  writing_kernel<writing{96, swizzle_mode::b64, st16, swizzled}>::run(p);
}
__global__ void sw128_stmatrix_coordinates(__grid_constant__ writing_params const p) {
  writing_kernel<writing{96, swizzle_mode::b128, stmatrix4, coordinates}>::run(p);
}
__global__ void sw128_st32_coordinates(__grid_constant__ writing_params const p) {
  writing_kernel<writing{96, swizzle_mode::b128, st32, coordinates}>::run(p);
}
__global__ void sw64_stmatrix_swizzled(__grid_constant__ writing_params const p) {
  writing_kernel<writing{96, swizzle_mode::b64, stmatrix4, swizzled}>::run(p);
}
__global__ void sw64_stmatrix_coordinates(__grid_constant__ writing_params const p) {
  writing_kernel<writing{96, swizzle_mode::b64, stmatrix4, coordinates}>::run(p);
}
__global__ void sw64_st32_coordinates(__grid_constant__ writing_params const p) {
  writing_kernel<writing{96, swizzle_mode::b64, st32, coordinates}>::run(p);
}
__global__ void sw64_st16_coordinates(__grid_constant__ writing_params const p) {
  writing_kernel<writing{96, swizzle_mode::b64, st16, coordinates}>::run(p);
}

}  // namespace tw_test
