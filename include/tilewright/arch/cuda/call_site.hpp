// SPDX-License-Identifier: Apache-2.0
// call_site.hpp  The names of arch/emu/call_site.hpp on the GPU: they make no code.
#pragma once

#include "tilewright/base/hd.hpp"

namespace tw {

namespace detail {

struct no_site {
  TW_HD static constexpr no_site here() { return {}; }
};

}  // namespace detail

using call_site = detail::no_site;

template <class Call>
TW_DEVICE void in_name_of(call_site, Call const& call) {
  call();
}

}  // namespace tw
