// SPDX-License-Identifier: Apache-2.0
// find.cpp  The emulated kernels that are compiled in.
#include "registry/find.hpp"

#include "registry/emu/families.hpp"

namespace tw::registry {

namespace {
struct families {
  template <elem AB, elem D, operand_major A, operand_major B>
  static family<emu_launcher> get() {
    return emu_family<AB, D, A, B>();
  }
};
}  // namespace

emu_launcher find_emu(gemm_config const& c) { return find_in<emu_launcher, families>(c); }

}  // namespace tw::registry
