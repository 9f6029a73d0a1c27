// SPDX-License-Identifier: Apache-2.0
// ladder_rungs.cu  The rungs of ladder, compiled for the GPU.
#include "tools/command/ladder/ladder_rungs.hpp"

#include "ladder/01_naive.hpp"
#include "ladder/02_tensor_cores.hpp"
#include "ladder/03_larger_tiles.hpp"
#include "ladder/04_warp_specialised.hpp"
#include "ladder/05_two_consumers.hpp"
#include "ladder/06_persistent.hpp"
#include "ladder/07_mbarriers.hpp"
#include "ladder/08_clusters.hpp"
#include "ladder/09_streaming_stores.hpp"
#include "ladder/10_async_stores.hpp"
#include "ladder/11_hilbert.hpp"
#include "ladder/side/dsmem.hpp"
#include "ladder/side/fp8_scales.hpp"
#include "ladder/side/multistage.hpp"
#include "ladder/side/pingpong.hpp"
#include "ladder/side/stores.hpp"
#include "tools/measure/gpu/check.hpp"

namespace tw::bench {

namespace {

template <class Kernel, class Problem>
rung_launch launch_of(Problem const& x) {
  typename Kernel::params const p = Kernel::params_of(x);
  return [p, ctas = Kernel::ctas(x)](cudaStream_t stream) {
    check(launch<Kernel>(ctas, p, stream), "launch of a rung");
  };
}

template <class Kernel>
rung_launch prepare(gemm_operands const& o, int size, int sms) {
  return launch_of<Kernel>(ladder::problem{static_cast<bf16 const*>(o.a),
                                           static_cast<bf16 const*>(o.b), static_cast<bf16*>(o.d),
                                           size, size, size, size, size, size, sms, target::gpu});
}

/// For a kernel that stores D by columns: it computes D^T = B A^T, which by columns is D by rows.
template <class Kernel>
rung_launch prepare_by_columns(gemm_operands const& o, int size, int sms) {
  return launch_of<Kernel>(ladder::problem{static_cast<bf16 const*>(o.b),
                                           static_cast<bf16 const*>(o.a), static_cast<bf16*>(o.d),
                                           size, size, size, size, size, size, sms, target::gpu});
}

rung_launch prepare_fp8(gemm_operands const& o, int size, int) {
  using kernel = ladder::side_fp8_scales;
  return launch_of<kernel>(
      kernel::problem{static_cast<e4m3 const*>(o.a), static_cast<e4m3 const*>(o.b),
                      static_cast<float const*>(o.scale_a), static_cast<float const*>(o.scale_b),
                      static_cast<bf16*>(o.d), size, size, size, target::gpu});
}

template <class Kernel>
gpu_rung row(int number, char const* name, char const* step, bool any_shape = false) {
  std::array<int, 3> tile{Kernel::bm, Kernel::bn, Kernel::bk};
  if (any_shape) tile = {1, 1, 1};
  return {number, name, step, tile, false, prepare<Kernel>};
}

/// D by columns.
template <class Kernel>
gpu_rung by_columns(int number, char const* name, char const* step, bool any_shape = false) {
  gpu_rung made = row<Kernel>(number, name, step, any_shape);
  made.prepare = prepare_by_columns<Kernel>;
  return made;
}

}  // namespace

std::vector<gpu_rung> const& gpu_rungs() {
  using namespace ladder;
  constexpr config plain{};
  constexpr config same_registers{.set_registers = false}, consecutive{.grouped = false};
  static std::vector<gpu_rung> const all = {
      row<rung_01<plain>>(1, "01_naive", ""),
      row<rung_02<plain>>(2, "02_tensor_cores", ""),
      row<rung_03<plain>>(3, "03_larger_tiles", ""),
      row<rung_04<plain>>(4, "04_warp_specialised", ""),
      row<rung_05<same_registers>>(5, "05_two_consumers", "without setmaxnreg"),
      row<rung_05<plain>>(5, "05_two_consumers", ""),
      row<rung_06<consecutive>>(6, "06_persistent", "consecutive tiles"),
      row<rung_06<plain>>(6, "06_persistent", ""),
      row<rung_07<plain>>(7, "07_mbarriers", ""),
      row<rung_08<plain>>(8, "08_clusters", "", true),
      row<rung_09<plain>>(9, "09_streaming_stores", "", true),
      row<rung_10<plain>>(10, "10_async_stores", "", true),
      row<rung_11<plain>>(11, "11_hilbert", "", true),
  };
  return all;
}

std::vector<gpu_rung> const& gpu_side_rungs() {
  using namespace ladder;
  constexpr config one{.stages = 1}, two{.stages = 2}, three{.stages = 3};
  constexpr config two_1{.stages = 2, .in_flight = 1}, three_1{.stages = 3, .in_flight = 1};
  constexpr config plain{}, plain_d{.swizzled_d = false}, columns{.d_by_rows = false};
  constexpr config elements{.pairs = false, .streamed = false}, pairs{.streamed = false};
  constexpr config column_elements{.d_by_rows = false, .pairs = false, .streamed = false};
  static std::vector<gpu_rung> const all = {
      row<side_multistage<one>>(3, "side_multistage", "1 stage, wait_group<0>"),
      row<side_multistage<two>>(3, "side_multistage", "2 stages, wait_group<0>"),
      row<side_multistage<three>>(3, "side_multistage", "3 stages, wait_group<0>"),
      row<side_multistage<two_1>>(3, "side_multistage", "2 stages, wait_group<1>"),
      row<side_multistage<three_1>>(3, "side_multistage", "3 stages, wait_group<1>"),
      {3,
       "side_fp8_scales",
       "e4m3, scales of 1x128",
       {side_fp8_scales::bm, side_fp8_scales::bn, side_fp8_scales::bk},
       true,
       prepare_fp8},
      by_columns<rung_05<columns>>(5, "05_two_consumers", "D by columns"),
      by_columns<rung_06<columns>>(6, "06_persistent", "D by columns"),
      row<side_pingpong<plain>>(7, "side_pingpong", "two consumers in turns"),
      by_columns<rung_07<columns>>(7, "07_mbarriers", "D by columns"),
      row<side_dsmem<plain>>(8, "side_dsmem", "distributed shared memory", true),
      by_columns<rung_08<columns>>(8, "08_clusters", "D by columns", true),
      row<side_stores<elements>>(9, "side_stores", "elements", true),
      row<side_stores<pairs>>(9, "side_stores", "pairs, not streamed", true),
      by_columns<side_stores<column_elements>>(9, "side_stores", "elements, D by columns", true),
      row<rung_10<plain_d>>(10, "10_async_stores", "D without a swizzle", true),
  };
  return all;
}

}  // namespace tw::bench
