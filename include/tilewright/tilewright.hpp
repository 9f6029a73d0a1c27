// SPDX-License-Identifier: Apache-2.0
// tilewright.hpp  Everything, in the order of the folders: the table of contents.
#pragma once

#include "tilewright/base/check.hpp"
#include "tilewright/base/convert.hpp"
#include "tilewright/base/elem.hpp"
#include "tilewright/base/elem_text.hpp"
#include "tilewright/base/units.hpp"
#include "tilewright/base/version.hpp"

#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/error_bound.hpp"
#include "tilewright/problem/gemm.hpp"
#include "tilewright/problem/reference.hpp"

#include "tilewright/layout/layout.hpp"
#include "tilewright/layout/offset.hpp"

#include "tilewright/arch/select.hpp"

#include "tilewright/atom/operand.hpp"

#include "tilewright/pipeline/order.hpp"
#include "tilewright/pipeline/ring.hpp"

#include "tilewright/kernel/config.hpp"
#include "tilewright/kernel/gemm_sm90.hpp"

#include "tilewright/dispatch/gemm.hpp"
