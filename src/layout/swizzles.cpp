// SPDX-License-Identifier: Apache-2.0
// swizzles.cpp  Operation table: swizzles and swizzled layouts.
#include "layout/operations.hpp"

namespace tw::detail {
namespace {

constexpr operation of_swizzles[] = {
    {"swizzle", 1, 1,
     [](arguments const& a) {
       swizzle const s = a.as_swizzle(0);
       int const distance = s.shift < 0 ? -s.shift : s.shift;
       answer r = answer_of(s);
       r.function = swizzled(s, layout(i64{1} << (s.bits + s.base + distance), 1));
       return r;
     }},
    {"swizzle_layout", 1, 1, [](arguments const& a) { return answer_of(a.as_layout(0)); }},
    {"make_swizzle", 2, 2,
     [](arguments const& a) {
       return answer_of(make_swizzle_of_masks(a.as_integer(0), a.as_integer(1)));
     }},
    {"swizzle_compose", 2, 2,
     [](arguments const& a) { return answer_of(compose(a.as_swizzle(0), a.as_swizzle(1))); }},
    {"swizzle_right_inverse", 1, 1,
     [](arguments const& a) { return answer_of(right_inverse(a.as_layout(0))); }},
    {"swizzle_left_inverse", 1, 1,
     [](arguments const& a) { return answer_of(left_inverse(a.as_layout(0))); }},
    {"swizzle_max_alignment", 1, 1,
     [](arguments const& a) { return answer_of(max_alignment(a.as_layout(0))); }},
    {"swizzle_max_common_vector", 2, 2,
     [](arguments const& a) {
       return answer_of(max_common_vector(a.as_layout(0), a.as_layout(1)));
     }},
    {"swizzle_upcast", 2, 2,
     [](arguments const& a) { return answer_of(upcast(a.as_layout(0), a.as_integer(1))); }},
    {"swizzle_downcast", 2, 2,
     [](arguments const& a) { return answer_of(downcast(a.as_layout(0), a.as_integer(1))); }},
};

}  // namespace

std::span<operation const> swizzle_operations() { return of_swizzles; }

}  // namespace tw::detail
