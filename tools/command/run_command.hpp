// SPDX-License-Identifier: Apache-2.0
// run_command.hpp  A command of some verbs, from its words to its exit status.
#pragma once

namespace CLI {
class App;
}

namespace tw {

/// Returns the exit status of the words in argv. `add_verbs` adds the verbs of this command and
/// their help; the verb that is chosen sets `status`.
int run_command(int argc, char** argv, void (*add_verbs)(CLI::App& app, int& status));

}  // namespace tw
