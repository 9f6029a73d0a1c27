// SPDX-License-Identifier: Apache-2.0
// epilogues.hpp  Names of epilogues, in shape files and on command lines: words joined by _, - or
// :.
//
// bias: one value per column. relu, gelu (by tanh), gelu_erf, silu: the activation. swiglu, geglu,
// reglu, bilinear: silu, gelu, relu or nothing with a gate, split (the first N/2 columns of B) or
// interleaved (gate and up columns in turn). residual: a matrix is added last. Vectors and the
// matrix have D's type.
#pragma once

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>

#include "tilewright/problem/gemm.hpp"

namespace tw::bench {

struct named_epilogue {
  gemm_epilogue epilogue;
  bool residual = false;
};

/// "bias_gelu_erf", "swiglu:interleaved". Nothing for a name with an empty or unknown word
/// of these, with two activations, or an order without a gate before it.
inline std::optional<named_epilogue> find_epilogue(std::string name) {
  named_epilogue e;
  bool ordered = false, bilinear = false;
  auto const act = [&](activation a) {
    if (e.epilogue.act != activation::none || bilinear) return false;
    e.epilogue.act = a;
    return true;
  };
  auto const gate = [&] {
    if (e.epilogue.gate != gating::none) return false;
    e.epilogue.gate = gating::split;
    return true;
  };
  auto const order = [&](gating g) {
    if (e.epilogue.gate == gating::none || ordered) return false;
    e.epilogue.gate = g;
    return ordered = true;
  };
  std::ranges::replace_if(
      name, [](char c) { return c == '-' || c == ':'; }, '_');
  if (name.ends_with('_')) return std::nullopt;
  std::istringstream words(name);
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
      known = gate() && act(activation::silu);
    else if (word == "geglu")
      known = gate() && act(activation::gelu_tanh);
    else if (word == "reglu")
      known = gate() && act(activation::relu);
    else if (word == "bilinear")
      known = bilinear = gate() && e.epilogue.act == activation::none;
    else if (word == "split")
      known = order(gating::split);
    else if (word == "interleaved")
      known = order(gating::interleaved);
    else if (word == "residual")
      e.residual = e.epilogue.c_last = true;
    else
      known = false;
    if (!known) return std::nullopt;
  }
  return e;
}

}  // namespace tw::bench
