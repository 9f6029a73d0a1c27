// SPDX-License-Identifier: Apache-2.0
// layout.cpp  Refusals of the layout algebra.
#include "tilewright/layout/layout.hpp"
#include "tilewright/layout/offset.hpp"

using namespace tw;

// case argument_division
// A run-time stride that is not known to be even.
// expect-error: TW0132_run_time_value_is_not_known_to_be_divisible
// expect-error: 1000002
namespace argument_division {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = upcast("(4,2):($0,1)"_L, 2);
#else
[[maybe_unused]] constexpr layout result = upcast("(4,2):(2$0,1)"_L, 2);
#endif
}  // namespace argument_division

// case argument_extent
// A tile that crosses a run-time extent.
// expect-error: TW0131_run_time_extent_is_cut_or_crossed
// expect-error: 4000000
// max lines(nvcc): 16
namespace argument_extent {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = composition("($0,4):(1,$1)"_L, "4:1"_L);
#else
[[maybe_unused]] constexpr layout result = composition("(4,$0):(1,$1)"_L, "4:1"_L);
#endif
}  // namespace argument_extent

// case argument_index
// Run-time argument 16, where there are 0 to 15.
// expect-error: TW0134_run_time_argument_out_of_range
// expect-error: 16000015
namespace argument_index {
#ifdef TW_FAIL
[[maybe_unused]] constexpr num result = arg(16);
#else
[[maybe_unused]] constexpr num result = arg(15);
#endif
}  // namespace argument_index

// case argument_number
// The size of a layout whose extent is known at run time only.
// expect-error: TW0129_run_time_argument_where_the_algebra_needs_a_number
// expect-error: 1
// max lines(nvcc): 16
namespace argument_number {
#ifdef TW_FAIL
[[maybe_unused]] constexpr i64 result = size("(4,$0):(8,1)"_L);
#else
[[maybe_unused]] constexpr i64 result = size("(4,8):(8,1)"_L);
#endif
}  // namespace argument_number

// case argument_order
// The order of two run-time strides.
// expect-error: TW0133_order_of_run_time_strides_is_not_known
// expect-error: 1
// max lines(nvcc): 13
namespace argument_order {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = make_layout_like("(4,2):($0,$1)"_L);
#else
[[maybe_unused]] constexpr layout result = make_layout_like("(4,2):(8,1)"_L);
#endif
}  // namespace argument_order

// case argument_product
// Compact strides of two run-time extents, which are a product of the two.
// expect-error: TW0130_product_of_two_run_time_arguments
// expect-error: 1
// max lines(nvcc): 13
namespace argument_product {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = make_layout_left("(4,$0,$1,2):(1,4,0,0)"_L.shape);
#else
[[maybe_unused]] constexpr layout result = make_layout_left("(4,$0):(1,4)"_L.shape);
#endif
}  // namespace argument_product

// case basis_path
// A basis stride at position 15, beyond what a path can say.
// expect-error: TW0117_basis_strides_do_not_form_one_coordinate
// expect-error: 15000014
namespace basis_path {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result =
    make_identity_layout("(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"_L.shape);
#else
[[maybe_unused]] constexpr layout result =
    make_identity_layout("(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"_L.shape);
#endif
}  // namespace basis_path

// case complement_overlap
// The complement of a layout whose strides are not nested.
// expect-error: TW0108_complement_stride_is_not_a_multiple_of_what_is_covered
// expect-error: 2000004
// max lines(nvcc): 16
namespace complement_overlap {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = complement("(4,3):(1,2)"_L, 24);
#else
[[maybe_unused]] constexpr layout result = complement("(2,3):(1,2)"_L, 24);
#endif
}  // namespace complement_overlap

// case complement_stride
// The complement of a layout that runs backwards.
// expect-error: TW0109_stride_must_be_a_positive_integer_here
// expect-error: -1000000
// max lines(nvcc): 19
namespace complement_stride {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = complement("4:-1"_L, 24);
#else
[[maybe_unused]] constexpr layout result = complement("4:1"_L, 24);
#endif
}  // namespace complement_stride

// case complement_swizzled
// The complement of a swizzled layout.
// expect-error: TW0116_operation_is_not_defined_for_a_swizzled_layout
// expect-error: 3000000
// max lines(nvcc): 16
namespace complement_swizzled {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = complement("Sw<3,0,3> o 0 o (8,8):(8,1)"_L, 128);
#else
[[maybe_unused]] constexpr layout result = complement("(8,8):(8,1)"_L, 128);
#endif
}  // namespace complement_swizzled

// case composition_carry
// Two modes of B that together leave an extent of A.
// expect-error: TW0106_composition_modes_of_B_together_leave_an_extent_of_A
// expect-error: 4000004
// max lines(nvcc): 13
namespace composition_carry {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = composition("(4,8):(8,1)"_L, "(2,2):(1,3)"_L);
#else
[[maybe_unused]] constexpr layout result = composition("(4,8):(8,1)"_L, "(2,2):(1,2)"_L);
#endif
}  // namespace composition_carry

// case composition_extent
// A tile of 6 in extents of 4: the tile would be cut.
// expect-error: TW0105_composition_extent_of_B_is_not_divisible_by_extent_of_A
// expect-error: 6000004
// max lines(nvcc): 13
namespace composition_extent {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = composition("(4,8):(8,1)"_L, "6:1"_L);
#else
[[maybe_unused]] constexpr layout result = composition("(4,8):(8,1)"_L, "8:1"_L);
#endif
}  // namespace composition_extent

// case composition_large
// Numbers too large for got * 1000000 + need in 32 bits.
// expect-error: TW0104_composition_stride_of_B_and_extent_of_A_do_not_divide
// expect-error: 1638424576
// max lines(nvcc): 13
namespace composition_large {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = composition("(24576,4):(1,32768)"_L, "4:16384"_L);
#else
[[maybe_unused]] constexpr layout result = composition("(24576,4):(1,32768)"_L, "3:8192"_L);
#endif
}  // namespace composition_large

// case composition_sign
// Strides of two signs in one composition.
// expect-error: TW0107_composition_strides_of_B_have_two_signs_or_modes
// expect-error: -2000000
namespace composition_sign {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = composition("(4,8):(8,1)"_L, "(2,2):(1,-2)"_L);
#else
[[maybe_unused]] constexpr layout result = composition("(4,8):(8,1)"_L, "(2,2):(1,2)"_L);
#endif
}  // namespace composition_sign

// case composition_stride
// A composition whose stride and extent do not divide; both are named.
// expect-error: TW0104_composition_stride_of_B_and_extent_of_A_do_not_divide
// expect-error: 4000006
// max lines(nvcc): 13
namespace composition_stride {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout l = composition("(6,4):(1,8)"_L, "(3):(4)"_L);
#else
constexpr layout l = composition("(6,4):(1,8)"_L, "(3):(2)"_L);
static_assert(size(l) == 3);
#endif
}  // namespace composition_stride

// case divide_tiler
// Three tilers for a layout of two modes.
// expect-error: TW0111_tiler_has_more_modes_than_the_layout
// expect-error: 3000002
// max lines(nvcc): 13
namespace divide_tiler {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = zipped_divide("(4,8):(8,1)"_L, tile(2, 2, 2));
#else
[[maybe_unused]] constexpr layout result = zipped_divide("(4,8):(8,1)"_L, tile(2, 2));
#endif
}  // namespace divide_tiler

// case downcast_unit
// Halves of elements that are nowhere adjacent.
// expect-error: TW0127_downcast_needs_one_leaf_of_stride_1
// expect-error: 1
namespace downcast_unit {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = downcast("(4,2):(4,2)"_L, 2);
#else
[[maybe_unused]] constexpr layout result = downcast("(4,2):(2,1)"_L, 2);
#endif
}  // namespace downcast_unit

// case layout_extent
// An extent of 0.
// expect-error: TW0114_extent_is_not_positive
// expect-error: 1
// max lines(nvcc): 16
namespace layout_extent {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = make_layout_left(make_tree(4, 0));
#else
[[maybe_unused]] constexpr layout result = make_layout_left(make_tree(4, 1));
#endif
}  // namespace layout_extent

// case layout_leaves
// A layout of 17 leaves, one more than fits.
// expect-error: TW0102_more_leaves_than_a_layout_can_hold
// expect-error: 17000016
// max lines(nvcc): 19
namespace layout_leaves {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result =
    append_mode("(2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2)"_L, "2:1"_L);
#else
[[maybe_unused]] constexpr layout result =
    append_mode("(2,2,2,2,2,2,2,2,2,2,2,2,2,2,2)"_L, "2:1"_L);
#endif
}  // namespace layout_leaves

// case layout_mode
// Mode 2 of a layout that has modes 0 and 1.
// expect-error: TW0112_there_is_no_such_mode
// expect-error: 2000002
// max lines(nvcc): 13
namespace layout_mode {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = mode("(4,8):(8,1)"_L, 2);
#else
[[maybe_unused]] constexpr layout result = mode("(4,8):(8,1)"_L, 1);
#endif
}  // namespace layout_mode

// case layout_overflow
// A layout larger than 64-bit offsets.
// expect-error: TW0113_number_leaves_64_bits
// max lines(nvcc): 22
namespace layout_overflow {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result =
    make_layout_left(make_tree(i64{1} << 40, i64{1} << 40, 2));
#else
[[maybe_unused]] constexpr layout result =
    make_layout_left(make_tree(i64{1} << 20, i64{1} << 20, 2));
#endif
}  // namespace layout_overflow

// case layout_profile
// Shape and stride with different parentheses.
// expect-error: TW0110_profiles_do_not_match
// expect-error: 3000002
namespace layout_profile {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = make_layout(make_tree(4, 8), make_tree(8, 1, 0));
#else
[[maybe_unused]] constexpr layout result = make_layout(make_tree(4, 8), make_tree(8, 1));
#endif
}  // namespace layout_profile

// case layout_text
// A layout whose text has a hole.
// expect-error: TW0101_text_is_not_a_layout_at_position
// max lines(g++): 11
// max lines(nvcc): 22
namespace layout_text {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout l = "(4,8:(8,1)"_L;
#else
constexpr layout l = "(4,8):(8,1)"_L;
static_assert(l(1, 2) == 10);
#endif
}  // namespace layout_text

// case left_inverse_overlap
// The left inverse of a layout that has an offset twice.
// expect-error: TW0125_left_inverse_strides_are_not_nested
// expect-error: 2000004
// max lines(nvcc): 13
namespace left_inverse_overlap {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = left_inverse("(4,2,2):(1,2,8)"_L);
#else
[[maybe_unused]] constexpr layout result = left_inverse("(4,2):(1,4)"_L);
#endif
}  // namespace left_inverse_overlap

// case offset_basis
// A kernel address through a layout of coordinates, which has no offset.
// expect-error: [TW0109]
// max lines(g++): 21
// max lines(nvcc): 16
namespace offset_basis {
#ifdef TW_FAIL
[[maybe_unused]] constexpr auto at = offset<"(8,4):(1@0,1@1)"_L>(1, 2);
#else
constexpr auto at = offset<"(8,4):(1,8)"_L>(1, 2);
static_assert(at == 17);
#endif
}  // namespace offset_basis

// case offset_coordinates
// A kernel address with a coordinate too few.
// expect-error: [TW0110]
// max lines(g++): 15
// max lines(nvcc): 11
namespace offset_coordinates {
constexpr layout box = "(8,8,2):(8,1,64)"_L;
#ifdef TW_FAIL
[[maybe_unused]] constexpr auto at = offset<box>(1, 2);
#else
constexpr auto at = offset<box>(1, 2, 1);
static_assert(at == 74);
#endif
}  // namespace offset_coordinates

// case shape_div_extent
// A shape divided by a number that neither divides nor is divided.
// expect-error: TW0124_shape_div_extent_and_divisor_do_not_divide
// expect-error: 6000004
namespace shape_div_extent {
#ifdef TW_FAIL
[[maybe_unused]] constexpr tree result = shape_div(make_tree(6, 4), 4);
#else
[[maybe_unused]] constexpr tree result = shape_div(make_tree(6, 4), 12);
#endif
}  // namespace shape_div_extent

// case swizzle_fields
// A swizzle whose bits overlap: 3 bits, 2 apart.
// expect-error: TW0115_swizzle_fields_overlap_or_are_out_of_range
// expect-error: 2000003
namespace swizzle_fields {
#ifdef TW_FAIL
[[maybe_unused]] constexpr swizzle result = make_swizzle(3, 4, 2);
#else
[[maybe_unused]] constexpr swizzle result = make_swizzle(3, 4, 3);
#endif
}  // namespace swizzle_fields

// case tile_to_shape_extent
// A shape that blocks of 8 rows do not fill.
// expect-error: TW0118_shape_is_not_filled_by_whole_blocks
// expect-error: 100000008
// max lines(nvcc): 13
namespace tile_to_shape_extent {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = tile_to_shape("(8,64):(64,1)"_L, make_shape(100, 64));
#else
[[maybe_unused]] constexpr layout result = tile_to_shape("(8,64):(64,1)"_L, make_shape(128, 64));
#endif
}  // namespace tile_to_shape_extent

// case tree_nesting
// An empty tuple inside a tuple.
// expect-error: TW0103_nested_too_deep_or_empty_inside
// expect-error: 1
// max lines(nvcc): 16
namespace tree_nesting {
#ifdef TW_FAIL
[[maybe_unused]] constexpr tree result = make_tree(tree(), 2);
#else
[[maybe_unused]] constexpr tree result = make_tree(tree(3), 2);
#endif
}  // namespace tree_nesting

// case upcast_carry
// Two modes that together leave a wide element.
// expect-error: TW0128_upcast_modes_together_leave_a_wide_element
// expect-error: 4000004
namespace upcast_carry {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = upcast("(2,2):(2,2)"_L, 4);
#else
[[maybe_unused]] constexpr layout result = upcast("(2,2):(1,2)"_L, 4);
#endif
}  // namespace upcast_carry

// case upcast_stride
// Pairs of elements that lie 3 apart.
// expect-error: TW0126_upcast_stride_and_count_do_not_divide
// expect-error: 3000002
namespace upcast_stride {
#ifdef TW_FAIL
[[maybe_unused]] constexpr layout result = upcast("(4,2):(3,1)"_L, 2);
#else
[[maybe_unused]] constexpr layout result = upcast("(4,2):(4,1)"_L, 2);
#endif
}  // namespace upcast_stride
