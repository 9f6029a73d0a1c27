// SPDX-License-Identifier: Apache-2.0
// guarded.cpp  Exceptions to statuses, in one place.
#include "tools/command/guarded.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

#include "tilewright/arch/emu/options.hpp"
#include "tools/io/to_stderr.hpp"
#include "tools/io/to_stdout.hpp"
#include "tools/report/field_words.hpp"
#include "tools/report/json_output.hpp"
#include "tools/request/device_choice.hpp"

namespace tw {
namespace {

exit_status report(bool json, rejection const& of_library, exit_status status) {
  rejection const r = with_options(of_library);
  std::fflush(stdout);
  to_stderr("tilewright: {}\n", to_string(r));
  if (!json || std::ferror(stdout) != 0) return status;
  try {
    print_json("tilewright.error/1", json_error(r));
    std::fflush(stdout);
  } catch (std::system_error const&) {  // stderr has said it
  }
  return status;
}

/// The request that the system refused: a write to stdout, a path, a thread.
rejection refusal_of(std::system_error const& e) {
  if (std::ferror(stdout) != 0) return no_room_on_stdout(e.code().value());
  if (auto const* const path = dynamic_cast<std::filesystem::filesystem_error const*>(&e))
    return {"TW0612", "path " + path->path1().string(), e.code().message(),
            "a path that can be used", ""};
  return {"TW0613", "resources of the system", e.what(), "a system call that succeeds", ""};
}

bool verb_runs = false;

/// exit() in the middle of a verb: no other code of the command would give the reason.
void at_exit() {
  if (!verb_runs) return;
  report(false,
         {"TW0629", "process", "a call of exit() in the middle of its work", "a verb that returns",
          "code that the verb calls ended the process: report it"},
         exit_status::refused);
  ::_exit(static_cast<int>(exit_status::refused));
}

/// While one lives, exit() prints a reason.
class running_verb {
 public:
  running_verb() {
    static int const registered = std::atexit(at_exit);
    (void)registered;
    verb_runs = true;
  }
  running_verb(running_verb const&) = delete;
  running_verb& operator=(running_verb const&) = delete;
  ~running_verb() { verb_runs = false; }
};

}  // namespace

exit_status guarded(bool json, std::function<exit_status()> const& verb) {
  running_verb const runs;
  try {
    exit_status const status = verb();
    flush_stdout();
    return status;
  } catch (no_usable_gpu const& e) {
    return report(json, e.why(), exit_status::no_hardware);
  } catch (rejected const& e) {
    return report(json, e.why(), exit_status::refused);
  } catch (std::bad_alloc const&) {
    return report(json, {"TW0613", "memory", "an allocation that failed", "more free memory", ""},
                  exit_status::refused);
  } catch (std::system_error const& e) {
    return report(json, refusal_of(e), exit_status::refused);
  } catch (emu::fault const& e) {
    to_stderr("tilewright: the emulated kernel broke a rule\n{}\n", e.what());
    return exit_status::wrong;
  }
}

}  // namespace tw
