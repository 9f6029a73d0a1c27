// SPDX-License-Identifier: Apache-2.0
// cluster_launch.hpp  Cluster launch control: a running cluster takes the work of one that has not
//                     been launched yet. PTX ISA, "clusterlaunchcontrol".
//
// One thread of a cluster makes the request; the answer comes by the async proxy, and 16 bytes are
// credited to `landed`. After an answer that names no cluster the cluster may make no other
// request.
#pragma once

#include "tilewright/arch/cuda/mbarrier.hpp"
#include "tilewright/arch/cuda/target.hpp"
#include "tilewright/arch/launch_response.hpp"
#include "tilewright/arch/types.hpp"

namespace tw {

/// The answer comes to this CTA. PTX ISA, "clusterlaunchcontrol.try_cancel".
template <class Target = detail::this_target>
TW_DEVICE void launch_cancel(launch_response& answer, mbarrier& landed) {
  detail::need_sm100f<Target>();
  asm volatile(
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
      "[%0], [%1];" ::"r"(smem_addr(&answer)),
      "r"(smem_addr(&landed))
      : "memory");
}
/// The answer comes to the same place in every CTA of the cluster, whose barrier there gets 16
/// bytes. PTX ISA, "clusterlaunchcontrol.try_cancel": .multicast::cluster::all.
template <class Target = detail::this_target>
TW_DEVICE void launch_cancel_multicast(launch_response& answer, mbarrier& landed) {
  detail::need_sm100f<Target>();
  asm volatile(
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
      ".multicast::cluster::all.b128 [%0], [%1];" ::"r"(smem_addr(&answer)),
      "r"(smem_addr(&landed))
      : "memory");
}

/// Does the answer name a cluster, which will not be launched?
/// PTX ISA, "clusterlaunchcontrol.query_cancel": is_canceled.
template <class Target = detail::this_target>
TW_DEVICE bool launch_cancelled(launch_response const& answer) {
  detail::need_sm100f<Target>();
  std::uint32_t is;
  asm volatile(
      "{\n.reg .b128 r;\n.reg .pred p;\n"
      "mov.b128 r, {%1, %2};\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r;\n"
      "selp.u32 %0, 1, 0, p;\n}"
      : "=r"(is)
      : "l"(answer.bits[0]), "l"(answer.bits[1])
      : "memory");
  return is != 0;
}
/// The place in the grid of that cluster's first CTA.
/// PTX ISA, "clusterlaunchcontrol.query_cancel": get_first_ctaid.
template <class Target = detail::this_target>
TW_DEVICE extents3 launch_cancelled_cta(launch_response const& answer) {
  detail::need_sm100f<Target>();
  int x, y, z;
  asm volatile(
      "{\n.reg .b128 r;\n.reg .b32 w;\n"
      "mov.b128 r, {%3, %4};\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%0, %1, %2, w}, r;\n}"
      : "=r"(x), "=r"(y), "=r"(z)
      : "l"(answer.bits[0]), "l"(answer.bits[1])
      : "memory");
  return {x, y, z};
}

}  // namespace tw
