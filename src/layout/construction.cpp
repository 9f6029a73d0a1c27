// SPDX-License-Identifier: Apache-2.0
// construction.cpp  Operation table: making layouts, and their sizes, coordinates and indices.
#include "layout/operations.hpp"

namespace tw::detail {
namespace {

constexpr operation of_construction[] = {
    {"layout", 1, 1, [](arguments const& a) { return answer_of(a.as_layout(0)); }},
    {"make_layout", 1, 2,
     [](arguments const& a) {
       return answer_of(a.count() == 1 ? make_layout(a.as_tree(0))
                                       : make_layout(a.as_tree(0), a.as_tree(1)));
     }},
    {"make_layout_left", 1, 1,
     [](arguments const& a) { return answer_of(make_layout_left(a.as_tree(0))); }},
    {"make_layout_right", 1, 1,
     [](arguments const& a) { return answer_of(make_layout_right(a.as_tree(0))); }},
    {"make_ordered_layout", 2, 2,
     [](arguments const& a) { return answer_of(make_ordered_layout(a.as_tree(0), a.as_tree(1))); }},
    {"make_identity_layout", 1, 1,
     [](arguments const& a) { return answer_of(make_identity_layout(a.as_tree(0))); }},
    {"size", 1, 1, [](arguments const& a) { return answer_of(size(a.as_layout(0))); }},
    {"cosize", 1, 1, [](arguments const& a) { return answer_of(cosize(a.as_layout(0))); }},
    {"rank", 1, 1, [](arguments const& a) { return answer_of(i64{rank(a.as_layout(0))}); }},
    {"depth", 1, 1, [](arguments const& a) { return answer_of(i64{depth(a.as_layout(0))}); }},
    {"crd2idx", 2, 2,
     [](arguments const& a) { return answer_of(crd2idx(a.as_tree(0), a.as_tree(1))); }},
    {"crd2idx3", 3, 3,
     [](arguments const& a) {
       return answer_of(crd2idx(a.as_tree(0), a.as_tree(1), a.as_tree(2)));
     }},
    {"crd2idx_layout_int", 2, 2,
     [](arguments const& a) { return answer_of(a.as_layout(1)(a.as_integer(0))); }},
    {"idx2crd", 2, 2,
     [](arguments const& a) { return answer_of(idx2crd(a.as_integer(0), a.as_tree(1))); }},
    {"idx2crd3", 3, 3,
     [](arguments const& a) {
       return answer_of(idx2crd(a.as_integer(0), a.as_tree(1), a.as_tree(2)));
     }},
    {"coshape", 1, 1, [](arguments const& a) { return answer_of(coshape(a.as_layout(0))); }},
    {"crd2crd", 3, 3,
     [](arguments const& a) {
       return answer_of(crd2crd(a.as_tree(0), a.as_tree(1), a.as_tree(2)));
     }},
    {"make_layout_like", 1, 1,
     [](arguments const& a) { return answer_of(make_layout_like(a.as_layout(0))); }},
    {"make_fragment_like", 1, 1,
     [](arguments const& a) { return answer_of(make_fragment_like(a.as_layout(0))); }},
};

}  // namespace

std::span<operation const> construction_operations() { return of_construction; }

}  // namespace tw::detail
