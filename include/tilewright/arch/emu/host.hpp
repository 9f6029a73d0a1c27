// SPDX-License-Identifier: Apache-2.0
// host.hpp  Memory and launches of the backend that a unit is compiled for (emulated): a harness
//           written with these names tests a kernel in the emulator and on the GPU.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>

#include "tilewright/arch/emu/launch.hpp"

namespace tw::host {

inline constexpr target where = target::emu;
inline constexpr std::align_val_t alignment{1024};

/// Memory that kernels address, aligned as cudaMalloc aligns it or better.
inline void* allocate(std::size_t bytes) { return ::operator new(bytes, alignment); }
inline void release(void* p) { ::operator delete(p, alignment); }
/// Between such memory and the host's, in either direction.
inline void copy(void* to, void const* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

/// Runs kernel K over `ctas` CTAs; blocks until done.
template <class K>
emu::report run(extents3 ctas, typename K::params const& p, emu::options const& o) {
  return emu::run(K{}, ctas, p, o);
}

}  // namespace tw::host
