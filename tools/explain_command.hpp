// SPDX-License-Identifier: Apache-2.0
// explain_command.hpp  tilewright explain CODE: the page of an error code.
#pragma once

#include <CLI/CLI.hpp>

namespace tw {

void add_explain_command(CLI::App& app, int& status);

}  // namespace tw
