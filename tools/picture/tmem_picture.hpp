// SPDX-License-Identifier: Apache-2.0
// tmem_picture.hpp  Tensor memory as a picture: 128 lanes down, columns to the right; colours are
//                   the four warps that reach 32 lanes each.
//
//     tmem.ld.16x64b.x4       thread and register of a load or store of a warpgroup, here of the
//                             first 16 of each warp's 32 lanes
//     tmem.d.1cta.m64n32      row and column of an accumulator of one CTA; .2cta: one CTA's part
//                             of a pair's
// Needs:   a shape of arch/tensor_memory.hpp and a count, or CTAs, M and N that tcgen05.mma has
//          [TW0626]
#pragma once

#include <string_view>

#include "tools/picture/picture.hpp"

namespace tw {

bool names_tmem(std::string_view text);
picture tmem_picture(std::string_view text);

}  // namespace tw
