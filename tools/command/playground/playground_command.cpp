// SPDX-License-Identifier: Apache-2.0
// playground_command.cpp  Finds the installed pages, serves them and opens a browser.
#include "tools/command/verb_commands.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tools/command/guarded.hpp"
#include "tools/command/playground/race_verbs.hpp"
#include "tools/command/playground/site_server.hpp"
#include "tools/io/refuse.hpp"
#include "tools/io/to_stdout.hpp"

namespace tw {
namespace {

namespace fs = std::filesystem;

struct playground_request {
  int port = 8049;
  std::string folder;  // empty: installed with the command
  bool open = true;
};

/// PREFIX/share/tilewright/playground of PREFIX/bin/tilewright, or build-playground/ of the project
/// in whose build/bin/ the command is.
fs::path folder_of_pages(std::string const& requested) {
  std::error_code none;
  std::vector<fs::path> candidates;
  if (!requested.empty()) {
    candidates.emplace_back(requested);
  } else {
    fs::path const bin = fs::read_symlink("/proc/self/exe", none).parent_path();
    candidates.push_back(bin.parent_path() / "share/tilewright/playground");
    candidates.push_back(bin.parent_path().parent_path() / "build-playground");
  }
  std::string looked;
  for (fs::path const& folder : candidates) {
    if (fs::is_regular_file(folder / "index.html", none)) return folder;
    looked += (looked.empty() ? "" : " and ") + folder.string();
  }
  refuse("TW0601", "pages of the playground", "no index.html in " + looked,
         "the folder that `./dev playground` builds",
         "./dev playground, or --folder with its build-playground/");
}

/// The browser that the desktop has; without one the printed address is all.
void open_browser(std::string const& address) {
  std::string program = "xdg-open", argument = address;
  char* const words[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  ::posix_spawnp(&child, program.c_str(), nullptr, nullptr, words, environ);
}

exit_status serve(playground_request const& r) {
  site_server const server(folder_of_pages(r.folder), r.port);
  std::string const address = fmt::format("http://127.0.0.1:{}/", server.port());
  to_stdout("{}  (Ctrl+C ends it)\n", address);
  std::fflush(stdout);
  bool const desktop =
      std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
  if (r.open && desktop) open_browser(address);
  server.serve();
}

}  // namespace

void add_playground_command(CLI::App& app, int& status) {
  auto const r = std::make_shared<playground_request>();
  CLI::App* const verb = app.add_subcommand(
      "playground", "layouts, plans and races in the browser, served to this machine alone");
  verb->add_option("--port", r->port, "of 127.0.0.1; 0: one that is free")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  verb->add_option("--folder", r->folder,
                   "the pages (default: those installed with the command, or build-playground/)");
  verb->add_flag("!--no-open", r->open, "do not open a browser");
  verb->require_subcommand(0, 1);
  add_race_verbs(*verb, status);
  verb->callback([verb, r, &status] {
    if (!verb->get_subcommands().empty()) return;
    status = static_cast<int>(guarded(false, [&] { return serve(*r); }));
  });
}

}  // namespace tw
