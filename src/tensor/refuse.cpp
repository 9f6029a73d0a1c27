// SPDX-License-Identifier: Apache-2.0
// refuse.cpp  The words of the tensors' run-time refusals.
#include <fmt/format.h>

#include "tilewright/base/check.hpp"
#include "tilewright/tensor/gmem_view.hpp"
#include "tilewright/tensor/space.hpp"

namespace tw::detail {

void throw_misaligned(std::uint64_t address, int align_bytes) {
  throw rejected({"TW0152", "address of a tensor", fmt::format("{:#x}", address),
                  fmt::format("a multiple of {} bytes, as promised", align_bytes),
                  "align the buffer, or promise less"});
}

void throw_pitch(std::int64_t pitch, std::int64_t multiple) {
  throw rejected({"TW0153", "pitch of a tensor in global memory", fmt::format("{} elements", pitch),
                  fmt::format("a multiple of {} elements, as promised", multiple),
                  "pad the rows, or promise less"});
}

}  // namespace tw::detail
