// SPDX-License-Identifier: Apache-2.0
// box.cpp  Copies boxes row by row; 16-byte chunks of a row go where the swizzle puts them.
#include "emu/elements/box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "emu/elements/reduce.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw::emu {

namespace {

/// The innermost index of a box, in bytes: [begin, end) of its row lies in the tensor, and starts
/// `from` bytes after the tensor's row does.
struct inner_range {
  int row_bytes, begin, end;
  std::int64_t from;

  inner_range(tensor_map_desc const& d, int const* at) {
    std::int64_t const first = at[0];
    row_bytes = static_cast<int>(d.row_bytes(d.box[0]));
    begin = static_cast<int>(d.row_bytes(std::clamp<std::int64_t>(-first, 0, d.box[0])));
    end = static_cast<int>(d.row_bytes(std::clamp<std::int64_t>(d.dim[0] - first, 0, d.box[0])));
    end = std::max(begin, end);
    from = first * size_bits(d.type) / 8 + begin;
  }
  bool whole() const { return begin == 0 && end == row_bytes; }

  /// As stores and additions see it: the chunk of 16 bytes that holds the end of the tensor's row
  /// is written whole (measured on an H200; docs/decisions/0006). Boxes begin at whole chunks.
  inner_range whole_chunks() const {
    inner_range r = *this;
    r.end = (end + 15) / 16 * 16;
    return r;
  }
};

/// Calls row(i, p) for every row of the box in order; p is where the tensor's row begins, or null
/// if an outer coordinate is outside the tensor.
template <class Row>
void for_each_row(tensor_map_desc const& d, int const* at, Row&& row) {
  std::int64_t index[5] = {};
  int rows = 1;
  for (int i = 1; i < d.rank; ++i) rows *= d.box[i];
  for (int r = 0; r < rows; ++r) {
    bool inside = true;
    std::int64_t offset = 0;
    for (int i = 1; i < d.rank; ++i) {
      std::int64_t const c = at[i] + index[i];
      inside = inside && c >= 0 && c < d.dim[i];
      offset += c * d.stride_bytes[i - 1];
    }
    row(r, inside ? static_cast<std::byte*>(d.base) + offset : nullptr);
    for (int i = 1; i < d.rank && ++index[i] == d.box[i]; ++i) index[i] = 0;
  }
}

/// A row of one swizzle span; chunk c lies where chunk c ^ exchange / 16 would without a swizzle.
template <int Span>
void load_span(std::byte* dst, std::byte const* src, std::uint32_t exchange) {
#pragma GCC unroll 8
  for (std::uint32_t c = 0; c < Span; c += 16) std::memcpy(dst + (c ^ exchange), src + c, 16);
}
template <int Span>
void store_span(std::byte* dst, std::byte const* src, std::uint32_t exchange) {
#pragma GCC unroll 8
  for (std::uint32_t c = 0; c < Span; c += 16) std::memcpy(dst + c, src + (c ^ exchange), 16);
}

/// The box in shared memory.
struct smem_box {
  std::uint32_t address;
  int row_pitch;
  swizzle_mode swizzle;

  /// Distance from the box's start to the chunk that row `row` has at byte `at`, a multiple of 16.
  std::ptrdiff_t chunk(int row, int at) const {
    std::uint32_t const plain =
        address + static_cast<std::uint32_t>(row) * static_cast<std::uint32_t>(row_pitch) +
        static_cast<std::uint32_t>(at);
    return static_cast<std::ptrdiff_t>(swizzled(plain, swizzle)) -
           static_cast<std::ptrdiff_t>(address);
  }
  /// True if load_row and store_row may move rows of row_bytes: they fill the pitch, and the
  /// swizzle exchanges the chunks of a row by one xor.
  bool has_simple_rows(int row_bytes) const {
    return row_bytes == row_pitch &&
           (swizzle == swizzle_mode::none || address % static_cast<std::uint32_t>(row_pitch) == 0);
  }
  std::uint32_t exchange(int row) const {
    return static_cast<std::uint32_t>(chunk(row, 0)) % static_cast<std::uint32_t>(row_pitch);
  }
};

/// The processor does not expect the rows of a box, which lie far apart: it fetches the one that
/// comes after `ahead` others while this one is copied.
void fetch_later_row(std::byte const* src, std::int64_t stride_bytes, int row_bytes) {
  constexpr int ahead = 12, line = 64;
  auto const later = reinterpret_cast<std::uintptr_t>(src) +
                     static_cast<std::uintptr_t>(ahead * stride_bytes);  // of no account if outside
  for (int i = 0; i < row_bytes; i += line)
    __builtin_prefetch(reinterpret_cast<void const*>(later + static_cast<std::uintptr_t>(i)));
}

void load_row(smem_box const& box, int row, std::byte* dst, std::byte const* src) {
  switch (box.swizzle) {
    case swizzle_mode::b128:
    case swizzle_mode::b128_base32: return load_span<128>(dst, src, box.exchange(row));
    case swizzle_mode::b64: return load_span<64>(dst, src, box.exchange(row));
    case swizzle_mode::b32: return load_span<32>(dst, src, box.exchange(row));
    case swizzle_mode::none: std::memcpy(dst, src, static_cast<std::size_t>(box.row_pitch));
  }
}

void store_row(smem_box const& box, int row, std::byte* dst, std::byte const* src) {
  switch (box.swizzle) {
    case swizzle_mode::b128:
    case swizzle_mode::b128_base32: return store_span<128>(dst, src, box.exchange(row));
    case swizzle_mode::b64: return store_span<64>(dst, src, box.exchange(row));
    case swizzle_mode::b32: return store_span<32>(dst, src, box.exchange(row));
    case swizzle_mode::none: std::memcpy(dst, src, static_cast<std::size_t>(box.row_pitch));
  }
}

/// A tf32 as a load writes it: rounded to nearest, ties to even, a NaN 0x7FFFE000 (measured on an
/// H200; cvt.rna and so to_tf32 round ties away).
std::uint32_t loaded_tf32(std::uint32_t x) {
  if ((x & 0x7FFFFFFFU) > 0x7F800000U) return 0x7FFFE000U;
  return (x + 0xFFFU + (x >> 13 & 1U)) & ~0x1FFFU;
}

void round_to_tf32(std::byte* chunk) {
  std::uint32_t x[4];
  std::memcpy(x, chunk, 16);
  for (auto& word : x) word = loaded_tf32(word);
  std::memcpy(chunk, x, 16);
}

bool reaches_all_memory(tensor_map_desc const& d) {
  return reinterpret_cast<std::uint64_t>(d.base) == tma_place::first_byte;
}

}  // namespace

char const* coordinates_that_trap(tensor_map_desc const& d, int const* at, bool writes_tensor) {
  if (d.is_padded() && at[0] % 128 != 0)
    return "the first coordinate of padded elements is not a multiple of 128";
  if (d.is_padded() && writes_tensor) return "padded elements of 4 and 6 bits are not stored";
  if (at[0] * std::int64_t{d.smem_bits()} / 8 % 16 != 0)
    return "the first coordinate is not a multiple of 16 bytes";
  for (int i = 0; i < d.rank; ++i)
    if (writes_tensor && at[i] < 0) return "a coordinate of a store or an addition is negative";
  if (writes_tensor || !reaches_all_memory(d)) return nullptr;
  for (int i = 0; i < d.rank - 2; ++i)
    if (at[i] >= d.dim[i] || at[i] + d.box[i] <= 0)
      return "the box of a load by a map over all memory holds no element of the matrix";
  return nullptr;
}

std::optional<std::string> bad_address_of_place(tensor_map_desc const& d, int const* at) {
  if (!reaches_all_memory(d)) return std::nullopt;
  std::int64_t const units = at[d.rank - 2], spans = at[d.rank - 1];
  if (spans < tma_place::nowhere) return std::nullopt;
  if (spans == tma_place::nowhere) return "0, or 2^53 and more";
  std::int64_t const whole = units + ((spans & tma_place::nowhere) << tma_place::units_log2);
  return fmt::format("{:#x}", static_cast<std::int64_t>(tma_place::first_byte) +
                                  whole * tma_place::unit_bytes + (spans >> tma_place::spans_log2));
}

coverage box_coverage(tensor_map_desc const& d, int const* at) {
  bool inside = true;
  for (int i = 0; i < d.rank; ++i) {
    std::int64_t const first = at[i], end = first + d.box[i];
    if (end <= 0 || first >= d.dim[i]) return coverage::outside;
    inside = inside && first >= 0 && end <= d.dim[i];
  }
  return inside ? coverage::inside : coverage::clipped;
}

namespace {

/// Rows of 128 elements, which lie in the tensor whole or not at all.
void load_padded_box(tensor_map_desc const& d, int const* at, std::byte* dst,
                     std::uint32_t smem_address) {
  constexpr int chunks = 8;
  auto const data = static_cast<std::size_t>(2 * size_bits(d.type));  // bytes of 16 elements
  bool const inside = at[0] >= 0 && at[0] < d.dim[0];
  smem_box const box{smem_address, box_row_pitch_bytes(d), d.swizzle};
  for_each_row(d, at, [&](int row, std::byte const* src) {
    for (int c = 0; c < chunks; ++c) {
      std::byte* const to = dst + box.chunk(row, 16 * c);
      std::memset(to + data, 0xFF, 16 - data);
      if (src == nullptr || !inside)
        std::memset(to, 0, data);
      else
        std::memcpy(to, src + d.row_bytes(at[0]) + static_cast<std::ptrdiff_t>(data) * c, data);
    }
  });
}

}  // namespace

void load_box(tensor_map_desc const& d, int const* at, std::byte* dst, std::uint32_t smem_address) {
  if (d.is_padded()) return load_padded_box(d, at, dst, smem_address);
  inner_range const in(d, at);
  smem_box const box{smem_address, box_row_pitch_bytes(d), d.swizzle};
  bool const rounds = d.type == multiplied_type(elem::f32);
  bool const simple = in.whole() && box.has_simple_rows(in.row_bytes) && !rounds;
  for_each_row(d, at, [&](int row, std::byte const* src) {
    if (simple && src != nullptr) {
      fetch_later_row(src + in.from, d.stride_bytes[0], in.row_bytes);
      return load_row(box, row, dst + static_cast<std::ptrdiff_t>(row) * box.row_pitch,
                      src + in.from);
    }
    for (int c = 0; c < in.row_bytes; c += 16) {
      std::byte* const to = dst + box.chunk(row, c);
      int const begin = std::max(c, in.begin), end = std::min(c + 16, in.end);
      bool const any = src != nullptr && begin < end;
      if (!any || end - begin < 16) std::memset(to, 0, 16);
      if (any)
        std::memcpy(to + (begin - c), src + in.from + (begin - in.begin),
                    static_cast<std::size_t>(end - begin));
      if (rounds) round_to_tf32(to);
    }
  });
}

void store_box(tensor_map_desc const& d, int const* at, std::byte const* src,
               std::uint32_t smem_address) {
  inner_range const in = inner_range(d, at).whole_chunks();
  smem_box const box{smem_address, box_row_pitch_bytes(d), d.swizzle};
  bool const simple = in.whole() && box.has_simple_rows(in.row_bytes);
  for_each_row(d, at, [&](int row, std::byte* dst) {
    if (dst == nullptr) return;
    if (simple)
      return store_row(box, row, dst + in.from,
                       src + static_cast<std::ptrdiff_t>(row) * box.row_pitch);
    for (int c = in.begin / 16 * 16; c < in.end; c += 16) {
      int const begin = std::max(c, in.begin), end = std::min(c + 16, in.end);
      std::memcpy(dst + in.from + (begin - in.begin), src + box.chunk(row, c) + (begin - c),
                  static_cast<std::size_t>(end - begin));
    }
  });
}

void reduce_box(tensor_map_desc const& d, int const* at, reduce_op op, tw::detail::reduce_type type,
                std::byte const* src, std::uint32_t smem_address) {
  inner_range const in = inner_range(d, at).whole_chunks();
  smem_box const box{smem_address, box_row_pitch_bytes(d), d.swizzle};
  std::vector<std::byte> values(static_cast<std::size_t>(in.row_bytes));
  for_each_row(d, at, [&](int row, std::byte* dst) {
    if (dst == nullptr || in.begin == in.end) return;
    for (int c = 0; c < in.row_bytes; c += 16)  // the row, without the swizzle
      std::memcpy(values.data() + c, src + box.chunk(row, c), 16);
    reduce_elements(op, type, dst + in.from, values.data() + in.begin, in.end - in.begin);
  });
}

void reduce_add_box(tensor_map_desc const& d, int const* at, std::byte const* src,
                    std::uint32_t smem_address) {
  reduce_box(d, at, reduce_op::add, reduce_type_of(d.type), src, smem_address);
}

}  // namespace tw::emu
