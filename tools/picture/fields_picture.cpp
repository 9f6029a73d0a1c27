// SPDX-License-Identifier: Apache-2.0
// fields_picture.cpp  Bits in four rows, fields in a table.
#include "tools/picture/fields_picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/atom/call.hpp"

namespace tw {
namespace {

constexpr int row_bits = 16;

std::string range(bit_field const& f) {
  return f.bits == 1 ? std::to_string(f.first)
                     : fmt::format("{}-{}", f.first, f.first + f.bits - 1);
}

std::uint64_t value_of(bit_field const& f, std::uint64_t all) {
  return (all >> f.first) & ((std::uint64_t{1} << f.bits) - 1);
}

panel ruler(std::uint64_t value, std::vector<bit_field> const& fields) {
  panel p = make_panel("bits, the highest first", 64 / row_bits, row_bits);
  for (int bit = 0; bit < 64; ++bit) {
    cell& k = p.at(3 - bit / row_bits, row_bits - 1 - bit % row_bits);
    k.text = ((value >> bit) & 1U) != 0 ? "1" : "0";
    k.colour = pale;
    k.hint = fmt::format("bit {}: {}, of no field", bit, k.text);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      bit_field const& f = fields[i];
      if (bit < f.first || bit >= f.first + f.bits) continue;
      k.colour = static_cast<int>(i % colours);
      k.owners.push_back({static_cast<i64>(i), bit - f.first});
      k.hint = fmt::format("bit {}: {}, bit {} of {}", bit, k.text, bit - f.first, f.name);
    }
  }
  for (int c = 0; c < row_bits; ++c)
    p.column_labels.push_back(fmt::format("+{}", row_bits - 1 - c));
  for (int r = 0; r < 4; ++r) p.row_labels.push_back(std::to_string((3 - r) * row_bits));
  p.column_blocks = {4, 8};
  return p;
}

/// One cell per field, its columns made of spaces.
panel table(std::uint64_t value, std::vector<bit_field> const& fields) {
  panel p = make_panel("fields", static_cast<i64>(fields.size()), 1);
  std::size_t name = 5, meaning = 7;
  for (bit_field const& f : fields) {
    name = std::max(name, f.name.size());
    meaning = std::max(meaning, f.meaning.size());
  }
  auto const line = [&](std::string_view a, std::string_view b, std::string_view c,
                        std::string_view d) {
    return fmt::format("{:<{}}  {:<5}  {:>5}  {:<{}}", a, name, b, c, d, meaning);
  };
  p.column_labels = {line("field", "bits", "value", "meaning")};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    bit_field const& f = fields[i];
    std::string const number = std::to_string(value_of(f, value));
    cell& k = p.cells[i];
    k.text = line(f.name, range(f), number, f.meaning);
    k.hint = fmt::format("{}, bits {}: {}, {}", f.name, range(f), number, f.meaning);
    k.colour = static_cast<int>(i % colours);
    k.owners.push_back({static_cast<i64>(i), 0});
    p.row_labels.push_back(std::to_string(i));
  }
  return p;
}

std::string units(int v) { return fmt::format("{} x 16 = {} bytes", v, v * 16); }

}  // namespace

picture fields_picture(std::string title, std::uint64_t value,
                       std::vector<bit_field> const& fields) {
  picture p;
  p.title = std::move(title);
  p.owner_name = "field";
  p.captions.push_back(fmt::format("0x{:016x}", value));
  p.panels = {ruler(value, fields), table(value, fields)};
  p.panels[1].place_row = 1;
  return p;
}

picture descriptor_picture(descriptor_kind kind, layout const& tile, operand_major major, i64 bits,
                           i64 step) {
  operand_places const at = places_of_operand(operand_step(tile, bits, step), major, bits);
  char const* const swizzle = at.mode == smem_swizzle::none   ? "no swizzle"
                              : at.mode == smem_swizzle::b32  ? "32-byte swizzle"
                              : at.mode == smem_swizzle::b64  ? "64-byte swizzle"
                              : at.mode == smem_swizzle::b128 ? "128-byte swizzle"
                                                              : "128-byte swizzle, chunks of 32";
  std::string const title =
      fmt::format("{} descriptor of step {} of {}",
                  kind == descriptor_kind::wgmma ? "wgmma" : "tcgen05", step, to_string(tile));
  if (kind == descriptor_kind::wgmma) {
    wgmma_descriptor const d = make_wgmma_descriptor(at);
    return fields_picture(title, d.at(0).bits,
                          {{"start address", 0, 14, units(d.start_16b)},
                           {"leading byte offset", 16, 14, units(d.leading_16b)},
                           {"stride byte offset", 32, 14, units(d.stride_16b)},
                           {"base offset", 49, 3, "the tile begins at a whole pattern"},
                           {"swizzle", 62, 2, swizzle}});
  }
  tcgen05_descriptor const d = make_tcgen05_descriptor(at);
  return fields_picture(title, d.at(0),
                        {{"start address", 0, 14, units(d.start_16b)},
                         {"leading byte offset", 16, 14, units(d.leading_16b)},
                         {"stride byte offset", 32, 14, units(d.stride_16b)},
                         {"version", 46, 3, "1: tcgen05"},
                         {"base offset", 49, 3, "the tile begins at a whole pattern"},
                         {"leading mode", 52, 1, "an offset, no address"},
                         {"swizzle", 61, 3, swizzle}});
}

}  // namespace tw
