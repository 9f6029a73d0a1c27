// SPDX-License-Identifier: Apache-2.0
// gemm_command.hpp  tilewright gemm A B -o D: one matrix product from files to a file.
#pragma once

namespace CLI {
class App;
}

namespace tw {

/// Adds the verb; when it is chosen, its exit status goes to `status`.
void add_gemm_command(CLI::App& app, int& status);

}  // namespace tw
