// SPDX-License-Identifier: Apache-2.0
// all.hpp  The emulated backend.
#pragma once

#include "tilewright/arch/emu/atomic.hpp"
#include "tilewright/arch/emu/bulk.hpp"
#include "tilewright/arch/emu/cp_async.hpp"
#include "tilewright/arch/emu/debug.hpp"
#include "tilewright/arch/emu/global.hpp"
#include "tilewright/arch/emu/host.hpp"
#include "tilewright/arch/emu/identity.hpp"
#include "tilewright/arch/emu/launch.hpp"
#include "tilewright/arch/emu/load.hpp"
#include "tilewright/arch/emu/map_fields.hpp"
#include "tilewright/arch/emu/math.hpp"
#include "tilewright/arch/emu/matrix.hpp"
#include "tilewright/arch/emu/mbarrier.hpp"
#include "tilewright/arch/emu/packed_math.hpp"
#include "tilewright/arch/emu/registers.hpp"
#include "tilewright/arch/emu/shuffle.hpp"
#include "tilewright/arch/emu/sync.hpp"
#include "tilewright/arch/emu/tma.hpp"
#include "tilewright/arch/emu/warp.hpp"
#include "tilewright/arch/emu/wgmma.hpp"
