// SPDX-License-Identifier: Apache-2.0
// gemm_options.hpp  The options of `tilewright gemm`.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>

#include "tools/request/gemm_request.hpp"

namespace tw {

/// Adds operands, options and the manual to the verb. They fill `r`.
void add_gemm_options(CLI::App& verb, std::shared_ptr<gemm_request> const& r);

}  // namespace tw
