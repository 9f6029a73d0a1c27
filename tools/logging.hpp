// SPDX-License-Identifier: Apache-2.0
// logging.hpp  The command's log: stderr, as loud as TW_LOG_LEVEL says, and TW_LOG_FILE if set.
#pragma once

namespace tw {

/// TW_LOG_LEVEL: trace, debug, info, warn (default), error, off. TW_LOG_FILE: a file that all lines
/// of that level are appended to. Throws `rejected` TW0614 for a level or a file that is none.
void start_logging();

}  // namespace tw
