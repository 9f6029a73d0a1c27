// SPDX-License-Identifier: Apache-2.0
// build_family.hpp  Compiles the emulated kernels of a family.
#pragma once

#include "registry/emu/families.hpp"
#include "tilewright/kernel/gemm_sm90.hpp"

namespace tw::registry {

struct emu_maker {
  template <gemm_config C>
  static constexpr emu_launcher launcher() {
    return [](int ctas, gemm_params const& p, emu::options const& o) {
      launch<gemm_sm90<C>>(ctas, p, o);
    };
  }
};

template <elem AB, elem D, operand_major A, operand_major B>
family<emu_launcher> emu_family() {
  return make_family<emu_launcher, AB, D, A, B>(emu_maker{});
}

}  // namespace tw::registry
