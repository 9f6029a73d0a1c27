// SPDX-License-Identifier: Apache-2.0
// explain_command.cpp  Finds the page; without a code, lists them.
#include "tools/explain_command.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

#include "tools/error_pages.hpp"
#include "tools/guarded.hpp"
#include "tools/io/refuse.hpp"

namespace tw {
namespace {

/// The title of a page, "TW0601: file cannot be read", from "# TW0601: file cannot be read".
std::string_view title(std::string_view text) {
  std::size_t const begin = text.find_first_not_of("# ");
  return begin == std::string_view::npos ? text : text.substr(begin, text.find('\n') - begin);
}

exit_status explain(std::string const& code) {
  for (error_page const& page : error_pages()) {
    if (code.empty()) fmt::print("{}\n", title(page.text));
    if (page.code == code) {
      fmt::print("{}", page.text);
      return exit_status::done;
    }
  }
  if (!code.empty()) {
    refuse("TW0617", "error code", code, "a code as messages begin with it",
           "`tilewright explain` lists all");
  }
  return exit_status::done;
}

}  // namespace

void add_explain_command(CLI::App& app, int& status) {
  auto const code = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("explain", "what an error code means and what to do");
  verb->add_option("CODE", *code, "for example TW0601; without it, all codes are listed");
  verb->callback([code, &status] {
    for (char& c : *code) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    status = static_cast<int>(guarded(false, [&] { return explain(*code); }));
  });
}

}  // namespace tw
