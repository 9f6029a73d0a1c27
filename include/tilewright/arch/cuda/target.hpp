// SPDX-License-Identifier: Apache-2.0
// target.hpp  The architecture that a unit is compiled for. A name that it lacks is refused where
//             a kernel uses it, and nowhere else.
//
//     template <class Target = detail::this_target>
//     TW_DEVICE void wgmma_commit() {
//       detail::need_sm90a<Target>();     // the template argument delays the check until the use
//       asm volatile(...);
//     }
//
// The target of a name is written in arch/names.def.
// Source: NVCC, "Architecture-Specific Features", "Family-Specific Features".
// Test:   tests/fail/target_*.cpp, tests/arch/names_test.py
#pragma once

#include "tilewright/base/hd.hpp"

namespace tw::detail {

/// The host pass reads device functions too, and emits none of them: nothing is refused there.
struct this_target {
#if !defined(__CUDA_ARCH__)
  static constexpr bool sm90 = true, sm90a = true, sm100f = true, setmaxnreg = true;
#else
  static constexpr bool sm90 = __CUDA_ARCH__ >= 900;
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  static constexpr bool sm90a = true;
#else
  static constexpr bool sm90a = false;
#endif
#if defined(__CUDA_ARCH_FAMILY_SPECIFIC__)  // 900: sm_90a; 1000: sm_100f, sm_100a; ...
  static constexpr bool sm100f =
      __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1000 && __CUDA_ARCH_FAMILY_SPECIFIC__ < 1200;
  static constexpr bool setmaxnreg = true;
#else
  static constexpr bool sm100f = false;
  static constexpr bool setmaxnreg = sm90a;
#endif
#endif
};

template <class Target>
TW_HD constexpr void need_sm90() {
  static_assert(Target::sm90, "[TW0301] this name needs sm_90 or later: build for sm_90a or newer");
}
/// wgmma, which no other architecture has.
template <class Target>
TW_HD constexpr void need_sm90a() {
  static_assert(Target::sm90a,
                "[TW0301] this name needs sm_90a: -gencode arch=compute_90a,code=sm_90a");
}
/// tcgen05 and tensor memory: sm_100f, sm_103f, sm_110f and their "a" targets.
template <class Target>
TW_HD constexpr void need_sm100f() {
  static_assert(Target::sm100f,
                "[TW0301] this name needs sm_100f: -gencode arch=compute_100f,code=sm_100f");
}
template <class Target>
TW_HD constexpr void need_setmaxnreg() {
  static_assert(Target::setmaxnreg,
                "[TW0301] this name needs sm_90a, or sm_100f and later: "
                "-gencode arch=compute_90a,code=sm_90a");
}

}  // namespace tw::detail
