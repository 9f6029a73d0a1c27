// SPDX-License-Identifier: Apache-2.0
// launch.hpp  Runs a kernel in the emulator.
#pragma once

#include "tilewright/arch/emu/engine.hpp"
#include "tilewright/arch/emu/options.hpp"

namespace tw::emu {

/// The shape of a launch and the kernel's body for one thread.
struct grid {
  int ctas = 1, cluster = 1, threads = 1;
  int smem_bytes = 0;
  void (*body)(void const* params) = nullptr;
};
void run(grid const& g, void const* params, options const& o);

}  // namespace tw::emu

namespace tw {

/// Runs kernel K (params, threads, cluster, smem_bytes, run) over `ctas` CTAs; blocks until done.
/// Throws emu::fault.
template <class K>
void launch(int ctas, typename K::params const& p, emu::options const& o) {
  emu::run({.ctas = ctas,
            .cluster = K::cluster,
            .threads = K::threads,
            .smem_bytes = K::smem_bytes,
            .body = [](void const* q) { K::run(*static_cast<typename K::params const*>(q)); }},
           &p, o);
}

}  // namespace tw
