// SPDX-License-Identifier: Apache-2.0
// epilogue_request.hpp  What `tilewright gemm` was asked to do after the product.
#pragma once

#include <optional>
#include <string>

#include "tilewright/problem/epilogue.hpp"

namespace CLI {
class App;
}

namespace tw {

/// Addresses of files; empty: not asked for.
struct epilogue_request {
  std::string bias, row_scale, col_scale, residual, aux;
  along bias_along = along::cols;
  activation act = activation::none;
  gating gate = gating::none;
};

/// Adds --bias, --bias-along, --row-scale, --col-scale, --activation, --gate, --residual and
/// --aux.
void add_epilogue_options(CLI::App& verb, epilogue_request& r);

/// "gelu" and so on; nothing for another word.
std::optional<activation> parse_activation(std::string const& word);
char const* text_of(activation act);

/// " + bias of columns, silu, gate split, + residual": what a report adds after the product.
std::string text_of(gemm_epilogue const& e);

}  // namespace tw
