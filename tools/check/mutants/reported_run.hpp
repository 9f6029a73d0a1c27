// SPDX-License-Identifier: Apache-2.0
// reported_run.hpp  emu::run for kernels whose sources are compiled without exceptions, as the
//                   playground's are: the catch is in another source.
#pragma once

#include <functional>

#include "tilewright/arch/emu/launch.hpp"

namespace tw::mutants {

/// The report of emu::run for a launch, which gets the options to launch with.
emu::report reported(emu::options const& o, std::function<void(emu::options const&)> const& launch);

/// As emu::run(kernel, ctas, params, o).
template <class K>
emu::report reported_run(K, extents3 ctas, typename K::params const& params,
                         emu::options const& o) {
  return reported(o, [&](emu::options const& with) { launch<K>(ctas, params, with); });
}

}  // namespace tw::mutants
