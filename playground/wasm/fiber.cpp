// SPDX-License-Identifier: Apache-2.0
// fiber.cpp  Fibers by Asyncify, instead of src/emu/fiber.cpp: WebAssembly cannot change its own
//            stack. At a switch the running code returns to JavaScript and writes its frames down;
//            they are read again when something switches back.
//
// The upper part of a fiber's stack holds emscripten's description of it and room for these frames.
#include "emu/fiber.hpp"

#include <emscripten/fiber.h>

#include <cstdlib>

namespace tw::emu {

namespace {

constexpr std::size_t frame_bytes = 24 * 1024;        // of a thread of a kernel, and of the driver
constexpr std::size_t host_frame_bytes = 256 * 1024;  // of the code that called the emulator
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
  static emscripten_fiber_t* of(fiber const& f) {
    return static_cast<emscripten_fiber_t*>(f.context_);
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
  if (from.context_ == nullptr) {
    // The code that never was started; one machine calls another's at most a few deep.
    auto* const context = new emscripten_fiber_t;
    emscripten_fiber_init_from_current_context(context, std::malloc(host_frame_bytes),
                                               host_frame_bytes);
    from.context_ = context;
  }
  emscripten_fiber_swap(fiber_switch::of(from), fiber_switch::of(to));
}

}  // namespace tw::emu
