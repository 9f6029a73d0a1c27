// SPDX-License-Identifier: Apache-2.0
// registers.hpp  Register budget, and order between dependent launches.
#pragma once

#include "tilewright/arch/cuda/target.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// Raises the warpgroup's budget to R registers per thread, once the CTA has them free.
/// PTX ISA, "setmaxnreg".
template <int R, class Target = detail::this_target>
TW_DEVICE void set_max_regs_inc() {
  detail::need_setmaxnreg<Target>();
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(R));
}
/// Gives back all registers above R per thread. PTX ISA, "setmaxnreg".
template <int R, class Target = detail::this_target>
TW_DEVICE void set_max_regs_dec() {
  detail::need_setmaxnreg<Target>();
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(R));
}

/// Does the target have the two below? If it has not, a launch begins when the one before it has
/// ended.
TW_DEVICE constexpr bool dependent_launches() { return detail::this_target::sm90; }
/// Waits until the grids this one depends on have completed and their writes are visible.
/// PTX ISA, "griddepcontrol".
TW_DEVICE void grid_dependency_wait() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
/// Lets dependent grids start once all CTAs have said so. PTX ISA, "griddepcontrol".
TW_DEVICE void grid_dependents_launch() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

}  // namespace tw
