// SPDX-License-Identifier: Apache-2.0
// arch_map.cpp  Refusals of swizzles of tensor maps.
#include "tilewright/arch/select.hpp"
#include "tilewright/atom/descriptor.hpp"

using namespace tw;

// case atom_operand_swizzle
// A descriptor of a swizzle whose base is not 16 bytes.
// expect-error: TW0237_swizzle_is_not_one_of_shared_memory
// expect-error: 353000343
// max lines(g++): 11
// max lines(nvcc): 13
namespace atom_operand_swizzle {
#ifdef TW_FAIL
constexpr layout step = "Sw<3,4,3> o 0 o (64,16):(64,1)"_L;
#else
constexpr layout step = "Sw<3,3,3> o 0 o (64,16):(64,1)"_L;
#endif
[[maybe_unused]] constexpr operand_places p = places_of_operand(step, 0, operand_major::k, 16);
}  // namespace atom_operand_swizzle

// case tensor_map_swizzle
// A kernel that gives a tensor map the swizzle in atoms of 32 bytes.
// expect-error: [TW0237]
namespace tensor_map_swizzle {
TW_DEVICE void change(tensor_map& map) {
#ifdef TW_FAIL
  tensor_map_set_swizzle<swizzle_mode::b128_base32>(map);
#else
  tensor_map_set_swizzle<swizzle_mode::b128>(map);
#endif
}
}  // namespace tensor_map_swizzle
