// SPDX-License-Identifier: Apache-2.0
// tmem_access.hpp  `tilewright banks tmem.*`: which warp reaches which lanes of tensor memory,
//                  whether a load or store of a warp is allowed, and the contents of its lanes.
//
// Tensor memory has no banks: its accesses have no conflicts. It has rules instead. Warp w reaches
// lanes 32 (w % 4) to 32 (w % 4) + 31; 32x32b begins at the first of them, the other shapes at the
// first or the 17th; columns are allocated. tcgen05.cp is no access of a warp, and reads shared
// memory, which has banks.
// Source: PTX ISA, "tcgen05.ld", "tcgen05.st", "Access Restrictions", "tcgen05.cp"
// Needs:  a lane only with a warp; neither, nor a column, but of a load or store [TW0622]
// Law:    allowed == the emulator reports no E0104 and no E0105
//         (tests/tools/explain/tmem_access_test.cpp)
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/report/tmem_names.hpp"

namespace tw {

/// A question; -1: not given.
struct tmem_question {
  tmem_name name;
  int warp = -1, lane = -1, column = 0;
  int allocated = 512;  // columns, from 0 on
};

/// A load or store of one warp.
struct tmem_verdict {
  int warp = 0, lane = 0, lanes = 0, column = 0, columns = 0;
  bool allowed = false;
  std::string code, why;  // where it is not
};

/// Decides a load or store that begins at this lane and column.
tmem_verdict decide_tmem(tmem_question const& q, int warp, int lane);

std::string tmem_access_text(tmem_question const& q);
nlohmann::ordered_json tmem_access_json(tmem_question const& q);

}  // namespace tw
