// SPDX-License-Identifier: Apache-2.0
// tcgen05_words.cu  Words of tcgen05 that no kernel of the library has, in every form: for
//                   tcgen05_assembly_test.py, one kernel for each number of CTAs.
#include "tilewright/arch/select.hpp"

namespace tw::test {

struct words {
  std::uint32_t d, a, sfa, sfb, idesc;
  umma_desc b;
  mbarrier* bar;
  void* smem;
  tensor_map map;
};

template <int Ctas>
TW_DEVICE void multiply(words const& w) {
  using enum umma_kind;
  umma_scaled_ts<mxf8f6f4, 32, Ctas>(w.d, w.a, w.b, w.idesc, w.sfa, w.sfb, false);
  umma_scaled_ts<mxf4, 32, Ctas>(w.d, w.a, w.b, w.idesc, w.sfa, w.sfb, true);
  umma_scaled_ts<mxf4nvf4, 32, Ctas>(w.d, w.a, w.b, w.idesc, w.sfa, w.sfb, true);
  umma_scaled_ts<mxf4nvf4, 16, Ctas>(w.d, w.a, w.b, w.idesc, w.sfa, w.sfb, true);
}

template <int Ctas>
TW_DEVICE void copy(words const& w) {
  tmem_copy<tmem_copy_shape::c4x256b, Ctas>(w.d, w.b);
  tmem_copy<tmem_copy_shape::c4x256b, Ctas, tmem_unpack::b4>(w.d, w.b);
  tmem_copy<tmem_copy_shape::c4x256b, Ctas, tmem_unpack::b6>(w.d, w.b);
}

__global__ void of_one_cta(__grid_constant__ words const w) {
  w.bar->wait_relaxed(0);
  w.bar->wait_relaxed<scope::cluster>(1);
  multiply<1>(w);
  copy<1>(w);
  w.bar->arrive_relaxed();
  w.bar->arrive_relaxed<scope::cluster>();
}

__global__ void of_a_pair(__grid_constant__ words const w) {
  multiply<2>(w);
  copy<2>(w);
  tma_load_pair_multicast(w.smem, w.map, *w.bar, tma_coord{0}, 3);
  tma_load_pair_multicast(w.smem, w.map, *w.bar, tma_coord{0, 1}, 3);
  tma_load_pair_multicast(w.smem, w.map, *w.bar, tma_coord{0, 1, 2}, 3);
  tma_load_pair_multicast(w.smem, w.map, *w.bar, tma_coord{0, 1, 2, 3}, 3);
  tma_load_pair_multicast(w.smem, w.map, *w.bar, tma_coord{0, 1, 2, 3, 4}, 3);
}

}  // namespace tw::test
