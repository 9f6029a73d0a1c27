// SPDX-License-Identifier: Apache-2.0
// tmem_guards.cu  One kernel for each access to tensor memory that the library has: loads and
//                 stores of each shape and count, copies, multiplies of each kind. The name of a
//                 kernel has the form of its access, for tmem_guards_test.py.
#include <utility>

#include "tilewright/arch/select.hpp"
#include "tilewright/atom/umma_idesc.hpp"

namespace tw::test {

/// Addresses that ptxas does not load together: the test recognises them by their offsets.
struct alignas(16) address {
  std::uint32_t at;
};
struct operands {
  address d, a, sfa, sfb;
  umma_desc left, right;
};

template <tmem_shape S, int Count, int Split, bool Packed>
__global__ void load(address from, std::uint32_t* to) {
  auto v = [&] {
    if constexpr (Packed)
      return tmem_load_packed<S, Count, Split>(from.at);
    else
      return tmem_load<S, Count, Split>(from.at);
  }();
  tmem_wait_load(v);
  std::uint32_t all = 0;
  for (std::uint32_t const r : v.r) all ^= r;
  *to = all;
}
template <tmem_shape S, int Count, int Split, bool Packed>
__global__ void store(address to, std::uint32_t value) {
  tmem_words<S, Count> v;
  for (std::uint32_t& r : v.r) r = value;
  if constexpr (Packed)
    tmem_store_unpacked<S, Count, Split>(to.at, v);
  else
    tmem_store<S, Count, Split>(to.at, v);
}
template <tmem_copy_shape S, int Ctas, tmem_unpack U>
__global__ void copy(address to, umma_desc from) {
  tmem_copy<S, Ctas, U>(to.at, from);
}
template <umma_kind K, int Ctas, int M, int N, bool Tensor>
__global__ void multiply(__grid_constant__ operands const o) {
  constexpr std::uint32_t idesc = umma_idesc{.n = N, .m = M}.bits();
  if constexpr (Tensor)
    umma_ts<K, Ctas>(o.d.at, o.a.at, o.right, idesc, true);
  else
    umma<K, Ctas>(o.d.at, o.left, o.right, idesc, true);
}
template <umma_kind K, int Block, int Ctas, int M, int N, bool Tensor>
__global__ void multiply_scaled(__grid_constant__ operands const o) {
  constexpr std::uint32_t idesc = umma_scaled_idesc{.n = N, .m = M}.bits();
  if constexpr (Tensor)
    umma_scaled_ts<K, Block, Ctas>(o.d.at, o.a.at, o.right, idesc, o.sfa.at, o.sfb.at, true);
  else
    umma_scaled<K, Block, Ctas>(o.d.at, o.left, o.right, idesc, o.sfa.at, o.sfb.at, true);
}

// Taking its address instantiates a kernel.
template <class... F>
void use(F*...) {}

template <tmem_shape S, int Count, bool Packed>
void use_transfer() {
  if constexpr (is_tmem_count(S, Count)) {
    constexpr int split = S == tmem_shape::l16x32bx2 ? 256 : 0;
    use(load<S, Count, split, Packed>, store<S, Count, split, Packed>);
  }
}
template <tmem_shape S, int... Power>
void use_counts(std::integer_sequence<int, Power...>) {
  (use_transfer<S, 1 << Power, false>(), ...);
  (use_transfer<S, 1 << Power, true>(), ...);
}
template <tmem_copy_shape S>
void use_copy() {
  use(copy<S, 1, tmem_unpack::none>, copy<S, 2, tmem_unpack::none>, copy<S, 1, tmem_unpack::b4>,
      copy<S, 2, tmem_unpack::b4>, copy<S, 1, tmem_unpack::b6>, copy<S, 2, tmem_unpack::b6>);
}
template <umma_kind K, int Ctas, int M, int N>
void use_multiply() {
  use(multiply<K, Ctas, M, N, false>, multiply<K, Ctas, M, N, true>);
}
template <umma_kind K, int Block, int Ctas, int M, int N>
void use_scaled() {
  use(multiply_scaled<K, Block, Ctas, M, N, false>, multiply_scaled<K, Block, Ctas, M, N, true>);
}
template <umma_kind K, int... N>
void use_kind(std::integer_sequence<int, N...>) {
  (use_multiply<K, 1, 64, N>(), ...);
  (use_multiply<K, 1, 128, N>(), ...);
  (use_multiply<K, 2, 128, N>(), ...);
  (use_multiply<K, 2, 256, N>(), ...);
}
template <umma_kind K, int Block, int... N>
void use_scaled_kind(std::integer_sequence<int, N...>) {
  (use_scaled<K, Block, 1, 128, N>(), ...);
  (use_scaled<K, Block, 2, 128, N>(), ...);
  (use_scaled<K, Block, 2, 256, N>(), ...);
}

void use_all() {
  std::make_integer_sequence<int, 8> const powers;  // counts 1 to 128
  use_counts<tmem_shape::l32x32b>(powers);
  use_counts<tmem_shape::l16x64b>(powers);
  use_counts<tmem_shape::l16x128b>(powers);
  use_counts<tmem_shape::l16x256b>(powers);
  use_counts<tmem_shape::l16x32bx2>(powers);
  use_copy<tmem_copy_shape::c128x256b>();
  use_copy<tmem_copy_shape::c128x128b>();
  use_copy<tmem_copy_shape::c64x128b_02_13>();
  use_copy<tmem_copy_shape::c64x128b_01_23>();
  use_copy<tmem_copy_shape::c32x128b_x4>();
  use_copy<tmem_copy_shape::c4x256b>();
  std::integer_sequence<int, 32, 96, 256> const few;
  use_kind<umma_kind::f16>(std::integer_sequence<int, 32, 64, 96, 128, 192, 224, 256>{});
  use_kind<umma_kind::tf32>(few);
  use_kind<umma_kind::f8f6f4>(few);
  std::integer_sequence<int, 64, 128, 192, 256> const halves;
  use_scaled_kind<umma_kind::mxf8f6f4, 32>(halves);
  use_scaled_kind<umma_kind::mxf4, 32>(halves);
  use_scaled_kind<umma_kind::mxf4nvf4, 32>(halves);
  use_scaled_kind<umma_kind::mxf4nvf4, 16>(halves);
  use_scaled<umma_kind::mxf8f6f4, 32, 1, 128, 32>();
  use_scaled<umma_kind::mxf8f6f4, 32, 1, 128, 96>();
  use_scaled<umma_kind::mxf4nvf4, 16, 2, 256, 96>();
}

}  // namespace tw::test
