// SPDX-License-Identifier: Apache-2.0
// copy_operations.cpp  Operation table of expressions: copies, shared-memory atoms, descriptors and
// TMA parameters by name and text.
#include <fmt/format.h>

#include <string>

#include "atom/operations.hpp"
#include "tilewright/atom/copy_names.hpp"
#include "tilewright/atom/descriptor.hpp"
#include "tilewright/atom/smem_choice.hpp"
#include "tilewright/atom/tma_params.hpp"
#include "tilewright/base/check.hpp"

namespace tw::detail {
namespace {

answer text_of(std::string text) { return {.res = std::move(text), .function = {}, .origin = {}}; }

[[noreturn]] void refuse_word(char const* what, std::string_view got, char const* need) {
  throw rejected({"TW0233", what, fmt::format("'{}'", got), need, ""});
}

operand_major major_of(std::string_view text) {
  if (text == "K" || text == "k") return operand_major::k;
  if (text == "MN" || text == "mn") return operand_major::mn;
  refuse_word("major", text, "K or MN");
}

/// 0, 32, 64, 128 bytes; 12832: 128 bytes in chunks of 32.
smem_swizzle swizzle_named(i64 bytes) {
  for (smem_swizzle const s :
       {smem_swizzle::b32, smem_swizzle::b64, smem_swizzle::b128, smem_swizzle::none}) {
    if (bytes == (s == smem_swizzle::none ? 0 : span_bytes(s))) return s;
  }
  if (bytes == 12832) return smem_swizzle::b128_base32;
  refuse_word("swizzle", std::to_string(bytes), "0, 32, 64, 128 or 12832 (chunks of 32 bytes)");
}

/// The arguments again, as one call.
std::string joined(char const* name, arguments const& a) {
  std::string text = std::string(name) + '(';
  for (int i = 0; i < a.count(); ++i) text += (i == 0 ? "" : ",") + std::string(a.text(i));
  return text + ')';
}

/// A tiled copy that can be made, as text.
answer checked(char const* name, arguments const& a) {
  std::string const text = joined(name, a);
  tiled_copy const c = parse_tiled_copy(text);
  answer r = text_of(text);
  r.shown = fmt::format(
      "{}\n  tile            {}\n  source          {}\n  destination     {}\n"
      "  {} threads, {} values each; layouts are (thread, value) -> place in the tile",
      text, to_string(c.tile), to_string(layout_s(c)), to_string(layout_d(c)), c.threads(),
      c.values());
  return r;
}

answer named(arguments const& a) {
  parse_copy_atom(joined("copy_atom", a));
  return text_of(fmt::format("copy_atom({},{})", canonical_copy_name(a.text(0)), a.text(1)));
}

using part_function = sliced (*)(tiled_copy const&, layout const&, i64);
using coordinates_of = sliced_coordinates (*)(tiled_copy const&, layout const&, i64);

template <part_function Part, coordinates_of Coordinates>
answer part(arguments const& a) {
  tiled_copy const c = parse_tiled_copy(a.text(0));
  layout const tensor = a.as_layout(2);
  tree extents;
  for (int i = 0; i < rank(c.tile); ++i) append(extents, tree(size(mode(c.tile, i).cells)));
  wrap(extents);
  answer const cells = has_basis(tensor) ? answer_of(Coordinates(c, tensor, a.as_integer(1)))
                                         : answer_of(Part(c, tensor, a.as_integer(1)));
  return with_cells_outside(cells, tensor, extents);
}

answer atom(arguments const& a) {
  return answer_of(smem_atom(major_of(a.text(0)), swizzle_named(a.as_integer(1)), a.as_integer(2)));
}

/// (major, bits, tile[, piece])
answer widest(arguments const& a) {
  return answer_of(widest_smem_atom(major_of(a.text(0)), a.as_integer(1), a.as_tree(2),
                                    a.as_tree(a.count() == 4 ? 3 : 2))
                       .atom);
}

/// (tile, major, bits, step)
operand_places places(arguments const& a) {
  i64 const bits = a.as_integer(2);
  return places_of_operand(operand_step(a.as_layout(0), bits, a.as_integer(3)), major_of(a.text(1)),
                           bits);
}

answer of_wgmma(arguments const& a) {
  wgmma_descriptor const d = make_wgmma_descriptor(places(a));
  return text_of(fmt::format(
      "start {} leading {} stride {} base_offset {} layout_type {} (offsets in 16 bytes)",
      d.start_16b, d.leading_16b, d.stride_16b, d.base_offset, d.layout_type));
}

answer of_tcgen05(arguments const& a) {
  tcgen05_descriptor const d = make_tcgen05_descriptor(places(a));
  return text_of(
      fmt::format("start {} leading {} stride {} version {} base_offset {} leading_mode {} "
                  "layout_type {} (offsets in 16 bytes)",
                  d.start_16b, d.leading_16b, d.stride_16b, d.version, d.base_offset,
                  d.leading_mode, d.layout_type));
}

/// (gmem, smem, tiler, bits)
answer tma(arguments const& a) {
  tma_params const p =
      make_tma_params(a.as_layout(0), a.as_layout(1), a.as_tiler(2), a.as_integer(3));
  std::string dims, strides, box;
  for (int i = 0; i < p.dims; ++i) {
    dims += fmt::format("{}{}", i > 0 ? "," : "", p.global_dim[i]);
    strides += fmt::format("{}{}", i > 0 ? "," : "", p.stride_bytes[i]);
    box += fmt::format("{}{}", i > 0 ? "," : "", p.box[i]);
  }
  return text_of(fmt::format("basis {} dim ({}) stride_bytes ({}) box ({}) swizzle {}",
                             to_string(p.basis), dims, strides, box, name(p.swizzle)));
}

constexpr operation table[] = {
    {"copy_atom", 2, 2, named},
    {"copy_partition_d", 3, 3, part<partition_d, partition_d_coordinates>},
    {"copy_partition_s", 3, 3, part<partition_s, partition_s_coordinates>},
    {"cotiled_copy", 3, 3, [](arguments const& a) { return checked("cotiled_copy", a); }},
    {"smem_atom", 3, 3, atom},
    {"tcgen05_descriptor", 4, 4, of_tcgen05},
    {"tiled_copy", 3, 3, [](arguments const& a) { return checked("tiled_copy", a); }},
    {"tiled_copy_A", 2, 2, [](arguments const& a) { return checked("tiled_copy_A", a); }},
    {"tiled_copy_B", 2, 2, [](arguments const& a) { return checked("tiled_copy_B", a); }},
    {"tiled_copy_C", 2, 2, [](arguments const& a) { return checked("tiled_copy_C", a); }},
    {"tiled_copy_C_atom", 2, 2, [](arguments const& a) { return checked("tiled_copy_C_atom", a); }},
    {"tma_params", 4, 4, tma},
    {"wgmma_descriptor", 4, 4, of_wgmma},
    {"widest_smem_atom", 3, 4, widest},
};

}  // namespace

std::span<operation const> copy_operations() { return table; }

}  // namespace tw::detail
