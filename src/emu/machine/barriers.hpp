// SPDX-License-Identifier: Apache-2.0
// barriers.hpp  Barriers of threads (CTA, named, cluster, warp) and mbarriers.
#pragma once

#include "emu/machine/state.hpp"

namespace tw::emu {

class machine;

class barriers {
 public:
  explicit barriers(machine& m) : m_(m) {}

  void arrive(group_barrier& b, int expected, bool release = true);
  void finish_round(group_barrier& b, hazard::checker* check);
  void warp_sync(thread& t, site where);
  void cta_sync(thread& t, site where);
  /// E0053 if the lanes of a warp do not execute the same barrier instructions.
  void check_converged(thread& t, std::string_view name, int id, int threads, site where);
  /// setmaxnreg: an increase waits until the CTA's pool has the registers.
  void set_max_regs(thread& t, int registers, bool more, site where);
  /// The thread has ended: barriers of all threads go on without it.
  void left_by(thread const& t);

  /// Offset in shared memory of the mbarrier at `word`; E0047 if it is not a multiple of 8.
  std::uint32_t offset_of(cta_state& c, void const* word, site where);
  /// The initialised mbarrier at `word`; E0002 if none was initialised there.
  mbarrier_state& at(cta_state& c, void const* word, site where);
  /// The mbarrier at `word`, without a report; null: none was initialised there.
  mbarrier_state* find(cta_state& c, void const* word, std::uint32_t offset) const;
  /// A new one at `word`, `offset` in shared memory; E0056 if an mbarrier lies there already.
  mbarrier_state& create(cta_state& c, void* word, std::uint32_t offset, int arrivals, site where);
  void arrive(cta_state& c, mbarrier_state& b, int count, arrive_order order, site where);
  /// Thread t is one of the barrier's phase.
  static void arrives(thread const& t, mbarrier_state& b);
  /// E0080 where something may still use it.
  void inval(mbarrier_state& b, site where);
  /// The cp.async of `t` before `until` (state.hpp) have landed.
  void copies_arrived(thread& t, mbarrier_state& b, std::uint32_t until, site where);
  /// False: a try_wait whose phase has not completed.
  bool wait(void* bar, std::uint32_t parity, hazard::wait_order order, bool may_fail, site where);
  void complete_if_done(cta_state& c, mbarrier_state& b);
  void store_async(cta_state& c, std::uint32_t offset, void const* value, std::uint32_t bytes,
                   mbarrier_state& b, site where);

 private:
  void check_free(cta_state& c, void const* word, std::uint32_t offset, site where);
  void check_registers(cta_state const& c);
  [[noreturn]] void report_use_after_inval(cta_state const& c, mbarrier_state const& b, site where);
  [[noreturn]] void stop_inval_in_use(cta_state const& c, mbarrier_state const& b,
                                      std::string const& cause, site earlier, site where);
  void report_early_phase(cta_state const& c, mbarrier_state const& b);
  void report_missed_phase(thread const& t, mbarrier_state const& b, std::uint32_t phase,
                           site where);

  machine& m_;
};

}  // namespace tw::emu
