// SPDX-License-Identifier: Apache-2.0
// call.cpp  Checks of a call, its digest and its launches.
#include "dist/call.hpp"

#include <fmt/format.h>

#include "dispatch/plan_cache.hpp"
#include "family/bind.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw::dist {

shards rows_of(group const& g, gemm_problem const& p, call_options const& how) {
  if (p.batch != 1 || p.groups || p.has_pointers())
    throw rejected({"TW0904", "GEMM over several ranks",
                    p.groups ? "groups" : fmt::format("a batch of {}", p.batch), "one GEMM",
                    "a batch is divided without communication: some of its GEMMs to each rank"});
  if (has_weights(p))
    throw rejected({"TW0904", "GEMM over several ranks", "4-bit weights", "other operands",
                    "each rank can multiply its rows of activations without communication"});
  if (!how.rows) return shards::even(p.m, g.ranks());
  bool negative = false;
  for (int r = 0; r < how.rows->ranks(); ++r) negative = negative || how.rows->of(r).size < 0;
  if (how.rows->ranks() != g.ranks() || how.rows->extent() != p.m || negative)
    throw rejected({"TW0903", "rows of the ranks (call_options::rows)", text_of(*how.rows),
                    fmt::format("{} numbers that are not negative, M = {} in all", g.ranks(), p.m),
                    ""});
  return *how.rows;
}

void check_accepted(gemm_problem const& p) {
  if (auto const why = accept(p); why && !computes_nothing(p)) throw rejected(*why);
}

void check_capacity(group const& g, std::int64_t need, std::string const& problem) {
  std::int64_t const got = g.state().options().gathered_bytes;
  if (need <= got) return;
  throw rejected(
      {"TW0902", "receive buffer of the group", fmt::format("{} bytes", got),
       fmt::format("{} bytes for {}", need, problem),
       "group_options::gathered_bytes; tw::dist::gathered_bytes() returns the need of a problem"});
}

std::string text_of(shards const& rows) {
  std::string text;
  for (int r = 0; r < rows.ranks(); ++r)
    text += fmt::format("{}{}", r == 0 ? "" : "+", rows.of(r).size);
  return text;
}

std::uint32_t digest_of(std::string const& text) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

std::int64_t gathered_bytes(operation op, gemm_problem const& p, shards const& rows,
                            bool float32_partials) {
  if (!splits_k(op)) return bytes_of_all_gather(p);
  return bytes_of_reduce(op, p, rows, partial_type(p, float32_partials));
}

emu::options options_of(call_options const& how) {
  emu::options o = how.emulator;
  if (o.os_threads == 0) o.os_threads = 1;
  return o;
}

planned_gemm::planned_gemm(gemm_slice const& s, call_options const& how) : operands_(s.operands) {
  if (computes_nothing(s.problem)) return;
  constexpr int emulator = -1;
  plan_ = cached_plan(s.problem, operands_, emulated_device(options_of(how), how.device), emulator);
  check_operands(s.problem, operands_);
}

void planned_gemm::run(emu::options const& options) const {
  if (plan_) gemm_emulated(*plan_, operands_, options);
}

}  // namespace tw::dist
