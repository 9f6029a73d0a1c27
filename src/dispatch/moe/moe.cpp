// SPDX-License-Identifier: Apache-2.0
// moe.cpp  Checks, parameters, and the launches in the emulator.
#include "dispatch/moe/moe.hpp"

#include <fmt/format.h>

#include "tilewright/arch/select.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/moe/rows.hpp"
#include "tilewright/kernel/moe/sort.hpp"
#include "tilewright/problem/groups.hpp"

namespace tw {
namespace {

void need_address(char const* what, void const* x, int align) {
  auto const bits = reinterpret_cast<std::uintptr_t>(x);
  if (x == nullptr)
    throw rejected({"TW0408", fmt::format("address of {}", what), "nullptr",
                    "an address on the device that runs it", ""});
  if (bits % static_cast<std::uintptr_t>(align) != 0)
    throw rejected({"TW0409", fmt::format("address of {}", what), fmt::format("{:#x}", bits),
                    fmt::format("a multiple of {}", align), ""});
}

void need_extent(char const* what, std::int64_t x, std::int64_t least, std::int64_t most) {
  if (x < least || x > most)
    throw rejected(
        {"TW0497", what, fmt::format("{}", x), fmt::format("{} to {}", least, most), ""});
}

/// A launch whose caller does not look at the emulator.
emu::options quiet(emu::options options) {
  options.catch_crashes = options.catch_crashes.value_or(false);
  return options;
}

}  // namespace

void check_moe(moe_launch which, moe_problem const& p, moe_operands const& o) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  need_extent("tokens", p.tokens, 1, most);
  need_extent("choices of a token", p.choices, 1, most / p.tokens);
  need_extent("experts", p.experts, 1, max_groups);
  if (which == moe_launch::sort) {
    need_address("the chosen experts", o.chosen, 4);
    need_address("the ends of the experts", o.ends, 4);
    need_address("the pair at each place", o.source, 4);
    need_address("the place of each pair", o.place, 4);
    return;
  }
  need_extent("columns of a row", p.cols, 1, most);
  for (std::int64_t const pitch : {p.token_pitch, p.pair_pitch})
    if (pitch != 0) need_extent("elements between neighbouring rows", pitch, p.cols, most);
  if (!is_wide_float(p.type))
    throw rejected(
        {"TW0497", "type of the rows", std::string(name(p.type)), "bf16, f16 or f32", ""});
  need_address("the rows that are read", o.from, size_bytes(p.type));
  need_address("the rows that are written", o.to, size_bytes(p.type));
  if (which == moe_launch::gather) {
    need_address("the pair at each place", o.source, 4);
    need_address("the ends of the experts", o.ends, 4);
  } else {
    need_address("the place of each pair", o.place, 4);
  }
}

moe_sort_params sort_params_of(moe_problem const& p, moe_operands const& o) {
  check_moe(moe_launch::sort, p, o);
  return {o.chosen,
          static_cast<int>(p.tokens * p.choices),
          static_cast<int>(p.experts),
          o.counts,
          o.ends,
          o.source,
          o.place};
}

moe_rows_params gather_params_of(moe_problem const& p, moe_operands const& o) {
  check_moe(moe_launch::gather, p, o);
  auto const pitch = [&](std::int64_t x) { return x == 0 ? p.cols : x; };
  return {o.from,
          o.to,
          pitch(p.token_pitch),
          pitch(p.pair_pitch),
          o.source,
          nullptr,
          o.ends + p.experts - 1,
          static_cast<int>(p.tokens * p.choices),
          static_cast<int>(p.choices),
          static_cast<int>(p.cols),
          p.type};
}

moe_rows_params combine_params_of(moe_problem const& p, moe_operands const& o) {
  check_moe(moe_launch::combine, p, o);
  auto const pitch = [&](std::int64_t x) { return x == 0 ? p.cols : x; };
  return {o.from,
          o.to,
          pitch(p.pair_pitch),
          pitch(p.token_pitch),
          o.place,
          o.weights,
          nullptr,
          static_cast<int>(p.tokens),
          static_cast<int>(p.choices),
          static_cast<int>(p.cols),
          p.type,
          p.scattered};
}

void moe_sort_emulated(moe_problem const& p, moe_operands const& o, emu::options const& options) {
  moe_sort_params const q = sort_params_of(p, o);
  launch<moe_sort_kernel>(moe_sort_kernel::ctas(q), q, quiet(options));
}
void moe_gather_emulated(moe_problem const& p, moe_operands const& o, emu::options const& options) {
  moe_rows_params const q = gather_params_of(p, o);
  launch<moe_gather_kernel>(moe_gather_kernel::ctas(q), q, quiet(options));
}
void moe_combine_emulated(moe_problem const& p, moe_operands const& o,
                          emu::options const& options) {
  moe_rows_params const q = combine_params_of(p, o);
  launch<moe_combine_kernel>(moe_combine_kernel::ctas(q), q, quiet(options));
}

}  // namespace tw
