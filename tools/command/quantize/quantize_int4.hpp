// SPDX-License-Identifier: Apache-2.0
// quantize_int4.hpp  `tilewright quantize --to int4`.
#pragma once

#include <string>

#include "tilewright/base/check.hpp"

namespace tw {

struct quantize_int4_request {
  bool wanted = false;
  std::string in, out, scale_out;
  int group = 128;
  bool json = false, quiet = false;
  std::string unused;  // an option that int4 does not have
};

exit_status run_quantize_int4(quantize_int4_request r);

}  // namespace tw
