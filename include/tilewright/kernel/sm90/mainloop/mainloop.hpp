// SPDX-License-Identifier: Apache-2.0
// mainloop.hpp  The consumers' half of the main loop, gemm_mainloop<C>: waits for stages,
//               multiplies them by wgmma, frees them. gemm_config::mainloop() chooses the file:
//
//   from_smem.hpp                A and B in shared memory; sums of all K by wgmma, also in f16
//   narrow.hpp                   from_smem.hpp for as many columns as the launch says
//   from_registers.hpp           A in registers
//   promoted.hpp                 sums of a part of K, added in float32
//   promoted_from_registers.hpp  sums of a part of K, added in float32; A in registers
//   block_scaled.hpp             sums of a part of K times scales, added in float32
//   fragments_in_turn.hpp        sums of a K block, also times scales, added in float32 for one
//                                fragment of a warpgroup after the other
//   parts_in_turn.hpp            sums of a K block, also times scales, added in float32 while the
//                                next K block is multiplied
//
// stages.hpp is common to them; ../loads.hpp has the producer's half.
#pragma once

#include "tilewright/kernel/sm90/mainloop/block_scaled.hpp"
#include "tilewright/kernel/sm90/mainloop/fragments_in_turn.hpp"
#include "tilewright/kernel/sm90/mainloop/from_registers.hpp"
#include "tilewright/kernel/sm90/mainloop/from_smem.hpp"
#include "tilewright/kernel/sm90/mainloop/narrow.hpp"
#include "tilewright/kernel/sm90/mainloop/parts_in_turn.hpp"
#include "tilewright/kernel/sm90/mainloop/promoted.hpp"
#include "tilewright/kernel/sm90/mainloop/promoted_from_registers.hpp"
