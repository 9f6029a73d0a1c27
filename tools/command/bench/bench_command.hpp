// SPDX-License-Identifier: Apache-2.0
// bench_command.hpp  `tilewright bench gemm` and `tilewright bench ceiling`.
#pragma once

namespace CLI {
class App;
}

namespace tw {

/// Adds the verb `bench`. When it has run, `status` is 0 (measured), 1 (a result was wrong or a
/// measurement failed), 2 (refused input) or 77 (no usable GPU).
void add_bench_command(CLI::App& app, int& status);

}  // namespace tw
