// SPDX-License-Identifier: Apache-2.0
// tensor_map_emu.cpp  Packs descriptions into 128 bytes and reads them back.
//
// words[0]      magic
// words[1]      base
// words[2..6]   dim
// words[7..10]  stride_bytes
// words[11]     box[0..3], 16 bits each
// words[12]     box[4] 0-15, type 16-23, rank 24-31, swizzle 32-39, l2_fetches_128 40, padded 41
// words[13..14] zero
// words[15]     sum of all words before it
#include "tilewright/arch/emu/tensor_map_emu.hpp"

namespace tw {

namespace {

constexpr std::uint64_t magic = 0x50414D5F554D4554U;  // "TEMU_MAP" in memory

std::uint64_t sum(tensor_map const& m) {
  std::uint64_t s = 0;
  for (int i = 0; i < 15; ++i) s += m.words[i];
  return s;
}

std::uint64_t bits(std::int64_t v) { return static_cast<std::uint64_t>(v); }

}  // namespace

tensor_map pack_tensor_map_emu(tensor_map_desc const& d) {
  tensor_map m{};
  m.words[0] = magic;
  m.words[1] = reinterpret_cast<std::uint64_t>(d.base);
  for (int i = 0; i < 5; ++i) m.words[2 + i] = bits(d.dim[i]);
  for (int i = 0; i < 4; ++i) m.words[7 + i] = bits(d.stride_bytes[i]);
  for (int i = 0; i < 4; ++i) m.words[11] |= bits(d.box[i]) << 16 * i;
  m.words[12] = bits(d.box[4]) | static_cast<std::uint64_t>(d.type) << 16 | bits(d.rank) << 24 |
                static_cast<std::uint64_t>(d.swizzle) << 32 |
                static_cast<std::uint64_t>(d.l2_fetches_128) << 40 |
                static_cast<std::uint64_t>(d.padded) << 41;
  m.words[15] = sum(m);
  return m;
}

tensor_map_desc unpack_tensor_map_emu(tensor_map const& m) {
  if (m.words[0] != magic || m.words[15] != sum(m))
    throw rejected({"TW0311", "tensor map", m.words[0] == magic ? "a damaged one" : "foreign bytes",
                    "a map made by make_tensor_map(description, target::emu)", ""});
  tensor_map_desc d;
  d.base = reinterpret_cast<void*>(m.words[1]);
  for (int i = 0; i < 5; ++i) d.dim[i] = static_cast<std::int64_t>(m.words[2 + i]);
  for (int i = 0; i < 4; ++i) d.stride_bytes[i] = static_cast<std::int64_t>(m.words[7 + i]);
  for (int i = 0; i < 4; ++i) d.box[i] = static_cast<std::int32_t>(m.words[11] >> 16 * i & 0xFFFFU);
  d.box[4] = static_cast<std::int32_t>(m.words[12] & 0xFFFFU);
  d.type = static_cast<elem>(m.words[12] >> 16 & 0xFFU);
  d.rank = static_cast<int>(m.words[12] >> 24 & 0xFFU);
  d.swizzle = static_cast<swizzle_mode>(m.words[12] >> 32 & 0xFFU);
  d.l2_fetches_128 = (m.words[12] >> 40 & 1U) != 0;
  d.padded = (m.words[12] >> 41 & 1U) != 0;
  return d;
}

}  // namespace tw
