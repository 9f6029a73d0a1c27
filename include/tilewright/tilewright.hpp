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

#include "tilewright/layout/banks.hpp"
#include "tilewright/layout/layout.hpp"
#include "tilewright/layout/offset.hpp"

#include "tilewright/tensor/tensor.hpp"

#include "tilewright/arch/select.hpp"

#include "tilewright/atom/access.hpp"
#include "tilewright/atom/access_rules.hpp"
#include "tilewright/atom/bank_proposal.hpp"
#include "tilewright/atom/choose.hpp"
#include "tilewright/atom/copy_atom.hpp"
#include "tilewright/atom/copy_find.hpp"
#include "tilewright/atom/copy_names.hpp"
#include "tilewright/atom/copy_rules.hpp"
#include "tilewright/atom/copy_table.hpp"
#include "tilewright/atom/descriptor.hpp"
#include "tilewright/atom/explain.hpp"
#include "tilewright/atom/mma_atom.hpp"
#include "tilewright/atom/mma_fragment.hpp"
#include "tilewright/atom/mma_name.hpp"
#include "tilewright/atom/mma_names.hpp"
#include "tilewright/atom/mma_rules.hpp"
#include "tilewright/atom/mma_table.hpp"
#include "tilewright/atom/mma_type.hpp"
#include "tilewright/atom/operand.hpp"
#include "tilewright/atom/smem_atom.hpp"
#include "tilewright/atom/smem_choice.hpp"
#include "tilewright/atom/tiled_copy.hpp"
#include "tilewright/atom/tiled_copy_mma.hpp"
#include "tilewright/atom/tiled_mma.hpp"
#include "tilewright/atom/tma_map.hpp"
#include "tilewright/atom/tma_params.hpp"
#include "tilewright/atom/tmem_fragment.hpp"
#include "tilewright/atom/tmem_layout.hpp"
#include "tilewright/atom/umma_idesc.hpp"

#include "tilewright/pipeline/order.hpp"
#include "tilewright/pipeline/ring.hpp"

#include "tilewright/kernel/sm90/config.hpp"
#include "tilewright/kernel/sm90/gemm.hpp"

#include "tilewright/dispatch/gemm.hpp"
