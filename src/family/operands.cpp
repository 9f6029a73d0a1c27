// SPDX-License-Identifier: Apache-2.0
// operands.cpp  The pointers of a problem: present, and aligned to their element.
#include <fmt/format.h>

#include <algorithm>

#include "family/bind.hpp"
#include "family/workspace.hpp"

namespace tw {

namespace {

void check_pointer(char const* name, void const* value, elem type) {
  if (value == nullptr)
    throw rejected({"TW0408", fmt::format("address of {}", name), "nullptr",
                    "the address of the matrix on the device that runs the GEMM", ""});
  auto const address = reinterpret_cast<std::uintptr_t>(value);
  auto const align = static_cast<std::uintptr_t>(std::max(1, size_bytes(type)));
  if (address % align != 0)
    throw rejected({"TW0409", fmt::format("address of {}", name), fmt::format("{:#x}", address),
                    fmt::format("a multiple of {}, the size of an element", align), ""});
}

}  // namespace

void check_operands(gemm_problem const& p, gemm_operands const& o) {
  auto const check = [](char const* name, matrix_desc const& m, void const* matrix,
                        void const* array) {
    if (!m.has_pointers()) return check_pointer(name, matrix, m.type);
    if (array != nullptr && reinterpret_cast<std::uintptr_t>(array) % 8 == 0) return;
    throw rejected({"TW0408", fmt::format("array of addresses of {}", name),
                    fmt::format("{}", fmt::ptr(array)),
                    "the address of `batch` pointers on the device that runs the GEMM", ""});
  };
  if (p.k != 0) {  // else they are not read
    check("A", p.a, o.a, o.a_array);
    check("B", p.b, o.b, o.b_array);
  }
  check("D", p.d, o.d, o.d_array);
  if (p.c) check("C", *p.c, o.c, o.c_array);
  gemm_epilogue const& e = p.epilogue;
  if (e.bias != along::none) check_pointer("the bias (gemm_operands::bias)", o.bias, e.bias_type);
  if (e.row_scale)
    check_pointer("the row scale (gemm_operands::row_scale)", o.row_scale, elem::f32);
  if (e.col_scale)
    check_pointer("the column scale (gemm_operands::col_scale)", o.col_scale, elem::f32);
  if (p.scale_a && p.k > 0)
    check_pointer("the scales of A (gemm_operands::scale_a)", o.scale_a, p.scale_a->type);
  if (p.scale_b && p.k > 0)
    check_pointer("the scales of B (gemm_operands::scale_b)", o.scale_b, p.scale_b->type);
  auto const check_second = [](char const* name, std::optional<scale_desc> const& s,
                               float const* level) {
    if (s && s->second_level) check_pointer(name, level, elem::f32);
  };
  check_second("the second level of A's scales (gemm_operands::second_level_a)", p.scale_a,
               o.second_level_a);
  check_second("the second level of B's scales (gemm_operands::second_level_b)", p.scale_b,
               o.second_level_b);
  if (p.scale_d)
    check_pointer("the scales of D (gemm_operands::scale_d)", o.scale_d,
                  p.scale_d->desc.second_level ? elem::f32 : p.scale_d->desc.type);
  if (!p.aux) return;
  check_pointer("the auxiliary output (gemm_operands::aux)", o.aux, p.aux->type);
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
