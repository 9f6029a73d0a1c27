// SPDX-License-Identifier: Apache-2.0
// operands.cpp  The pointers of a product: present, and aligned to their element.
#include <fmt/format.h>

#include "dispatch/params.hpp"

namespace tw {

void check_operands(gemm_problem const& p, gemm_operands const& o) {
  struct pointer {
    char const* name;
    void const* value;
    void const* array;
    matrix_desc const& matrix;
  };
  matrix_desc const& c = p.c ? *p.c : p.d;
  pointer const all[] = {{"A", o.a, o.a_array, p.a},
                         {"B", o.b, o.b_array, p.b},
                         {"D", o.d, o.d_array, p.d},
                         {"C", p.c ? o.c : o.d, p.c ? o.c_array : o.d_array, c}};
  for (pointer const& x : all) {
    if (x.matrix.has_pointers()) {
      if (x.array == nullptr || reinterpret_cast<std::uintptr_t>(x.array) % 8 != 0)
        throw rejected({"TW0408", fmt::format("array of addresses of {}", x.name),
                        fmt::format("{}", fmt::ptr(x.array)),
                        "the address of `batch` pointers on the device that runs the product", ""});
      continue;
    }
    if (x.value == nullptr)
      throw rejected({"TW0408", fmt::format("address of {}", x.name), "nullptr",
                      "the address of the matrix on the device that runs the product", ""});
    auto const address = reinterpret_cast<std::uintptr_t>(x.value);
    auto const align = static_cast<std::uintptr_t>(size_bytes(x.matrix.type));
    if (address % align != 0)
      throw rejected({"TW0409", fmt::format("address of {}", x.name), fmt::format("{:#x}", address),
                      fmt::format("a multiple of {}, the size of an element", align), ""});
  }
}

void check_workspace(gemm_plan const& plan, gemm_operands const& o) {
  if (plan.workspace_bytes == 0 && o.workspace_bytes == 0) return;
  bool const there = o.workspace != nullptr && o.workspace_bytes >= plan.workspace_bytes;
  if (there && reinterpret_cast<std::uintptr_t>(o.workspace) % 256 == 0) return;
  throw rejected({"TW0410", "workspace",
                  fmt::format("{} bytes at {}", o.workspace_bytes, fmt::ptr(o.workspace)),
                  fmt::format("{} bytes at a multiple of 256, the first {} of them zero",
                              plan.workspace_bytes, gemm_workspace_zeros),
                  "plan with the operands that the launch will have; gemm_workspace_bytes() serves "
                  "every plan"});
}

}  // namespace tw
