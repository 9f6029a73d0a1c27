// SPDX-License-Identifier: Apache-2.0
// guarded.cpp  Exceptions to statuses, in one place.
#include "tools/guarded.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

#include "tools/gemm_run.hpp"
#include "tools/json_output.hpp"

namespace tw {
namespace {

exit_status report(bool json, rejection const& r, exit_status status) {
  std::fflush(stdout);
  fmt::print(stderr, "tilewright: {}\n", to_string(r));
  if (json) print_json(json_error(r));
  return status;
}

}  // namespace

exit_status guarded(bool json, std::function<exit_status()> const& verb) {
  try {
    exit_status const status = verb();
    if (std::fflush(stdout) != 0) throw std::system_error(errno, std::generic_category());
    return status;
  } catch (no_usable_gpu const& e) {
    return report(json, e.why(), exit_status::no_hardware);
  } catch (rejected const& e) {
    return report(json, e.why(), exit_status::refused);
  } catch (std::bad_alloc const&) {
    return report(json, {"TW0613", "memory", "an allocation that failed", "more free memory", ""},
                  exit_status::refused);
  } catch (std::system_error const& e) {
    return report(false, {"TW0612", "standard output", e.code().message(), "room to write", ""},
                  exit_status::refused);
  } catch (emu::fault const& e) {
    fmt::print(stderr, "tilewright: the emulated kernel broke a rule\n{}\n", e.what());
    return exit_status::wrong;
  }
}

}  // namespace tw
