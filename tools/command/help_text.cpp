// SPDX-License-Identifier: Apache-2.0
// help_text.cpp  Two columns: names and descriptions, one below the other in a narrow terminal.
#include "tools/command/help_text.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tw {
namespace {

/// `otherwise` if there is no terminal.
int terminal_columns(int otherwise) {
  if (char const* const text = std::getenv("COLUMNS"))
    if (int const n = std::atoi(text); n > 0) return n;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return otherwise;
}

/// CLI11's names of types without what says nothing: INT:INT in [1 - 4], {false} of a flag.
std::string plain_types(std::string text) {
  for (auto const& [from, to] : {std::pair<std::string_view, std::string_view>{"INT:INT", "INT"},
                                 {"TEXT:{", "{"},
                                 {"FLOAT:POSITIVE", "FLOAT above 0"},
                                 {"{false}", ""},
                                 {"(1x)", "..."}})
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at))
      text.replace(at, from.size(), to), at += to.size();
  return text;
}

/// "  --name TEXT" and what it does: beside it, or below where the name is long.
std::string entry(std::string const& name, std::string const& description) {
  int const columns = help_columns();
  int const indent = columns < 60 ? 6 : 30;
  std::string const head = wrapped("  " + name, columns, 6);
  if (description.empty()) return head + "\n";
  bool const beside = static_cast<int>(head.size()) + 2 <= indent;
  std::string const blank(static_cast<std::size_t>(indent), ' ');
  if (!beside) return head + "\n" + wrapped(blank + description, columns, indent) + "\n";
  std::string const padded = head + blank.substr(head.size());
  return wrapped(padded + description, columns, indent) + "\n";
}

}  // namespace

int help_columns() {
  static int const columns = std::clamp(terminal_columns(80), 30, 100);
  return columns;
}

int report_columns() {
  int const columns = terminal_columns(0);
  return columns == 0 ? 0 : std::max(columns, 30);
}

std::string help_formatter::make_option(CLI::Option const* option, bool is_positional) const {
  return entry(plain_types(make_option_name(option, is_positional) + make_option_opts(option)),
               make_option_desc(option));
}

std::string help_formatter::make_usage(CLI::App const* app, std::string name) const {
  return wrapped(plain_types(CLI::Formatter::make_usage(app, std::move(name))), help_columns(), 4);
}

std::string help_formatter::make_description(CLI::App const* app) const {
  return wrapped(CLI::Formatter::make_description(app), help_columns(), 0);
}

std::string help_formatter::make_footer(CLI::App const* app) const {
  std::string const text = CLI::Formatter::make_footer(app);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t const end = std::min(text.find('\n', at), text.size());
    std::string const line = text.substr(at, end - at);
    // A row of a table, "check gemm        what it does", goes on below its second column.
    std::size_t const gap = line.find("   "), second = line.find_first_not_of(' ', gap);
    bool const row = gap != std::string::npos && second != std::string::npos;
    out += wrapped(line, help_columns(), row ? static_cast<int>(second) : 0) + "\n";
    at = end + 1;
  }
  return out;
}

std::string help_formatter::make_subcommand(CLI::App const* verb) const {
  return entry(verb->get_name(), verb->get_description());
}

}  // namespace tw
