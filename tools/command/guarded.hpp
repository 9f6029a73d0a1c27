// SPDX-License-Identifier: Apache-2.0
// guarded.hpp  The edge of a verb: whatever is thrown becomes one message and an exit status.
#pragma once

#include <functional>

#include "tilewright/base/check.hpp"

namespace tw {

/// Runs a verb. A rejection is printed to stderr (with `json` also to stdout as {"error": ...}) and
/// becomes status 2, or 77 when no GPU is usable; memory that runs out becomes TW0613; a broken
/// rule found by the emulator becomes status 1. A stderr that is closed or full changes no status.
/// A call of exit() inside of the verb is TW0629 and status 2.
exit_status guarded(bool json, std::function<exit_status()> const& verb);

}  // namespace tw
