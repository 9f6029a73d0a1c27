// SPDX-License-Identifier: Apache-2.0
// tensor.cpp  Refusals of tensors, copies and vectors.
#include "tilewright/tensor/tensor.hpp"

using namespace tw;

// case tensor_arguments
// A run-time layout with an argument too few.
// expect-error: TW0150_number_of_run_time_arguments_differs
// expect-error: 2000003
namespace tensor_arguments {
auto view(float* p, int m, int k) {
#ifdef TW_FAIL
  return make_tensor<row_major_view()>(p, m, k);
#else
  return make_tensor<row_major_view()>(p, m, k, k);
#endif
}
}  // namespace tensor_arguments

// case tensor_copy_extent
// A copy of a whole matrix whose extents are known at run time.
// expect-error: TW0145_run_time_extents_where_the_tensor_is_walked_take_a_tile
// expect-error: 2000000
namespace tensor_copy_extent {
void move(float const* p, int m, int k, fragment<float, "(4,8):(8,1)"_L>& to) {
  auto const a = gmem_view(p, m, k, k);
#ifdef TW_FAIL
  copy(a, to);
#else
  copy(local_tile<tile(4, 8)>(a, 0, 0), to);
#endif
}
}  // namespace tensor_copy_extent

// case tensor_copy_rank
// A copy between tensors of different ranks.
// expect-error: TW0143_number_of_modes_differs
// expect-error: 2000001
namespace tensor_copy_rank {
using from = tensor<float, "(8,4):(4,1)"_L>;
#ifdef TW_FAIL
using to = tensor<float, "(32):(1)"_L>;
#else
using to = tensor<float, "(8,4):(1,8)"_L>;
#endif
void move(from const& a, to const& b) { copy(a, b); }
}  // namespace tensor_copy_rank

// case tensor_copy_shape
// A copy between tensors of different shapes.
// expect-error: TW0144_size_of_a_mode_differs
// expect-error: 4000008
namespace tensor_copy_shape {
using from = tensor<float, "(8,4):(4,1)"_L>;
#ifdef TW_FAIL
using to = tensor<float, "(8,8):(8,1)"_L>;
#else
using to = tensor<float, "(8,4):(8,1)"_L>;
#endif
void move(from const& a, to const& b) { copy(a, b); }
}  // namespace tensor_copy_shape

// case tensor_copy_type
// A copy between element types.
// expect-error: TW0151_copy_between_element_types_use_transform_to_convert
// expect-error: 32000016
namespace tensor_copy_type {
using from = tensor<float, "(8):(1)"_L>;
#ifdef TW_FAIL
using to = tensor<bf16, "(8):(1)"_L>;
#else
using to = tensor<float, "(8):(1)"_L>;
#endif
void move(from const& a, to const& b) { copy(a, b); }
}  // namespace tensor_copy_type

// case tensor_own_bits
// A swizzled part cut so that its leaves share offset bits.
// expect-error: TW0146_this_cut_of_a_swizzled_part_shares_offset_bits_cut_before_slicing
// expect-error: 1000000
namespace tensor_own_bits {
using stages = tensor<bf16, "Sw<3,3,3> o 0 o (192,64,2):(64,1,12288)"_L, smem>;
auto part(stages const& s) {
#ifdef TW_FAIL
  return local_tile<tile(12, 64)>(s(_, _, 1), 0, 0);
#else
  return local_tile<tile(12, 64)>(s, 0, 0, 1);
#endif
}
}  // namespace tensor_own_bits

// case tensor_partition
// A thread-value layout that reaches beyond its tile.
// expect-error: TW0147_the_thread_value_layout_reaches_beyond_the_tile
// expect-error: 1920001024
namespace tensor_partition {
#ifdef TW_FAIL
constexpr layout tv = "((8,16),8):((256,1),16)"_L;
#else
constexpr layout tv = "((8,16),8):((128,1),16)"_L;
#endif
auto part(tensor<bf16, "(128,64):(64,1)"_L, smem> const& s, int thread) {
  return partition<tile(16, 64), tv>(s, thread);
}
}  // namespace tensor_partition

// case tensor_rank
// expect_shape without the stage mode.
// expect-error: TW0143_number_of_modes_differs
// expect-error: 3000002
namespace tensor_rank {
void check(tensor<bf16, "(128,64,4):(64,1,8192)"_L, smem> const& s) {
#ifdef TW_FAIL
  expect_shape<128, 64>(s);
#else
  expect_shape<128, 64, 4>(s);
#endif
}
}  // namespace tensor_rank

// case tensor_shape
// A tile whose modes were exchanged; both sizes are named.
// expect-error: TW0144_size_of_a_mode_differs
// expect-error: 64000128
namespace tensor_shape {
void check(tensor<bf16, "(64,128):(128,1)"_L, smem> const& s) {
#ifdef TW_FAIL
  expect_shape<128, 64>(s);
#else
  expect_shape<64, 128>(s);
#endif
}
}  // namespace tensor_shape

// case tensor_strides
// A tensor in shared memory with strides that count coordinates.
// expect-error: TW0149_strides_do_not_fit_the_space_of_the_tensor
// expect-error: 2000000
namespace tensor_strides {
#ifdef TW_FAIL
using t = tensor<float, "(4,8):(1@0,1@1)"_L, smem>;
#else
using t = tensor<float, "(4,8):(8,1)"_L, smem>;
#endif
static_assert(sizeof(t) > 0);
}  // namespace tensor_strides

// case tensor_tmem_cell
// Tensor memory with elements of 16 bits.
// expect-error: TW0148_elements_of_tensor_memory_are_cells_of_32_bits
// expect-error: 16000032
namespace tensor_tmem_cell {
#ifdef TW_FAIL
using element = bf16;
#else
using element = packet<bf16, 2>;
#endif
using acc = decltype(make_tmem_tensor<element, "(128,64):(1@0,1@1)"_L>(tmem_address{}));
static_assert(size(acc::map) == 8192);
}  // namespace tensor_tmem_cell

// case tensor_tmem_reach
// More columns than tensor memory has.
// expect-error: TW0154_more_lanes_or_columns_than_tensor_memory_has
// expect-error: 1024000512
namespace tensor_tmem_reach {
#ifdef TW_FAIL
constexpr layout l = "(128,1024):(1@0,1@1)"_L;
#else
constexpr layout l = "(128,512):(1@0,1@1)"_L;
#endif
auto accumulators(tmem_address base) { return make_tmem_tensor<float, l>(base); }
}  // namespace tensor_tmem_reach

// case tensor_vec_align
// A vector access to a pointer of which no alignment is known.
// expect-error: TW0141_alignment_in_bytes_is_less_than_the_access_needs
// expect-error: 4000016
namespace tensor_vec_align {
#ifdef TW_FAIL
constexpr space in = gmem;
#else
constexpr space in = gmem.aligned(16);
#endif
using packets = decltype(vec<4>(tensor<float, "(4,8):(8,1)"_L, in>{}));
static_assert(size(packets::map) == 8);
}  // namespace tensor_vec_align

// case tensor_vec_bytes
// A vector of 32 bytes.
// expect-error: TW0142_bytes_of_one_access_are_not_1_2_4_8_or_16
// expect-error: 32000016
namespace tensor_vec_bytes {
using row = tensor<float, "(8):(1)"_L, rmem.aligned(32)>;
#ifdef TW_FAIL
using packets = decltype(vec<8>(row{}));
#else
using packets = decltype(vec<4>(row{}));
#endif
}  // namespace tensor_vec_bytes

// case tensor_vec_run
// A vector wider than the contiguous run of the layout.
// expect-error: TW0140_vec_is_wider_than_the_contiguous_run_of_the_layout
// expect-error: 4000008
namespace tensor_vec_run {
using pitched = tensor<bf16, "(4,8):(12,1)"_L, smem.aligned(16)>;
#ifdef TW_FAIL
using packets = decltype(vec<8>(pitched{}));
#else
using packets = decltype(vec<4>(pitched{}));
#endif
}  // namespace tensor_vec_run
