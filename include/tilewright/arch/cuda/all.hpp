// SPDX-License-Identifier: Apache-2.0
// all.hpp  The backend of the GPU: one inline function per PTX instruction.
#pragma once

#include "tilewright/arch/cuda/atomic.hpp"
#include "tilewright/arch/cuda/bulk.hpp"
#include "tilewright/arch/cuda/cp_async.hpp"
#include "tilewright/arch/cuda/debug.hpp"
#include "tilewright/arch/cuda/global.hpp"
#include "tilewright/arch/cuda/host.hpp"
#include "tilewright/arch/cuda/identity.hpp"
#include "tilewright/arch/cuda/launch.hpp"
#include "tilewright/arch/cuda/load.hpp"
#include "tilewright/arch/cuda/map_fields.hpp"
#include "tilewright/arch/cuda/math.hpp"
#include "tilewright/arch/cuda/matrix.hpp"
#include "tilewright/arch/cuda/mbarrier.hpp"
#include "tilewright/arch/cuda/packed_math.hpp"
#include "tilewright/arch/cuda/registers.hpp"
#include "tilewright/arch/cuda/shuffle.hpp"
#include "tilewright/arch/cuda/sync.hpp"
#include "tilewright/arch/cuda/tma.hpp"
#include "tilewright/arch/cuda/warp.hpp"
#include "tilewright/arch/cuda/wgmma.hpp"
