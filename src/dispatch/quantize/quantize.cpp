// SPDX-License-Identifier: Apache-2.0
// quantize.cpp  From a problem to launches, and the launches in the emulator.
#include "dispatch/quantize/quantize.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "tilewright/arch/limits.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/base/elem_traits.hpp"
#include "tilewright/kernel/quantize/quantize.hpp"

namespace tw {
namespace {

std::uintptr_t bits(void const* x) { return reinterpret_cast<std::uintptr_t>(x); }

void check_address(char const* what, void const* x, int align) {
  if (x == nullptr)
    throw rejected({"TW0408", fmt::format("address of {}", what), "nullptr",
                    "an address on the device that runs it", ""});
  if (bits(x) % static_cast<std::uintptr_t>(align) != 0)
    throw rejected({"TW0409", fmt::format("address of {}", what), fmt::format("{:#x}", bits(x)),
                    fmt::format("a multiple of {}", align), ""});
}

/// Can threads read and write four elements along K at once?
bool by_fours(quantize_problem const& p, quantize_operands const& o, std::int64_t block_k) {
  bool const k_contiguous = p.from.ord == order::row_major && p.to.ord == order::row_major;
  int const in_word = std::min(4, 2 * size_bytes(p.from.type));  // 16-bit elements by two
  return k_contiguous && p.k % 4 == 0 && block_k % 4 == 0 && p.from.pitch_elems % 4 == 0 &&
         p.to.pitch_elems % 4 == 0 && bits(o.from) % static_cast<std::uintptr_t>(in_word) == 0 &&
         bits(o.to) % 4 == 0;
}

}  // namespace

quantize_params quantize_params_of(quantize_problem const& p, quantize_operands const& o) {
  if (auto const why = accept(p)) throw rejected(*why);
  check_address("the matrix", o.from, size_bytes(p.from.type));
  check_address("the values", o.to, 1);
  check_address("the scales", o.scales, size_bytes(p.scale.type));
  scale_desc const s = canonical(p.scale, p.outer, p.k);
  // One block is several CTAs' if they have a place for its amax. D of one row, which a GEMM
  // quantises (dispatch/plan/staged.hpp), is one CTA's.
  bool const one_block = s.block_outer == 0 && s.block_k == 0;
  bool const shared = one_block && (p.outer > 1 || o.workspace != nullptr);
  if (shared && !p.given) check_address("the workspace", o.workspace, 4);
  bool const from_rows = p.from.ord == order::row_major, to_rows = p.to.ord == order::row_major;
  quantize_params q{};
  q.from = o.from, q.to = o.to, q.scales = o.scales;
  q.amax = static_cast<std::uint32_t*>(o.workspace);
  q.from_outer = from_rows ? p.from.pitch_elems : 1, q.from_k = from_rows ? 1 : p.from.pitch_elems;
  q.to_outer = to_rows ? p.to.pitch_elems : 1, q.to_k = to_rows ? 1 : p.to.pitch_elems;
  q.scale_outer = s.stride_outer, q.scale_k = s.stride_k;
  q.packed_log2 = std::countr_zero(static_cast<unsigned>(s.packed_k));
  q.outer = p.outer, q.k = p.k;
  q.block_outer = s.block_outer == 0 ? p.outer : s.block_outer;
  q.block_k = s.block_k == 0 ? p.k : s.block_k;
  q.k_blocks = scale_blocks(s.block_k, p.k);
  q.blocks = q.k_blocks * scale_blocks(s.block_outer, p.outer);
  bool const small = q.block_outer * q.block_k <= 1024;
  q.team = small && !shared ? warp_threads : quantize_kernel::threads;
  q.pass = p.given  ? quantize_pass::values
           : shared ? quantize_pass::amax
                    : quantize_pass::whole_blocks;
  q.from_type = p.from.type, q.to_type = p.to.type;
  q.scale_ue8m0 = is_exponent(s.type) ? 1 : 0;
  q.power_of_two = p.power_of_two ? 1 : 0;
  q.given = p.given ? 1 : 0;
  q.by_fours = by_fours(p, o, q.block_k) ? 1 : 0;
  return q;
}

int quantize_ctas(quantize_params const& q, int sm_count) {
  std::int64_t const per_cta = quantize_kernel::threads / q.team;
  std::int64_t const work = q.pass == quantize_pass::whole_blocks
                                ? (q.blocks + per_cta - 1) / per_cta
                                : (q.outer * q.k + 4095) / 4096;
  constexpr int ctas_per_sm = 8;  // as many as fit
  return static_cast<int>(std::min<std::int64_t>(work, std::int64_t{ctas_per_sm} * sm_count));
}

void quantize_emulated(quantize_problem const& p, quantize_operands const& o,
                       emu::options const& given) {
  emu::options options = given;
  options.catch_crashes = given.catch_crashes.value_or(false);
  quantize_params q = quantize_params_of(p, o);
  int const ctas = quantize_ctas(q, std::max(1, options.sms));
  if (q.pass == quantize_pass::amax) {
    *q.amax = 0;
    launch<quantize_kernel>(ctas, q, options);
    q.pass = quantize_pass::values;
  }
  launch<quantize_kernel>(ctas, q, options);
}

}  // namespace tw
