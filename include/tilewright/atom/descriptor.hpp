// SPDX-License-Identifier: Apache-2.0
// descriptor.hpp  Matrix descriptors derived from the layout of an operand in shared memory.
//
// One step of a tensor core reads (extent along M or N) x (32 bytes along K). Its layout must be
// canonical. Counted in units of 16 bytes, W = units in a span of the swizzle (none 1, 32 B 2,
// 64 B 4, 128 B 8), unit u of row r lies at
//
//     K-major    (r % 8) W + (r / 8) SBO + u                   u = 0, 1; rows are along M or N
//     without swizzle   (r % 8)   + (r / 8) SBO + u LBO
//     MN-major   (u % W) + (u / W) LBO + (r % 8) W + (r / 8) SBO        rows are along K
//     without swizzle   u SBO + (r % 8) + (r / 8) LBO
//     chunks of 32 B    (u % 8) + (u / 8) LBO + (r % 4) 8 + (r / 4) SBO
//
// and the swizzle is applied to the address. An offset that nothing uses is 0, or 16 bytes for LBO
// of a swizzled K-major operand.
// Source: PTX ISA, "Matrix Descriptor Format", "Canonical Layouts" (wgmma); "Shared Memory
// Descriptor", "Canonical Layouts" (tcgen05).
// Needs:    a swizzle of shared memory [TW0237]; 16 contiguous bytes along the major mode [TW0238,
//           TW0239]; the places above [TW0240]; whole atoms and one step [TW0241]; a start in the
//           first row of the pattern [TW0242]; offsets below 2^18 bytes [TW0243]
// Law:      a descriptor and the formula above give each element's address
// Example:  tests/atom/descriptor_test.cpp
#pragma once

#include "tilewright/atom/copy_rules.hpp"  // first: compilers show this path in every refusal

#include <initializer_list>

#include "tilewright/atom/smem_atom.hpp"

namespace tw {

/// Where one step of an operand lies, in bytes: what every descriptor is made of.
struct operand_places {
  smem_swizzle mode = smem_swizzle::none;
  i64 start_bytes = 0;  // from the beginning of the tile, which lies at a whole pattern
  i64 leading_bytes = 0, stride_bytes = 0;
};

namespace detail {

/// The extents of one step along k in elements: 32 bytes.
TW_HD constexpr i64 step_elems(i64 bits) { return 256 / bits; }

/// A mode of the operand in units of 16 bytes: along the contiguous mode, units; else rows.
TW_HD constexpr layout units_of(layout const& l, i64 bits, bool contiguous) {
  i64 const unit = 128 / bits;
  layout const m = coalesce(linear_part(l));
  if (contiguous) {
    if (m.stride[0] != num{1}) refuse_operand_contiguous(m.stride[0].v, 1);
    if (m.extent(0) % unit != 0) refuse_operand_extent(m.extent(0), unit);
  }
  for (int i = contiguous ? 1 : 0; i < m.shape.n; ++i) {
    if (m.stride[i].unit != unit_none) refuse_stride(m.stride[i].v, 1);
    if (m.stride[i].v % unit != 0) refuse_operand_units(m.stride[i].v * bits, 128);
  }
  return upcast(m, unit);
}

/// index i lies at (i % inner) * step + (i / inner) * outer for one `outer`, which is returned.
TW_HD constexpr i64 two_level(layout const& m, i64 inner, i64 step) {
  i64 const n = size(m);
  i64 const outer = n > inner ? m(inner) : 0;
  for (i64 i = 0; i < n; ++i) {
    i64 const need = i % inner * step + i / inner * outer;
    if (m(i) != need) refuse_operand_rows(m(i), need);
  }
  return outer;
}

TW_HD constexpr void check_start(i64 start_bits, smem_swizzle mode) {
  if (start_bits % 128 != 0) refuse_operand_units(start_bits, 128);
  i64 const start = start_bits / 8;
  i64 const reads = byte_swizzle(mode).y_mask();
  if ((start & reads) != 0) refuse_operand_start(start, i64{rows_of(mode)} * span_bytes(mode));
}

}  // namespace detail

/// The places of one step: layout (M or N, K), K of 32 bytes; `offset` elements from the beginning
/// of the tile (what local_tile returns beside the layout).
TW_HD constexpr operand_places places_of_operand(layout const& l, i64 offset, operand_major major,
                                                 i64 bits) {
  operand_places p;
  p.mode = smem_swizzle_of(l, bits);
  if (rank(l) != 2) refuse_profile(rank(l), 2);
  bool const k_major = major == operand_major::k;
  if (size(mode(l, 1)) != detail::step_elems(bits)) {
    refuse_operand_extent(size(mode(l, 1)), detail::step_elems(bits));
  }
  layout const units = detail::units_of(mode(l, k_major ? 1 : 0), bits, true);
  layout const rows = detail::units_of(mode(l, k_major ? 0 : 1), bits, false);
  bool const plain_rows = p.mode == smem_swizzle::none;
  i64 const width = span_bytes(p.mode) / 16;
  i64 const group = rows_of(p.mode);
  if (size(rows) % (k_major ? 8 : group) != 0) refuse_operand_extent(size(rows), group);
  if (k_major && p.mode == smem_swizzle::b128_base32) refuse_operand_swizzle(252, 343);
  if (!k_major && size(units) % width != 0) {
    refuse_operand_extent(size(units) * (128 / bits), width * (128 / bits));
  }
  i64 const next_group = detail::two_level(rows, group, width);
  i64 leading = 0;
  i64 stride = next_group;
  if (k_major) {
    leading = plain_rows ? detail::two_level(units, 1, 0) : 1;
    if (!plain_rows) detail::two_level(units, size(units), 1);
  } else {
    leading = detail::two_level(units, width, 1);
    if (plain_rows) {  // the two offsets change places
      stride = leading;
      leading = next_group;
    }
  }
  detail::check_start((offset + l.offset) * bits, p.mode);
  p.start_bytes = (offset + l.offset) * bits / 8;
  p.leading_bytes = leading * 16;
  p.stride_bytes = stride * 16;
  for (i64 const bytes : {p.start_bytes, p.leading_bytes, p.stride_bytes}) {
    if (bytes < 0 || bytes >= i64{1} << 18) refuse_descriptor_field(bytes, i64{1} << 18);
  }
  return p;
}
TW_HD constexpr operand_places places_of_operand(sliced const& s, operand_major major, i64 bits) {
  return places_of_operand(s.kept, s.offset, major, bits);
}

/// Fields of wgmma's descriptor (PTX ISA, wgmma, "Matrix Descriptor Format"), offsets in units of
/// 16 bytes. base_offset is 0: tiles begin at whole patterns.
struct wgmma_descriptor {
  int start_16b = 0;    // bits 0-13, relative to the tile
  int leading_16b = 0;  // bits 16-29
  int stride_16b = 0;   // bits 32-45
  int base_offset = 0;  // bits 49-51
  int layout_type = 0;  // bits 62-63: 0 none, 1 128 B, 2 64 B, 3 32 B

  /// With the tile at a shared-memory address.
  TW_HD constexpr smem_desc at(std::uint32_t tile_address) const {
    smem_desc d = make_smem_desc(tile_address + static_cast<std::uint32_t>(start_16b) * 16U,
                                 static_cast<std::uint32_t>(leading_16b) * 16U,
                                 static_cast<std::uint32_t>(stride_16b) * 16U,
                                 static_cast<swizzle_mode>(layout_type));
    d.bits |= static_cast<std::uint64_t>(base_offset) << 49U;
    return d;
  }
  bool operator==(wgmma_descriptor const&) const = default;
};

TW_HD constexpr wgmma_descriptor make_wgmma_descriptor(operand_places const& p) {
  if (p.mode == smem_swizzle::b128_base32) refuse_operand_swizzle(252, 343);
  wgmma_descriptor d;
  d.start_16b = static_cast<int>(p.start_bytes / 16);
  d.leading_16b = static_cast<int>(p.leading_bytes / 16);
  d.stride_16b = static_cast<int>(p.stride_bytes / 16);
  d.layout_type = static_cast<int>(mode_of(p.mode));
  return d;
}

/// Fields of tcgen05's descriptor (PTX ISA, tcgen05, "Shared Memory Descriptor").
struct tcgen05_descriptor {
  int start_16b = 0;     // bits 0-13, relative to the tile
  int leading_16b = 0;   // bits 16-29
  int stride_16b = 0;    // bits 32-45
  int version = 1;       // bits 46-48: 0b001
  int base_offset = 0;   // bits 49-51
  int leading_mode = 0;  // bit 52: 0, leading is an offset and no absolute address
  int layout_type = 0;   // bits 61-63: 0 none, 1 128 B in chunks of 32, 2 128 B, 4 64 B, 6 32 B

  /// With the tile at a shared-memory address.
  TW_HD constexpr std::uint64_t at(std::uint32_t tile_address) const {
    auto const field = [](std::uint64_t v, int low) { return v << low; };
    std::uint64_t const start =
        ((tile_address & 0x3FFFFU) >> 4U) + static_cast<std::uint64_t>(start_16b);
    return field(start & 0x3FFFU, 0) | field(static_cast<std::uint64_t>(leading_16b), 16) |
           field(static_cast<std::uint64_t>(stride_16b), 32) |
           field(static_cast<std::uint64_t>(version), 46) |
           field(static_cast<std::uint64_t>(base_offset), 49) |
           field(static_cast<std::uint64_t>(leading_mode), 52) |
           field(static_cast<std::uint64_t>(layout_type), 61);
  }
  bool operator==(tcgen05_descriptor const&) const = default;
};

TW_HD constexpr tcgen05_descriptor make_tcgen05_descriptor(operand_places const& p) {
  tcgen05_descriptor d;
  d.start_16b = static_cast<int>(p.start_bytes / 16);
  d.leading_16b = static_cast<int>(p.leading_bytes / 16);
  d.stride_16b = static_cast<int>(p.stride_bytes / 16);
  switch (p.mode) {
    case smem_swizzle::none: d.layout_type = 0; break;
    case smem_swizzle::b128_base32: d.layout_type = 1; break;
    case smem_swizzle::b128: d.layout_type = 2; break;
    case smem_swizzle::b64: d.layout_type = 4; break;
    case smem_swizzle::b32: d.layout_type = 6; break;
  }
  return d;
}

/// Step `step` along K of a whole operand tile (M or N, K).
TW_HD constexpr sliced operand_step(layout const& tile_layout, i64 bits, i64 step) {
  i64 const extent = size(mode(tile_layout, 0));
  return local_tile(tile_layout, tile(extent, detail::step_elems(bits)), make_coord(i64{0}, step));
}

}  // namespace tw
