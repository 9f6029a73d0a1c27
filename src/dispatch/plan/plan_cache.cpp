// SPDX-License-Identifier: Apache-2.0
// plan_cache.cpp  A hash map with a lock.
#include "dispatch/plan/plan_cache.hpp"

#include <bit>
#include <mutex>
#include <unordered_map>

#include "base/fork_safe.hpp"
#include "dispatch/plan/gated.hpp"
#include "tilewright/problem/operand.hpp"

namespace tw {
namespace {

struct cache {
  fork_safe_mutex mutex;
  std::unordered_map<plan_key, std::shared_ptr<gemm_plan const>, plan_key_hash> plans;
};

cache& the_cache() {
  static cache c;
  return c;
}

}  // namespace

/// Equal keys have equal hashes; a comparison distinguishes what the hash leaves out.
std::size_t plan_key_hash::operator()(plan_key const& k) const {
  std::uint64_t h = 0;
  auto const mix = [&](std::int64_t x) {
    h = (h ^ static_cast<std::uint64_t>(x)) * 0x9E3779B97F4A7C15ULL;
    h ^= h >> 32;
  };
  gemm_problem const& p = k.problem;
  mix(p.m), mix(p.n), mix(p.k), mix(p.batch);
  std::int64_t kinds = p.c ? 1 : 0;
  for (role const x : {role::a, role::b, role::d}) {
    matrix_desc const& m = *matrix_of(p, x);
    mix(m.pitch_elems), mix(m.batch_stride_elems);
    kinds = kinds * 64 + static_cast<int>(m.type) * 2 + static_cast<int>(m.ord);
  }
  mix(kinds);
  mix(std::bit_cast<std::int32_t>(p.alpha + 0.0F));  // -0 and 0 are equal
  mix(std::bit_cast<std::int32_t>(p.beta + 0.0F));
  gemm_epilogue const& e = p.epilogue;
  std::int64_t vectors = 0;
  for (operand_row const& r : operand_rows)
    if (r.vector != nullptr) vectors = vectors * 4 + static_cast<int>((e.*r.vector).over);
  mix(static_cast<int>(e.act) + 256 * static_cast<int>(e.gate) + 1024 * vectors);
  mix(k.workspace_bytes), mix(k.sm_count), mix(k.ordinal), mix(k.aligned);
  mix(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(k.model)));
  return static_cast<std::size_t>(h);
}

plan_key key_of(gemm_problem const& p, gemm_operands const& o, device const& dev, int ordinal) {
  unsigned aligned = 0;
  for (operand_row const& r : operand_rows)
    if (reinterpret_cast<std::uintptr_t>(address(o, r.is)) % 16 == 0)
      aligned |= 1U << static_cast<int>(r.is);
  return {p, o.workspace_bytes, dev.model.get(), dev.sm_count, ordinal, aligned};
}

namespace {

template <class Plan>
std::shared_ptr<gemm_plan const> found_or_made(plan_key const& key, Plan const& make) {
  cache& c = the_cache();
  {
    std::scoped_lock const lock(c.mutex);
    if (auto const found = c.plans.find(key); found != c.plans.end()) return found->second;
  }
  // Outside of the lock: two threads may plan the same problem, and agree.
  auto plan = std::make_shared<gemm_plan const>(make());
  std::scoped_lock const lock(c.mutex);
  if (c.plans.size() >= most_cached_plans) c.plans.clear();
  return c.plans.emplace(key, std::move(plan)).first->second;
}

}  // namespace

std::shared_ptr<gemm_plan const> cached_plan(gemm_problem const& p, gemm_operands const& o,
                                             device const& dev, int ordinal) {
  return found_or_made(key_of(p, o, dev, ordinal), [&] { return plan_gemm(p, o, dev); });
}
std::shared_ptr<gemm_plan const> cached_gated_plan(gemm_problem const& p, gemm_operands const& o,
                                                   device const& dev, int ordinal) {
  plan_key key = key_of(p, o, dev, ordinal);
  key.gated = true;
  return found_or_made(key, [&] { return plan_gated(p, o, dev); });
}

std::size_t cached_plans() {
  cache& c = the_cache();
  std::scoped_lock const lock(c.mutex);
  return c.plans.size();
}

void forget_plans() {
  cache& c = the_cache();
  std::scoped_lock const lock(c.mutex);
  c.plans.clear();
}

}  // namespace tw
