// SPDX-License-Identifier: Apache-2.0
// spelling.hpp  Other spellings: CuTe's as ours, and the nearest known name.
//
//     Layout<Shape<_4,_8>,Stride<_8,_1>>                  (4,8):(8,1)
//     Swizzle<3,4,3>, S<3,4,3>                            Sw<3,4,3>
//     Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)   Sw<3,3,3> o 0 o (8,64):(64,1): CuTe
//                                                         prints the swizzle in bytes there
//     GMMA::Layout_K_SW128_Atom<half_t>                   smem_atom(K,128,16)
//     make_layout(make_shape(_4{},8), LayoutRight{})      make_layout_right((4,8))
//     upcast<4>(L), size<1>(L)                            upcast(L,4), size(mode(L,1))
//     crd2idx((1,2), (4,8), (8,1)), slice((1,_), L)       crd2idx3(...), slice(L,(1,_))
//     using A = decltype(X);, auto a = X;                 X
//     make_tensor(make_smem_ptr(p), L)                    L
// Needs:    the elements of a shared-memory atom: SW128 alone is refused, with ours [TW0101]
// Example:  tests/layout/spelling_test.cpp
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tw::detail {

/// The value of a declaration, on one line, without comments and full-width characters.
std::string one_expression(std::string_view written);

/// The text with CuTe's spellings replaced; others stay as they are.
std::string in_our_spelling(std::string_view text);

/// For SM100_64x128x32_S32S8S8_SS and its like, which no library has: the names of that multiply.
/// Empty for other texts.
std::string tcgen05_like(std::string_view text);

/// The name of the list that differs least, if it differs little; empty if none does.
std::string_view nearest_name(std::string_view name, std::span<std::string_view const> names);

}  // namespace tw::detail
