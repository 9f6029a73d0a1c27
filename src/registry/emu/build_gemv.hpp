// SPDX-License-Identifier: Apache-2.0
// build_gemv.hpp  Compiles the emulated GEMV kernels of a family.
#pragma once

#include "registry/emu/gemv_families.hpp"
#include "tilewright/kernel/gemv.hpp"

namespace tw::registry {

struct emu_gemv_maker {
  template <gemv_config C>
  static constexpr gemv_emu_launcher launcher() {
    return
        [](int ctas, gemv_params const& p, emu::options const& o) { launch<gemv<C>>(ctas, p, o); };
  }
};

template <elem AB, elem D>
gemv_family<gemv_emu_launcher> emu_gemv_family() {
  return make_gemv_family<gemv_emu_launcher, AB, D>(emu_gemv_maker{});
}

}  // namespace tw::registry
