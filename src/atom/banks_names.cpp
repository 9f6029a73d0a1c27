// SPDX-License-Identifier: Apache-2.0
// banks_names.cpp  Accesses by name: ld.8 to st.128, ldmatrix.x4.trans, wgmma, tma.
#include <fmt/format.h>

#include "tilewright/atom/bank_proposal.hpp"

namespace tw {
namespace {

std::vector<access_kind> all_accesses() {
  std::vector<access_kind> all;
  for (int const bits : {8, 16, 32, 64, 128}) all.push_back(ld_access(bits));
  for (int const bits : {8, 16, 32, 64, 128}) all.push_back(st_access(bits));
  for (smem_op const op : {smem_op::ldmatrix, smem_op::stmatrix}) {
    for (bool const transposed : {false, true}) {
      for (int const n : {1, 2, 4}) all.push_back({op, 128, n, transposed});
    }
  }
  all.push_back(wgmma_access);
  all.push_back(tma_access);
  return all;
}

}  // namespace

std::string name_of(access_kind k) {
  switch (k.op) {
    case smem_op::ld: return fmt::format("ld.{}", k.bits);
    case smem_op::st: return fmt::format("st.{}", k.bits);
    case smem_op::wgmma: return "wgmma";
    case smem_op::tma: return "tma";
    default: break;
  }
  return fmt::format("{}.x{}{}", k.op == smem_op::ldmatrix ? "ldmatrix" : "stmatrix", k.matrices,
                     k.transposed ? ".trans" : "");
}

std::vector<std::string> access_names() {
  std::vector<std::string> names;
  for (access_kind const k : all_accesses()) names.push_back(name_of(k));
  return names;
}

std::optional<access_kind> access_named(std::string_view name) {
  for (access_kind const k : all_accesses()) {
    if (name_of(k) == name) return k;
  }
  return {};
}

}  // namespace tw
