// SPDX-License-Identifier: Apache-2.0
// precision_options.cpp  Words to a gemm_precision.
#include "tools/precision_options.hpp"

#include "tools/words.hpp"

namespace tw {

void add_precision_options(CLI::App& verb, gemm_precision& precision) {
  verb.add_option_function<std::string>(
          "--promote",
          [&precision](std::string const& text) {
            precision.promote_k = text == "never" ? 0 : std::stoi(text);
          },
          "8-bit floats: elements of K after which the tensor core's sum is added to a float32 "
          "sum; never is the fastest and the least exact (default: 128)")
      ->transform(one_of({"never", "128", "64"}, {{"fast", "never"}, {"0", "never"}}));
  verb.add_flag("--f16-sums", precision.f16_sums, "f16 operands: sums may be kept in f16");
  verb.add_flag("--wrap", precision.wrapping_sums,
                "8-bit integers: K may be so long that sums wrap around, modulo 2^32");
}

void add_invariance_option(CLI::App& verb, bool& reproducible) {
  verb.add_flag(
      "--invariant,--reproducible", reproducible,
      "the bits of a row of D do not depend on M, the row's place, other rows or how N is "
      "split (docs/invariance.md)");
}

}  // namespace tw
