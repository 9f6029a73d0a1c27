// SPDX-License-Identifier: Apache-2.0
// epilogues.hpp  The epilogue names of shape files: words joined by "_".
//
// bias: one value per column. relu, gelu (by tanh), gelu_erf, silu: the activation. swiglu, geglu:
// silu or gelu with a gate, the first N/2 columns of B; interleaved: gate and up columns in turn.
// residual: a matrix is added last. Vectors and the matrix have D's type.
#pragma once

#include <optional>
#include <sstream>
#include <string>

#include "tilewright/problem/gemm.hpp"

namespace tw::bench {

struct named_epilogue {
  gemm_epilogue epilogue;
  bool residual = false;
};

/// Nothing for a name with a word that is none of these, or with two activations.
inline std::optional<named_epilogue> find_epilogue(std::string const& name) {
  named_epilogue e;
  std::istringstream words(name);
  auto const act = [&](activation a) {
    if (e.epilogue.act != activation::none) return false;
    e.epilogue.act = a;
    return true;
  };
  auto const gated = [&](activation a) {
    if (e.epilogue.gate == gating::none) e.epilogue.gate = gating::split;
    return act(a);
  };
  for (std::string word; std::getline(words, word, '_');) {
    bool known = true;
    if (word == "bias")
      e.epilogue.bias = along::cols;
    else if (word == "relu")
      known = act(activation::relu);
    else if (word == "gelu")
      known = act(activation::gelu_tanh);
    else if (word == "erf" && e.epilogue.act == activation::gelu_tanh)
      e.epilogue.act = activation::gelu_erf;
    else if (word == "silu")
      known = act(activation::silu);
    else if (word == "swiglu")
      known = gated(activation::silu);
    else if (word == "geglu")
      known = gated(activation::gelu_tanh);
    else if (word == "interleaved" && e.epilogue.gate != gating::none)
      e.epilogue.gate = gating::interleaved;
    else if (word == "residual")
      e.residual = e.epilogue.c_last = true;
    else
      known = false;
    if (!known) return std::nullopt;
  }
  return e;
}

}  // namespace tw::bench
