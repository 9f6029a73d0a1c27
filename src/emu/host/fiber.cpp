// SPDX-License-Identifier: Apache-2.0
// fiber.cpp  Fibers by Boost.Context: its fcontext functions, which switch in about 9 ns. (Its
//            public class unwinds the stack of a fiber that is abandoned by an exception through
//            the kernel's frames; here an abandoned stack is just used again.)
#include "emu/host/fiber.hpp"

#include <boost/context/detail/fcontext.hpp>
#include <cstdlib>
#include <utility>

namespace tw::emu {

namespace context = boost::context::detail;

/// The data that one side of a switch passes to the other.
struct fiber_switch {
  fiber& from;
  fiber& to;

  /// The code of `to` runs on from here.
  static fiber& arrived(context::transfer_t t) {
    fiber_switch const s = *static_cast<fiber_switch*>(t.data);
    s.from.context_ = t.fctx;
    after_switch(s.to.stack_, s.from.stack_);
    return s.to;
  }
  static void first(context::transfer_t t) {
    arrived(t).entry_();
    std::abort();  // entry() has returned
  }
};

void fiber::start(std::byte* lowest, std::size_t bytes, std::size_t unused, void (*entry)()) {
  lowest_ = lowest;
  entry_ = entry;
  context_ = context::make_fcontext(lowest + bytes - unused, bytes - unused, &fiber_switch::first);
  stack_ = {lowest, bytes};
}

void fiber::switch_to(fiber& from, fiber& to) {
  fiber_switch s{from, to};
  before_switch(from.stack_, to.stack_);
  void* const context = std::exchange(to.context_, nullptr);
  fiber_switch::arrived(context::jump_fcontext(context, &s));
}

void fiber::leave(fiber& from, fiber& to) {
  switch_to(from, to);
  std::abort();  // something has switched back
}

}  // namespace tw::emu
