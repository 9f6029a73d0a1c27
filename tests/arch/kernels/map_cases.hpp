// SPDX-License-Identifier: Apache-2.0
// map_cases.hpp  Tensor maps at the edge of each rule, on both sides. The driver is called for the
//                same ones on a GPU.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tilewright/arch/tensor_map.hpp"

namespace tw::test {

struct map_case {
  std::string name;
  std::string code;  // of the refusal; empty if accepted
  tensor_map_desc desc;
  bool driver_too = true;  // false: a rule of ours alone
};

/// A row-major bf16 matrix of 100 x 72, copied in boxes of 64 x 32.
inline tensor_map_desc plain_map() {
  tensor_map_desc d;
  d.base = reinterpret_cast<void*>(std::uintptr_t{1} << 20);  // described, never read
  d.rank = 2;
  d.dim[0] = 72;
  d.dim[1] = 100;
  d.stride_bytes[0] = 144;
  d.box[0] = 64;
  d.box[1] = 32;
  return d;
}

inline map_case changed(std::string name, std::string code,
                        std::function<void(tensor_map_desc&)> const& change) {
  tensor_map_desc d = plain_map();
  change(d);
  return {std::move(name), std::move(code), d};
}
inline map_case ours_alone(map_case c) {
  c.driver_too = false;
  return c;
}

inline tensor_map_desc five_dimensions() {
  tensor_map_desc d = plain_map();
  d.rank = 5;
  for (int i = 2; i < 5; ++i) {
    d.dim[i] = 3;
    d.box[i] = 2;
    d.stride_bytes[i - 1] = d.stride_bytes[i - 2] * d.dim[i - 1];
  }
  d.box[1] = 4;
  return d;
}

inline std::vector<map_case> refused_maps() {
  using m = tensor_map_desc;
  auto at = [](m& d, std::uintptr_t address) { d.base = reinterpret_cast<void*>(address); };
  return {
      changed("rank 0", "TW0302", [](m& d) { d.rank = 0; }),
      changed("rank 6", "TW0302", [](m& d) { d.rank = 6; }),
      changed("address 8 mod 16", "TW0303", [&](m& d) { at(d, (1 << 20) + 8); }),
      ours_alone(changed("null address", "TW0303", [&](m& d) { at(d, 0); })),
      changed("extent 0", "TW0304", [](m& d) { d.dim[1] = 0; }),
      changed("extent -1", "TW0304", [](m& d) { d.dim[0] = -1; }),
      changed("extent 2^32 + 1", "TW0304", [](m& d) { d.dim[1] = (1LL << 32) + 1; }),
      changed("stride 8 mod 16", "TW0305", [](m& d) { d.stride_bytes[0] = 152; }),
      changed("stride 2^40", "TW0305", [](m& d) { d.stride_bytes[0] = 1LL << 40; }),
      changed("negative stride", "TW0305", [](m& d) { d.stride_bytes[0] = -144; }),
      changed("box extent 0", "TW0306", [](m& d) { d.box[1] = 0; }),
      changed("box extent 257", "TW0306", [](m& d) { d.box[1] = 257; }),
      changed("box extent -8", "TW0306", [](m& d) { d.box[0] = -8; }),
      changed("box row of 8 bytes", "TW0307", [](m& d) { d.box[0] = 4; }),
      changed("box row of 24 bytes", "TW0307", [](m& d) { d.box[0] = 12; }),
      changed("144-byte row, 128-byte swizzle", "TW0308",
              [](m& d) { d.box[0] = 72, d.swizzle = swizzle_mode::b128; }),
      changed("128-byte row, 64-byte swizzle", "TW0308",
              [](m& d) { d.swizzle = swizzle_mode::b64; }),
      changed("48-byte row, 32-byte swizzle", "TW0308",
              [](m& d) { d.box[0] = 24, d.swizzle = swizzle_mode::b32; }),
  };
}

inline std::vector<map_case> accepted_maps() {
  using m = tensor_map_desc;
  std::vector<map_case> all{
      changed("plain", "", [](m&) {}),
      changed("rank 1", "", [](m& d) { d.rank = 1; }),
      {"rank 5", "", five_dimensions()},
      changed("address 16 mod 32", "",
              [](m& d) { d.base = reinterpret_cast<void*>((std::uintptr_t{1} << 20) + 16); }),
      changed("extent 1", "", [](m& d) { d.dim[0] = d.dim[1] = 1; }),
      changed("extent 2^32", "", [](m& d) { d.dim[1] = 1LL << 32; }),
      changed("stride 2^40 - 16", "", [](m& d) { d.stride_bytes[0] = (1LL << 40) - 16; }),
      changed("stride 0", "", [](m& d) { d.stride_bytes[0] = 0; }),
      changed("overlapping rows", "", [](m& d) { d.stride_bytes[0] = 16; }),
      changed("box 256 x 256", "", [](m& d) { d.box[0] = d.box[1] = 256; }),
      changed("box row of 16 bytes", "", [](m& d) { d.box[0] = 8; }),
      changed("128-byte row, 128-byte swizzle", "", [](m& d) { d.swizzle = swizzle_mode::b128; }),
      changed("64-byte row, 64-byte swizzle", "",
              [](m& d) { d.box[0] = 32, d.swizzle = swizzle_mode::b64; }),
      changed("32-byte row, 32-byte swizzle", "",
              [](m& d) { d.box[0] = 16, d.swizzle = swizzle_mode::b32; }),
      changed("16-byte row, 128-byte swizzle", "",
              [](m& d) { d.box[0] = 8, d.swizzle = swizzle_mode::b128; }),
  };
  all.push_back({"all memory", "", in_all_memory(plain_map())});
  for (elem e : {elem::f32, elem::tf32, elem::f16, elem::e4m3, elem::e5m2})
    all.push_back(changed(name(e), "", [e](m& d) { d.type = e, d.box[0] = 32; }));
  return all;
}

}  // namespace tw::test
