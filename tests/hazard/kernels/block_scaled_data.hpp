// SPDX-License-Identifier: Apache-2.0
// block_scaled_data.hpp  Operands with scale factors, as they lie in global memory. It does not use
//                        the layouts of the library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "tilewright/base/convert.hpp"
#include "tilewright/kernel/sm100/block_scaled_config.hpp"

namespace tw::test {

inline int up(int x, int unit) { return (x + unit - 1) / unit * unit; }

inline float value_of(elem type, int code) {
  auto const bits = static_cast<std::uint8_t>(code);
  switch (type) {
    case elem::e4m3: return to_float(e4m3{bits});
    case elem::e5m2: return to_float(e5m2{bits});
    case elem::e2m3: return to_float(e2m3{bits});
    case elem::e3m2: return to_float(e3m2{bits});
    case elem::ue4m3: return to_float(ue4m3{bits});
    case elem::ue8m0: return to_float(ue8m0{bits});
    default: return to_float(e2m1{bits});
  }
}
inline int code_of(elem type, float x) {
  switch (type) {
    case elem::e4m3: return to_e4m3(x, saturation::finite).bits;
    case elem::e5m2: return to_e5m2(x, saturation::finite).bits;
    case elem::e2m3: return to_e2m3(x).bits;
    case elem::e3m2: return to_e3m2(x).bits;
    case elem::ue4m3: return to_ue4m3(x).bits;
    case elem::ue8m0: return to_ue8m0_up(x).bits;
    default: return to_e2m1(x).bits;
  }
}

/// (row, k) of small numbers, packed as in global memory, and its factors. Sums are exact.
struct operand_data {
  std::vector<float> value, factor;
  std::vector<std::uint64_t> packed;  // aligned to 32 bytes from `first` on
  std::vector<std::uint64_t> factors;
  int pitch_bytes, row_elems;

  std::byte* first() {
    auto const at = reinterpret_cast<std::uintptr_t>(packed.data());
    return reinterpret_cast<std::byte*>(packed.data()) + (32 - at % 32) % 32;
  }
  std::byte* first_factor() {
    auto const at = reinterpret_cast<std::uintptr_t>(factors.data());
    return reinterpret_cast<std::byte*>(factors.data()) + (16 - at % 16) % 16;
  }

  operand_data(block_scaled_config const& c, elem type, int rows, int k, std::mt19937& random) {
    static constexpr float values[] = {0, 0.5F, 1, -1, 1.5F, -2, 3};
    static constexpr float scales[] = {0.5F, 1, 2, 0.75F, 1.5F};
    int const bits = size_bits(type);
    bool const padded = bits < 8 && !c.dense();
    row_elems = padded ? up(k, 128) : k;
    pitch_bytes = up(row_elems * bits / 8, padded ? 32 : 16);
    packed.resize(static_cast<std::size_t>(rows * pitch_bytes / 8 + 8));
    int const blocks = up(k, c.block) / c.block, atoms = up(blocks, 4) / 4;
    factors.resize(static_cast<std::size_t>(up(rows, 128) / 128 * atoms * 64 + 4));
    for (int r = 0; r < rows; ++r) {
      for (int i = 0; i < k; ++i) {
        int const code = code_of(type, values[random() % 7]);
        value.push_back(value_of(type, code));
        for (int b = 0; b < bits; ++b) {
          int const bit = r * pitch_bytes * 8 + i * bits + b;
          first()[bit / 8] |= static_cast<std::byte>((code >> b & 1) << bit % 8);
        }
      }
      for (int f = 0; f < blocks; ++f) {
        int const code = code_of(c.scale, scales[random() % (c.nvfp4() ? 5 : 3)]);
        factor.push_back(value_of(c.scale, code));
        // torch, SWIZZLE_32_4_4
        first_factor()[(r / 128 * atoms + f / 4) * 512 + r % 32 * 16 + r % 128 / 32 * 4 + f % 4] =
            static_cast<std::byte>(code);
      }
    }
  }
  /// Values times factors.
  std::vector<double> scaled(int k, int block) const {
    std::vector<double> out;
    int const blocks = up(k, block) / block;
    for (std::size_t i = 0; i < value.size(); ++i) {
      auto const row = static_cast<int>(i) / k, block_of = static_cast<int>(i) % k / block;
      out.push_back(static_cast<double>(value[i]) *
                    static_cast<double>(factor[static_cast<std::size_t>(row * blocks + block_of)]));
    }
    return out;
  }
  tensor_map map(block_scaled_config const& c, elem type, int rows, int box_rows) {
    tensor_map_desc d;
    d.base = first();
    d.type = type;
    d.padded = size_bits(type) < 8 && !c.dense();
    d.dim[0] = row_elems;
    d.dim[1] = rows;
    d.stride_bytes[0] = pitch_bytes;
    d.box[0] = c.tile_k();
    d.box[1] = box_rows;
    d.swizzle = swizzle_mode::b128;
    return make_tensor_map(d, target::emu);
  }
};

}  // namespace tw::test
