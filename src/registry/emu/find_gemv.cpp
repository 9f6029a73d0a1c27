// SPDX-License-Identifier: Apache-2.0
// find_gemv.cpp  The emulated GEMV kernels that are compiled in.
#include "registry/emu/gemv_families.hpp"

namespace tw::registry {

namespace {
struct families {
  template <elem AB, elem D>
  static gemv_family<gemv_emu_launcher> get() {
    return emu_gemv_family<AB, D>();
  }
};
}  // namespace

gemv_emu_launcher find_emu(gemv_config const& c) {
  return find_gemv_in<gemv_emu_launcher, families>(c);
}

}  // namespace tw::registry
