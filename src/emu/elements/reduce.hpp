// SPDX-License-Identifier: Apache-2.0
// reduce.hpp  Elements in global memory that a bulk reduction combines with others.
#pragma once

#include <cstddef>

#include "tilewright/arch/reduce_operand.hpp"
#include "tilewright/base/elem.hpp"

namespace tw::emu {

/// The type in which a tensor of these elements is reduced; other: in none.
tw::detail::reduce_type reduce_type_of(elem e);

/// to = op(to, value) for each element in `bytes` bytes. Atomic with respect to other calls in any
/// OS thread. f16 and bf16 are rounded to nearest even at each addition; of a number and a NaN the
/// minimum and the maximum are the number. PTX ISA, "cp.reduce.async.bulk", "min", "max".
void reduce_elements(reduce_op op, tw::detail::reduce_type type, std::byte* to,
                     std::byte const* values, std::ptrdiff_t bytes);

}  // namespace tw::emu
