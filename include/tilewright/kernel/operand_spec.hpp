// SPDX-License-Identifier: Apache-2.0
// operand_spec.hpp  A or B in the configuration of a GEMM kernel.
#pragma once

#include <cstdint>

#include "tilewright/arch/types.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/base/hd.hpp"

namespace tw {

/// From where wgmma reads an operand.
enum class operand_source : std::uint8_t { shared_memory, registers };

/// An operand of a kernel.
struct operand_spec {
  elem stored = elem::bf16;                // type in global and in shared memory
  elem multiplied = stored;                // type that the tensor cores multiply
  operand_major major = operand_major::k;  // in memory
  operand_source from = operand_source::shared_memory;

  /// Are neighbours along M, or N, adjacent in memory?
  TW_HD constexpr bool is_mn_major() const { return major == operand_major::mn; }
  bool operator==(operand_spec const&) const = default;
};

}  // namespace tw
