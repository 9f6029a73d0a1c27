// SPDX-License-Identifier: Apache-2.0
// tmem_picture.hpp  Tensor memory as a picture: 128 lanes down, columns to the right. Where several
//                   elements share a column, each has a cell.
//
// Colours are the four warps that reach 32 lanes each; of scale factors, the place of their
// elements along K. Names: tools/report/tmem_names.hpp.
#pragma once

#include "tools/picture/picture.hpp"
#include "tools/report/tmem_names.hpp"

namespace tw {

/// One panel of all lanes.
picture tmem_picture(tmem_name const& n);
/// A panel for each 32 lanes, side by side, if texts stay readable so.
picture in_quarters(picture whole);

}  // namespace tw
