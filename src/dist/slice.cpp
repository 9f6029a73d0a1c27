// SPDX-License-Identifier: Apache-2.0
// slice.cpp  Moves the operands to the first element of a part.
#include "dist/slice.hpp"

#include <fmt/format.h>

#include "tilewright/base/check.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw::dist {
namespace {

constexpr char const* extent_names[] = {"rows", "columns", "K"};

[[noreturn]] void refuse_part(extent along, range part, std::string const& need,
                              std::string const& hint) {
  throw rejected({"TW0904",
                  fmt::format("part of the {} of a GEMM", extent_names[static_cast<int>(along)]),
                  fmt::format("{} from {}", part.size, part.begin), need, hint});
}

std::int64_t offset_in(matrix_desc const& m, std::int64_t row, std::int64_t col) {
  bool const by_rows = m.ord == order::row_major;
  return by_rows ? row * m.pitch_elems + col : col * m.pitch_elems + row;
}

/// The index of the scale of element `first` along an extent with blocks of `block`.
std::int64_t whole_block(std::int64_t block, std::int64_t first, extent along, range part,
                         char const* scales) {
  if (block == 0) return 0;
  if (first % block != 0)
    refuse_part(along, part, fmt::format("a first index that is a multiple of {}", block),
                fmt::format("{} elements share one of {}", block, scales));
  return first / block;
}

/// The place of the first scale of a part: `outer` and `k` are its first indices.
std::int64_t first_scale(scale_desc const& s, std::int64_t outer, std::int64_t k, extent along,
                         range part, char const* scales) {
  std::int64_t const i = s.tiled ? whole_block(scale_tile_rows, outer, along, part, scales)
                                 : whole_block(s.block_outer, outer, along, part, scales);
  std::int64_t const j = whole_block(s.block_k, k, along, part, scales);
  std::int64_t const group = s.tiled ? scale_tile_blocks : s.packed_k;
  return i * s.stride_outer + whole_block(group, j, along, part, scales) * s.stride_k;
}

}  // namespace

void const* element_at(void const* base, elem type, std::int64_t index) {
  if (base == nullptr) return nullptr;
  return static_cast<std::byte const*>(base) + index * size_bits(type) / 8;
}

gemm_slice slice_of(gemm_problem const& p, gemm_operands const& o, extent along, range part) {
  gemm_slice s{p, o};
  std::int64_t const m = along == extent::m ? part.begin : 0;
  std::int64_t const n = along == extent::n ? part.begin : 0;
  std::int64_t const k = along == extent::k ? part.begin : 0;
  (along == extent::m ? s.problem.m : along == extent::n ? s.problem.n : s.problem.k) = part.size;
  if (part.empty()) return s;  // no operand is read
  if ((p.weights_a && along != extent::n) || (p.weights_b && along != extent::m))
    refuse_part(along, part, "an extent that prepared 4-bit weights do not have",
                "prepare the weights of each rank");
  bool const whole = part.begin == 0 && part.size == (along == extent::n ? p.n : part.size);
  if (along == extent::n && p.epilogue.gate == gating::split && !whole)
    refuse_part(along, part, "all columns, whose first half are gates",
                "interleave the columns of gates and ups");
  bool const gated = p.epilogue.gate != gating::none;
  if (gated && (part.begin % 2 != 0 || (along == extent::n && part.size % 2 != 0)) &&
      along == extent::n)
    refuse_part(along, part, "an even number of columns from an even one",
                "a gate and its up are two columns");
  std::int64_t const n_of_d = gated ? n / 2 : n;
  for (role const r : {role::a, role::b, role::c, role::d, role::aux}) {
    matrix_desc const* const x = matrix_of(p, r);
    if (x == nullptr) continue;
    std::int64_t const at = r == role::a   ? offset_in(*x, m, k)
                            : r == role::b ? offset_in(*x, k, n)
                                           : offset_in(*x, m, r == role::aux ? n : n_of_d);
    if (at * size_bits(x->type) % 8 != 0)
      refuse_part(along, part, "a first index that is even", "two elements lie in a byte");
    set_address(s.operands, r, element_at(address(o, r), x->type, at));
  }
  for (operand_row const& r : operand_rows) {
    if (r.vector == nullptr) continue;
    vector_desc const& v = p.epilogue.*r.vector;
    if (v && !v.one)
      set_address(s.operands, r.is, element_at(address(o, r.is), v.type, v == along::rows ? m : n));
  }
  for (role const x : a_and_b) {
    auto const& d = scale(p, x);
    if (!d) continue;
    role const f = scales_of(x);
    std::int64_t const at = first_scale(*d, x == role::a ? m : n, k, along, part, row_of(f).text);
    set_address(s.operands, f, element_at(address(o, f), d->type, at));
  }
  if (p.scale_d) {
    scale_desc const& d = p.scale_d->desc;
    std::int64_t const at = first_scale(d, m, n_of_d, along, part, row_of(role::scale_d).text);
    set_address(s.operands, role::scale_d, element_at(o.scale_d, d.type, at));
  }
  return s;
}

}  // namespace tw::dist
