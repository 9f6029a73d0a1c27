// SPDX-License-Identifier: Apache-2.0
// verbs.hpp  The command line of one module of the playground, with the verbs that it has.
#pragma once

namespace tw {

/// Runs the command; returns its exit status. Defined once in each module.
int run_words(int argc, char** argv);

}  // namespace tw
