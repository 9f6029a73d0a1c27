// SPDX-License-Identifier: Apache-2.0
// explain_command.hpp  tilewright explain CODE: the page of an error code. tilewright explain
//                      KEY=VALUE...: does a combination of tile, copy and memory work, and what
//                      does.
#pragma once

namespace CLI {
class App;
}

namespace tw {

void add_explain_command(CLI::App& app, int& status);

}  // namespace tw
