// SPDX-License-Identifier: Apache-2.0
// help_text.hpp  --help that fits the terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "tools/report/wrapped_text.hpp"

namespace tw {

/// Columns to print help in: COLUMNS if it is set, else the width of the terminal that stdout is,
/// else 80; 30 to 100.
int help_columns();

/// Columns of a report: COLUMNS if it is set, else the width of the terminal that stdout is; 0
/// where stdout is no terminal, for a program may read it line by line.
int report_columns();

/// CLI11's help with wrapped lines.
class help_formatter : public CLI::Formatter {
 public:
  std::string make_option(CLI::Option const* option, bool is_positional) const override;
  std::string make_usage(CLI::App const* app, std::string name) const override;
  std::string make_description(CLI::App const* app) const override;
  std::string make_footer(CLI::App const* app) const override;
  std::string make_subcommand(CLI::App const* verb) const override;
};

}  // namespace tw
