// SPDX-License-Identifier: Apache-2.0
// error_page_of.cpp  A page by its code.
#include "tools/io/refuse.hpp"
#include "tools/report/error_pages.hpp"

namespace tw {

error_page error_page_of(std::string code, char const* hint) {
  for (char& c : code) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  for (error_page const& page : error_pages())
    if (page.code == code) return page;
  refuse("TW0617", "error code", code, "a code as messages begin with it", hint);
}

}  // namespace tw
