// SPDX-License-Identifier: Apache-2.0
// algebra.cpp  Operation table: coalesce, composition, complement, divides, products.
#include "layout/operations.hpp"

namespace tw::detail {
namespace {

using divide = layout (*)(layout const&, tiler const&);

template <divide Apply>
answer cut(arguments const& a) {
  return answer_of(Apply(a.as_layout(0), a.as_tiler(1)));
}

using product = layout (*)(layout const&, layout const&);

template <product Apply>
answer two_layouts(arguments const& a) {
  return answer_of(Apply(a.as_layout(0), a.as_layout(1)));
}

/// A o B, written so.
answer composed(arguments const& a) {
  std::string_view const text = a.text(0);
  std::size_t o = text.find('o');  // "Sw<...> o offset o L" contains two of them
  for (int i = 0; i < 2 && text.starts_with("Sw") && o != std::string_view::npos; ++i) {
    o = text.find('o', o + 1);
  }
  if (o == std::string_view::npos) refuse_text(static_cast<i64>(text.size()), 1);
  std::string const left(text.substr(0, o));
  std::string const right(text.substr(o + 1));
  return answer_of(composition(parse_layout(left.data(), static_cast<int>(left.size())),
                               parse_layout(right.data(), static_cast<int>(right.size()))));
}

answer common_vector(arguments const& a) {
  return answer_of(max_common_vector(a.as_layout(0), a.as_layout(1)));
}

answer tiled_shape(arguments const& a) {
  layout const block = a.as_layout(0);
  tree const shape = a.as_tree(1);
  if (a.count() == 2 || a.text(2) == "LayoutLeft") return answer_of(tile_to_shape(block, shape));
  if (a.text(2) != "LayoutRight") return answer_of(tile_to_shape(block, shape, a.as_tree(2)));
  tree backwards;
  int const r = rank(block) > rank(shape) ? rank(block) : rank(shape);
  for (int i = 0; i < r; ++i) append(backwards, tree(-i));
  wrap(backwards);
  return answer_of(tile_to_shape(block, shape, backwards));
}

constexpr operation of_algebra[] = {
    {"coalesce", 1, 2,
     [](arguments const& a) {
       return answer_of(a.count() == 1 ? coalesce(a.as_layout(0))
                                       : coalesce(a.as_layout(0), a.as_tree(1)));
     }},
    {"coalesce_profile", 2, 2,
     [](arguments const& a) { return answer_of(coalesce(a.as_layout(0), a.as_tree(1))); }},
    {"filter", 1, 1, [](arguments const& a) { return answer_of(filter(a.as_layout(0))); }},
    {"filter_profile", 2, 2,
     [](arguments const& a) { return answer_of(filter(a.as_layout(0), a.as_tree(1))); }},
    {"filter_zeros", 1, 1,
     [](arguments const& a) { return answer_of(filter_zeros(a.as_layout(0))); }},
    {"composition", 2, 2, cut<composition>},
    {"composition_tiler", 2, 2, cut<composition>},
    {"composition_int", 2, 2,
     [](arguments const& a) { return answer_of(composition(a.as_layout(0), a.as_integer(1))); }},
    {"identity_composition", 2, 2, cut<composition>},
    {"composition_composed", 1, 1, composed},
    {"with_shape", 2, 2,
     [](arguments const& a) { return answer_of(with_shape(a.as_layout(0), a.as_tree(1))); }},
    {"complement", 1, 2,
     [](arguments const& a) {
       return answer_of(a.count() == 1 ? complement(a.as_layout(0))
                                       : complement(a.as_layout(0), a.as_tree(1)));
     }},
    {"complement1", 1, 1, [](arguments const& a) { return answer_of(complement(a.as_layout(0))); }},
    {"logical_divide", 2, 2, cut<logical_divide>},
    {"zipped_divide", 2, 2, cut<zipped_divide>},
    {"zipped_divide_ragged", 2, 2, cut<zipped_divide>},
    {"identity_zipped_divide", 2, 2, cut<zipped_divide>},
    {"tiled_divide", 2, 2, cut<tiled_divide>},
    {"flat_divide", 2, 2, cut<flat_divide>},
    {"swizzle_logical_divide", 2, 2, cut<logical_divide>},
    {"logical_product", 2, 2, cut<logical_product>},
    {"logical_product_tiler", 2, 2, cut<logical_product>},
    {"zipped_product", 2, 2, cut<zipped_product>},
    {"zipped_product_tiler", 2, 2, cut<zipped_product>},
    {"tiled_product", 2, 2, cut<tiled_product>},
    {"tiled_product_tiler", 2, 2, cut<tiled_product>},
    {"flat_product", 2, 2, cut<flat_product>},
    {"flat_product_tiler", 2, 2, cut<flat_product>},
    {"blocked_product", 2, 2, two_layouts<blocked_product>},
    {"raked_product", 2, 2, two_layouts<raked_product>},
    {"tile_to_shape", 2, 3, tiled_shape},
    {"swizzle_tile_to_shape", 2, 3, tiled_shape},
    {"right_inverse", 1, 1,
     [](arguments const& a) { return answer_of(right_inverse(a.as_layout(0))); }},
    {"left_inverse", 1, 1,
     [](arguments const& a) { return answer_of(left_inverse(a.as_layout(0))); }},
    {"nullspace", 1, 1, [](arguments const& a) { return answer_of(nullspace(a.as_layout(0))); }},
    {"max_common_layout", 2, 2, two_layouts<max_common_layout>},
    {"max_common_vector", 2, 2, common_vector},
    {"max_alignment", 1, 1,
     [](arguments const& a) { return answer_of(max_alignment(a.as_layout(0))); }},
    {"domain_distribute", 2, 2,
     [](arguments const& a) {
       return answer_of(domain_distribute(a.as_tree(0), a.as_integer(1)));
     }},
    {"upcast", 2, 2,
     [](arguments const& a) { return answer_of(upcast(a.as_layout(0), a.as_integer(1))); }},
    {"downcast", 2, 2,
     [](arguments const& a) { return answer_of(downcast(a.as_layout(0), a.as_integer(1))); }},
    {"recast_layout", 3, 3,
     [](arguments const& a) {
       return answer_of(recast(a.as_layout(0), a.as_integer(1), a.as_integer(2)));
     }},
};

}  // namespace

std::span<operation const> algebra_operations() { return of_algebra; }

}  // namespace tw::detail
