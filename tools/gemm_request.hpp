// SPDX-License-Identifier: Apache-2.0
// gemm_request.hpp  Options of `tilewright gemm`.
#pragma once

#include <optional>
#include <string>

#include "tilewright/base/elem.hpp"
#include "tools/epilogue_request.hpp"

namespace tw {

enum class device_choice { automatic, emu, gpu };

struct gemm_request {
  std::string a, b, c, d;  // addresses of files; c may be empty
  epilogue_request epilogue;
  float alpha = 1.0F;
  std::optional<float> beta;      // not given: 1 with C, 0 without
  std::optional<elem> dtype;      // operands; not given: see operand_type()
  std::optional<elem> out_dtype;  // not given: the operands' type
  device_choice device = device_choice::automatic;
  int threads = 0;              // of the emulator; 0: one per core
  std::string trace, timeline;  // of the emulated run: Chrome trace, SVG; empty: none
  bool transpose_a = false, transpose_b = false;  // the file holds the transpose
  bool batch = false;                             // .npy files may hold stacks of matrices
  bool check = false, json = false, quiet = false;
};

/// The operands' type: --dtype, else bf16 if either file is bf16, f16 if both are f16, else bf16.
constexpr elem operand_type(std::optional<elem> asked, elem a, elem b) {
  if (asked) return *asked;
  return a == elem::f16 && b == elem::f16 ? elem::f16 : elem::bf16;
}

}  // namespace tw
