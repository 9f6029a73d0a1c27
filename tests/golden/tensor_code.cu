// SPDX-License-Identifier: Apache-2.0
// tensor_code.cu  The kernels of tensor_code.hpp as device code: for each, one name with tensors
//                 and one by hand. tensor_code_test.py compares the two.
#include "tests/golden/tensor_code.hpp"

namespace tw_test {

template <class K>
using params_of = typename K::params;

#define X(name, tensors, hand)                                       \
  extern "C" __global__ void __launch_bounds__(128)                  \
      tensors_##name(__grid_constant__ params_of<tensors> const p) { \
    tensors::run(p);                                                 \
  }                                                                  \
  extern "C" __global__ void __launch_bounds__(128)                  \
      hand_##name(__grid_constant__ params_of<hand> const p) {       \
    hand::run(p);                                                    \
  }

template <place P>
using element_t = element_kernel<P, with_tensors>;
template <place P>
using element_h = element_kernel<P, by_hand>;

X(tile, tile_kernel<with_tensors>, tile_kernel<by_hand>)
X(swizzled_element, element_t<place::swizzled_tile>, element_h<place::swizzled_tile>)
X(nested_element, element_t<place::nested>, element_h<place::nested>)
X(index_by_6, element_t<place::index_by_6>, element_h<place::index_by_6>)
X(run_time_tile, run_time_kernel<with_tensors>, run_time_kernel<by_hand>)
X(ring, ring_kernel<with_tensors>, ring_kernel<by_hand>)
X(ragged, ragged_kernel<with_tensors>, ragged_kernel<by_hand>)
#undef X

}  // namespace tw_test
