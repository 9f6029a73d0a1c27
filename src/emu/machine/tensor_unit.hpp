// SPDX-License-Identifier: Apache-2.0
// tensor_unit.hpp  tcgen05: tensor memory of the CTAs, its loads and stores, and the multiplies
//                  that threads issue. PTX ISA, "Tensorcore 5th Generation Family Instructions".
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <string>

#include "emu/machine/state.hpp"
#include "emu/umma/umma.hpp"

namespace tw::emu {

class machine;

class tensor_unit {
 public:
  explicit tensor_unit(machine& m) : m_(m) {}

  // Called by a thread; all but the two last are instructions of its whole warp.
  void allocate(std::uint32_t* address, int columns, int ctas, site where);
  void free(std::uint32_t address, int columns, int ctas, site where);
  void relinquish(int ctas, site where);
  void move(tmem_form const& f, std::uint32_t address, std::uint32_t* regs, bool store, site where);
  void wait(bool store, site where);
  void multiply(umma_call const& call, site where);
  void copy(tmem_copy_call const& call, site where);
  void commit(void* bar, int ctas, std::uint32_t mask, bool multicast, site where);

  /// E0108 if the kernel's other instructions are for another number of CTAs.
  void check_group(thread const& t, int ctas, char const* name, site where);
  /// Completes the oldest operation of the thread; the next ones with it if they continue it.
  void complete(thread& t);
  /// Of async_policy::eager: multiplies that continue one another are one of larger K. They wait
  /// for each other until the thread issues another asynchronous operation, accesses tensor memory
  /// or lets another thread run.
  void complete_soon(thread& t);
  void complete_held();
  void forget_held() { held_ = nullptr; }
  /// The threads of the CTA have ended: E0106 if it still holds columns.
  void ended(cta_state const& c);
  /// E0111 if the thread, which ends, has issued multiplies that no commit covers.
  void check_committed(thread const& t);

 private:
  using operands = std::array<std::uint64_t, 4>;
  /// True in the lane that comes last, which executes the instruction and calls part(); the others
  /// wait for that.
  bool meet(thread& t, char const* name, operands const& o, std::uint32_t* regs, site where);
  void part(thread& t);
  tensor_memory& memory_of(cta_state& c);
  /// f(CTA) for those that share the tensor memory of c's SM (options::ctas_per_sm).
  template <class F>
  void each_neighbour(cta_state const& c, F&& f);
  /// The CTA of the same SM that these columns wait for: it holds one of them, or the right to
  /// allocate.
  std::optional<tensor_memory::holder> holder_of(cta_state const& c, int first, int columns);
  /// Columns that are free in all of these CTAs; -1: wait.
  int find_columns(std::initializer_list<cta_state*> ctas, int columns);
  void wake_waiters(cta_state const& c);
  void grant(cta_state& c, tensor_memory::allocation const& a);
  void check_columns(thread const& t, cta_state& c, int first, int columns, char const* what,
                     site where);
  void check_multiply(thread const& t, umma_call const& call, umma_shape const& shape, site where);
  /// E0114 if A of 4 or 6 bits in bytes of tensor memory has other bits that are set.
  void check_padding(thread const& t, cta_state& c, umma_shape const& shape, umma_call const& call,
                     site where);
  void complete_commit(thread& t, tensor_op const& op);
  void complete_multiplies(thread& t);
  void complete_copy(thread& t, tmem_copy_call const& call);
  void count_op(thread& t, site where);
  void check_scales(thread const& t, umma_call const& call, umma_shape const& shape, site where);
  void check_first_lane(thread const& t, tmem_area const& a, std::string const& what,
                        char const* name, site where);
  [[noreturn]] void stop_at_columns(thread const& t, std::string what, std::string cause,
                                    std::string remedy, site where);

  machine& m_;
  thread* held_ = nullptr;  // its last multiplies wait for more
};

}  // namespace tw::emu
