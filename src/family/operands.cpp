// SPDX-License-Identifier: Apache-2.0
// operands.cpp  The pointers of a problem: present, and aligned to their element.
#include <fmt/format.h>

#include <algorithm>

#include "family/bind.hpp"
#include "family/workspace.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw {

namespace {

/// "address of A", "address of the bias (gemm_operands::bias)".
std::string address_text(operand_row const& r) {
  if (r.is <= role::d) return fmt::format("address of {}", r.text);
  return fmt::format("address of {} (gemm_operands::{})", r.text, r.field);
}

/// Makes no text unless it refuses: each launch checks its operands, and allocates nothing.
void check_pointer(operand_desc const& x, void const* at) {
  if (at == nullptr)
    throw rejected({"TW0408", address_text(row_of(x.is)), "nullptr",
                    "the address of the matrix on the device that runs the GEMM", ""});
  auto const value = reinterpret_cast<std::uintptr_t>(at);
  auto const align = static_cast<std::uintptr_t>(std::max(1, size_bytes(x.type)));
  if (value % align != 0)
    throw rejected({"TW0409", address_text(row_of(x.is)), fmt::format("{:#x}", value),
                    fmt::format("a multiple of {}, the size of an element", align), ""});
}

void check_array(operand_desc const& x, void const* array) {
  if (array != nullptr && reinterpret_cast<std::uintptr_t>(array) % 8 == 0) return;
  throw rejected({"TW0408", fmt::format("array of addresses of {}", row_of(x.is).text),
                  fmt::format("{}", fmt::ptr(array)),
                  "as many addresses as the batch has matrices, in the memory of the device that "
                  "runs the GEMM",
                  ""});
}

}  // namespace

void check_operands(gemm_problem const& p, gemm_operands const& o) {
  for (operand_desc const& x : operands_of(p))
    if (x.by_pointers)
      check_array(x, address_array(o, x.is));
    else
      check_pointer(x, address(o, x.is));
  for (role const x : a_and_b)
    if (weights(p, x) && reinterpret_cast<std::uintptr_t>(address(o, x)) % 16 != 0)
      throw rejected({"TW0409", fmt::format("address of {}, prepared weights", row_of(x).text),
                      fmt::format("{}", fmt::ptr(address(o, x))),
                      "a multiple of 16: bulk copies read them", ""});
  auto const numbers = reinterpret_cast<std::uintptr_t>(o.groups);
  if (p.groups && numbers % (p.groups->index_bits / 8) != 0)
    throw rejected({"TW0409", "address of the sizes of the groups",
                    fmt::format("{}", fmt::ptr(o.groups)),
                    fmt::format("a multiple of {}", p.groups->index_bits / 8), ""});
  if (p.groups && reinterpret_cast<std::uintptr_t>(o.group_status) % sizeof(std::uint32_t) != 0)
    throw rejected({"TW0409", "address of the status of the groups",
                    fmt::format("{}", fmt::ptr(o.group_status)), "a multiple of 4", ""});
}

void check_workspace(gemm_plan const& plan, gemm_operands const& o) {
  std::int64_t const touched = workspace_of(plan).bytes;
  if (touched == 0 && o.workspace_bytes == 0) return;
  bool const there = o.workspace != nullptr && o.workspace_bytes >= touched;
  if (there && reinterpret_cast<std::uintptr_t>(o.workspace) % 256 == 0) return;
  std::string const got = fmt::format("{} bytes at {}", o.workspace_bytes, fmt::ptr(o.workspace));
  if (touched == 0)
    throw rejected({"TW0410", "workspace", got,
                    "none (no address, 0 bytes), which is enough for this plan, or as many bytes "
                    "as said at a multiple of 256",
                    ""});
  throw rejected({"TW0410", "workspace", got,
                  fmt::format("{} bytes at a multiple of 256, the first {} of them zero", touched,
                              gemm_workspace_zeros),
                  "plan with the operands that the launch will have: gemm_plan::workspace_bytes is "
                  "what it needs, gemm_workspace_bytes() serves every plan"});
}

}  // namespace tw
