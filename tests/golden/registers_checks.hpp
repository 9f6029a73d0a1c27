// SPDX-License-Identifier: Apache-2.0
// registers_checks.hpp  The kernels whose registers are measured compute D: what explain
//                       recommends for a tile of 192 x 192, in the emulator or on a GPU.
#pragma once

#include "tests/arch/kernels/machine.hpp"
#include "tests/golden/registers_kernel.hpp"
#include "tilewright/base/convert.hpp"

namespace tw_test {

inline constexpr int check_rows = 192, check_columns = 384, check_depth = 128;

/// Integers -1 to 2: sums of their products are exact, also in f16.
inline std::vector<std::uint16_t> small_f16(int n, unsigned seed) {
  std::vector<std::uint16_t> v;
  for (unsigned s = seed; n > 0; --n) {
    s = s * 1664525U + 1013904223U;
    v.push_back(tw::to_f16(static_cast<float>(s >> 30U) - 1.0F).bits);
  }
  return v;
}

template <class M>
tw::tensor_map map_of(void* base, int outer, int inner, int box_inner, tw::swizzle_mode s) {
  tw::tensor_map_desc d{.base = base, .type = tw::elem::f16, .swizzle = s};
  d.dim[0] = inner;
  d.dim[1] = outer;
  d.stride_bytes[0] = 2 * inner;
  d.box[0] = box_inner;
  d.box[1] = 192;
  return make_tensor_map(d, M::where);
}

/// D == A B^T in every element.
template <writing W, class M>
std::string check_product(M& machine) {
  using kernel = writing_kernel<W>;
  auto const a = small_f16(check_rows * check_depth, 1),
             b = small_f16(check_columns * check_depth, 2);
  std::vector<std::uint16_t> want;
  for (int i = 0; i < check_rows; ++i) {
    for (int j = 0; j < check_columns; ++j) {
      float sum = 0;
      for (int k = 0; k < check_depth; ++k) {
        sum += to_float(tw::f16{a[static_cast<std::size_t>(i * check_depth + k)]}) *
               to_float(tw::f16{b[static_cast<std::size_t>(j * check_depth + k)]});
      }
      want.push_back(tw::to_f16(sum).bits);
    }
  }
  std::uint16_t* const d = upload(machine, std::vector<std::uint16_t>(want.size()));
  writing_params const p{
      .a = map_of<M>(upload(machine, a), check_rows, check_depth, 64, tw::swizzle_mode::b128),
      .b = map_of<M>(upload(machine, b), check_columns, check_depth, 64, tw::swizzle_mode::b128),
      .d = map_of<M>(d, check_rows, check_columns, kernel::span, W.smem),
      .k_tiles = check_depth / 64,
      .tiles_m = check_rows / 192,
      .tiles_n = check_columns / 192};
  tw::test::run<kernel>(machine, 1, p);
  return tw::test::differences(download(machine, d, want.size()), want);
}

/// The ways that explain calls partitions.
template <class M>
std::vector<tw::test::check<M>> writing_checks() {
  using tw::swizzle_mode;
  using enum writer;
  using enum address;
  return {
      {"stmatrix, SW64",
       check_product<writing{96, swizzle_mode::b64, stmatrix4, stepped, false, true}, M>},
      {"stmatrix, SW32",
       check_product<writing{96, swizzle_mode::b32, stmatrix4, stepped, false, true}, M>},
      {"stmatrix, no swizzle",
       check_product<writing{96, swizzle_mode::none, stmatrix4, stepped, false, true}, M>},
      {"stmatrix, N = 32, SW128",
       check_product<writing{32, swizzle_mode::b128, stmatrix4, stepped, false, true}, M>},
      {"stmatrix, turns of 8 columns, SW128",
       check_product<writing{96, swizzle_mode::b128, stmatrix4, stepped, true, true}, M>},
      {"st.32, SW64", check_product<writing{96, swizzle_mode::b64, st32, stepped, false, true}, M>},
      {"st.16, SW64",
       check_product<writing{96, swizzle_mode::b64, st16, stepped, false, true}, M>}};
}

}  // namespace tw_test
