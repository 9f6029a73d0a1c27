// SPDX-License-Identifier: Apache-2.0
// fiber.cpp  Fibers by Asyncify, instead of src/emu/host/fiber.cpp: WebAssembly cannot change its
//            own stack. At a switch the running code returns to JavaScript and writes its frames
//            down; they are read again when something switches back. Only functions that Asyncify
//            has changed can do that, and they are larger: wasm/output.js runs the fibers above the
//            frames of the code that called the emulator, which stay in place, and a fiber that is
//            left for good is left by an exception of JavaScript. So code that calls the emulator,
//            and code that only reports a fault, need no change (decision 0058).
//
// The upper part of a fiber's stack holds emscripten's description of it and room for these frames.
#include "emu/host/fiber.hpp"

#include <emscripten/fiber.h>

#include <cstdlib>

extern "C" {

/// Runs `first`, and the fibers that it switches to, until one switches to `until`. In
/// wasm/output.js, with tw_leave_fiber().
void tw_run_fibers(void* first, void* until);
/// Goes on with `to`, and forgets the frames of the running fiber.
[[noreturn]] void tw_leave_fiber(void* to);

}  // extern "C"

namespace tw::emu {

namespace {

constexpr std::size_t frame_bytes = 24 * 1024;  // of a thread of a kernel, and of the driver
constexpr std::size_t alignment = 16;

std::byte* aligned_down(std::byte* p) {
  return p - reinterpret_cast<std::uintptr_t>(p) % alignment;
}

}  // namespace

struct fiber_switch {
  static void first(void* self) {
    static_cast<fiber*>(self)->entry_();
    std::abort();  // entry() has returned
  }
  /// Code that was never started as a fiber: the caller of the emulator.
  static bool is_host(fiber const& f) { return f.entry_ == nullptr; }
  /// Of a host its address, which ends tw_run_fibers().
  static emscripten_fiber_t* of(fiber& f) {
    return static_cast<emscripten_fiber_t*>(is_host(f) ? static_cast<void*>(&f) : f.context_);
  }
};

void fiber::start(std::byte* lowest, std::size_t bytes, std::size_t unused, void (*entry)()) {
  lowest_ = lowest;
  entry_ = entry;
  stack_ = {lowest, bytes};
  std::byte* const context = aligned_down(lowest + bytes - unused - sizeof(emscripten_fiber_t));
  std::byte* const frames = aligned_down(context - frame_bytes);
  context_ = context;
  emscripten_fiber_init(fiber_switch::of(*this), &fiber_switch::first, this, lowest,
                        static_cast<std::size_t>(frames - lowest), frames, frame_bytes);
}

void fiber::switch_to(fiber& from, fiber& to) {
  if (fiber_switch::is_host(from))
    tw_run_fibers(fiber_switch::of(to), &from);
  else
    emscripten_fiber_swap(fiber_switch::of(from), fiber_switch::of(to));
}

void fiber::leave(fiber&, fiber& to) { tw_leave_fiber(fiber_switch::of(to)); }

}  // namespace tw::emu
