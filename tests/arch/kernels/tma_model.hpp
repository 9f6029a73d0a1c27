// SPDX-License-Identifier: Apache-2.0
// tma_model.hpp  A bulk tensor copy, element by element, on the host; and the cases.
//
// Where the documentation is silent the model says what an H200 does (docs/decisions/0007): rows
// narrower than the swizzle span are padded to it, a store covers the 16-byte chunk that holds a
// row's end, tf32 loads round to nearest even, the first coordinate is a multiple of 16 bytes, and
// no coordinate of a store is negative.
#pragma once

#include <algorithm>
#include <bit>

#include "tests/arch/kernels/machine.hpp"
#include "tilewright/base/convert.hpp"

namespace tw::test {

/// A tensor, a box and where the box is copied to or from. The base of the map is set later.
struct tma_case {
  std::string name;
  tensor_map_desc desc;
  int at[5] = {};
};

/// Shared memory from one row of the box to the next, and of the whole box.
inline int row_pitch(tensor_map_desc const& d) {
  return d.swizzle == swizzle_mode::none ? d.box[0] * size_bytes(d.type)
                                         : swizzle_span_bytes(d.swizzle);
}
inline int room_of(tensor_map_desc const& d) {
  return d.box_bytes() / (d.box[0] * size_bytes(d.type)) * row_pitch(d);
}

/// Calls f(tensor offset or -1, shared-memory offset) for each element of the box, in bytes. The
/// offset is -1 outside of the tensor; for a store the row's last chunk of 16 bytes counts whole.
template <class F>
void for_each_element(tma_case const& c, bool store, F&& f) {
  tensor_map_desc const& d = c.desc;
  int const size = size_bytes(d.type), in_chunk = 16 / size;
  int count = 1;
  for (int i = 0; i < d.rank; ++i) count *= d.box[i];
  for (int e = 0; e < count; ++e) {
    std::int64_t const x = c.at[0] + e % d.box[0];
    std::int64_t const row_end = store ? (d.dim[0] + in_chunk - 1) / in_chunk * in_chunk : d.dim[0];
    bool inside = x >= 0 && x < row_end;
    std::int64_t offset = x * size;
    int rest = e / d.box[0];
    for (int i = 1; i < d.rank; ++i) {
      std::int64_t const y = c.at[i] + rest % d.box[i];
      rest /= d.box[i];
      inside = inside && y >= 0 && y < d.dim[i];
      offset += y * d.stride_bytes[i - 1];
    }
    int const plain = e / d.box[0] * row_pitch(d) + e % d.box[0] * size;
    f(inside ? offset : -1,
      static_cast<int>(swizzled(static_cast<std::uint32_t>(plain), d.swizzle)));
  }
}

/// Bytes of the tensor in memory, its last row filled up to 16.
inline std::size_t tensor_bytes(tensor_map_desc const& d) {
  std::int64_t bytes = (d.dim[0] * size_bytes(d.type) + 15) / 16 * 16;
  for (int i = 1; i < d.rank; ++i) bytes += (d.dim[i] - 1) * d.stride_bytes[i - 1];
  return static_cast<std::size_t>(bytes);
}

inline std::uint32_t loaded_as_tf32(std::uint32_t x) {
  if ((x & 0x7FFFFFFFU) > 0x7F800000U) return 0x7FFFE000U;
  return (x + 0xFFFU + (x >> 13 & 1U)) & 0xFFFFE000U;
}

/// Loads the box into shared memory.
inline void load_into(std::vector<std::uint8_t>& smem, tma_case const& c,
                      std::vector<std::uint8_t> const& tensor) {
  std::size_t const size = static_cast<std::size_t>(size_bytes(c.desc.type));
  for_each_element(c, false, [&](std::int64_t from, int to) {
    std::uint32_t word = 0;
    if (from >= 0) std::memcpy(&word, tensor.data() + from, size);
    if (c.desc.type == elem::tf32) word = loaded_as_tf32(word);
    std::memcpy(smem.data() + to, &word, size);
  });
}

/// The tensor after the box was stored.
inline std::vector<std::uint8_t> stored(tma_case const& c, std::vector<std::uint8_t> tensor,
                                        std::vector<std::uint8_t> const& box) {
  std::size_t const size = static_cast<std::size_t>(size_bytes(c.desc.type));
  for_each_element(c, true, [&](std::int64_t to, int from) {
    if (to >= 0) std::memcpy(tensor.data() + to, box.data() + from, size);
  });
  return tensor;
}

inline float element_at(elem type, std::uint8_t const* p) {
  std::uint32_t word = 0;
  std::memcpy(&word, p, static_cast<std::size_t>(size_bytes(type)));
  if (type == elem::f32) return std::bit_cast<float>(word);
  if (type == elem::s32) return static_cast<float>(static_cast<std::int32_t>(word));
  auto const half = static_cast<std::uint16_t>(word);
  return type == elem::bf16 ? to_float(bf16{half}) : to_float(f16{half});
}
inline void set_element(elem type, std::uint8_t* p, float v) {
  std::uint32_t word = std::bit_cast<std::uint32_t>(v);
  if (type == elem::bf16) word = to_bf16(v).bits;
  if (type == elem::f16) word = to_f16(v).bits;
  if (type == elem::s32) word = static_cast<std::uint32_t>(static_cast<std::int32_t>(v));
  std::memcpy(p, &word, static_cast<std::size_t>(size_bytes(type)));
}

/// The tensor after the box was added; each sum is rounded to the tensor's type.
inline std::vector<std::uint8_t> added(tma_case const& c, std::vector<std::uint8_t> tensor,
                                       std::vector<std::uint8_t> const& box) {
  for_each_element(c, true, [&](std::int64_t to, int from) {
    if (to < 0) return;
    std::uint8_t* const p = tensor.data() + to;
    set_element(c.desc.type, p,
                element_at(c.desc.type, p) + element_at(c.desc.type, box.data() + from));
  });
  return tensor;
}

/// A tensor of these extents whose rows are padded to 16 bytes, and a box at some coordinates.
inline tma_case make_case(elem type, swizzle_mode s, std::vector<int> const& dim,
                          std::vector<int> const& box, std::vector<int> const& at) {
  tma_case c;
  tensor_map_desc& d = c.desc;
  d.type = type;
  d.swizzle = s;
  d.rank = static_cast<int>(dim.size());
  std::int64_t stride = (dim[0] * size_bytes(type) + 15) / 16 * 16;
  std::string dims, boxes, ats;
  for (int i = 0; i < d.rank; ++i) {
    d.dim[i] = dim[i];
    d.box[i] = box[i];
    c.at[i] = at[i];
    if (i > 0) d.stride_bytes[i - 1] = stride, stride *= dim[i];
    dims += text(i > 0 ? "x" : "", dim[i]);
    boxes += text(i > 0 ? "x" : "", box[i]);
    ats += text(i > 0 ? "," : "", at[i]);
  }
  c.name = text(name(type), " ", dims, " swizzle ", text_of(s), " box ", boxes, " at ", ats);
  return c;
}

/// Boxes inside, across each edge and outside of the tensor, for ranks 1 to 5 and all swizzles.
inline std::vector<tma_case> tma_cases(elem type, bool store) {
  using enum swizzle_mode;
  int const q = 16 / size_bytes(type);  // elements in 16 bytes
  std::vector<tma_case> all;
  auto add = [&](swizzle_mode s, std::vector<int> const& dim, std::vector<int> const& box,
                 std::vector<int> const& at) {
    if (!store || *std::ranges::min_element(at) >= 0)
      all.push_back(make_case(type, s, dim, box, at));
  };
  for (int x : {0, 5 * q, 6 * q, -q, -2 * q, 7 * q}) add(none, {6 * q + 3}, {2 * q}, {x});
  struct width {
    swizzle_mode s;
    int inner;
  };
  for (width w : {width{none, q},
                  {none, 3 * q},
                  {none, 16 * q},
                  {b32, 2 * q},
                  {b64, 4 * q},
                  {b128, 8 * q},
                  {b32, q},
                  {b64, 3 * q},
                  {b128, q},
                  {b128, 2 * q},
                  {b128, 5 * q}})
    for (int x : {0, q, 11 * q, 12 * q, -q, -2 * q, 13 * q})
      for (int y : {0, 3, 25, -2, 30}) add(w.s, {12 * q + q / 2, 30}, {w.inner, 16}, {x, y});
  add(b128, {16 * q, 300}, {8 * q, 256}, {8 * q, 40});
  for (swizzle_mode s : {none, b128})
    for (int z : {0, 4, -1}) {
      add(s, {9 * q, 10, 6}, {8 * q, 4, 3}, {2 * q, 8, z});
      add(s, {9 * q, 10, 3, 5}, {4 * q, 4, 2, 2}, {q, 1, 2, z});
      add(s, {4 * q, 5, 3, 2, 6}, {2 * q, 4, 2, 2, 3}, {q, 2, 1, 0, z});
    }
  return all;
}

}  // namespace tw::test
