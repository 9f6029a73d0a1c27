// SPDX-License-Identifier: Apache-2.0
// epilogue_request.hpp  The epilogue options of `tilewright gemm`.
#pragma once

#include <optional>
#include <string>

#include "tilewright/problem/operand.hpp"

namespace CLI {
class App;
}

namespace tw {

/// Names of files; empty: not requested.
struct epilogue_request {
  role_table<std::string> vectors;
  std::string residual, aux;
  along bias_along = along::cols;
  activation act = activation::none;
  gating gate = gating::none;
};

/// The option that names an operand: "--scale-a".
std::string option_of(role r);

/// Adds --bias, --bias-along, --row-scale, --col-scale, --activation, --gate, --residual and
/// --aux.
void add_epilogue_options(CLI::App& verb, epilogue_request& r);

/// "gelu" and so on; nothing for another word.
std::optional<activation> parse_activation(std::string const& word);
char const* text_of(activation act);

/// " + bias of columns, silu, gate split, + residual": the part of a report after the GEMM.
std::string text_of(gemm_epilogue const& e);

}  // namespace tw
