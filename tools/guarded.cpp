// SPDX-License-Identifier: Apache-2.0
// guarded.cpp  Exceptions to statuses, in one place.
#include "tools/guarded.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>

#include "tools/gemm_report.hpp"
#include "tools/gemm_run.hpp"

namespace tw {
namespace {

exit_status report(bool json, rejection const& r, exit_status status) {
  std::fflush(stdout);
  fmt::print(stderr, "tilewright: {}\n", to_string(r));
  if (json)
    fmt::print("{}\n",
               json_error(r).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return status;
}

}  // namespace

exit_status guarded(bool json, std::function<exit_status()> const& verb) {
  try {
    return verb();
  } catch (no_usable_gpu const& e) {
    return report(json, e.why(), exit_status::no_hardware);
  } catch (rejected const& e) {
    return report(json, e.why(), exit_status::refused);
  } catch (std::bad_alloc const&) {
    return report(json, {"TW0613", "memory", "an allocation that failed", "more free memory", ""},
                  exit_status::refused);
  } catch (emu::fault const& e) {
    fmt::print(stderr, "tilewright: the emulated kernel broke a rule\n{}\n", e.what());
    return exit_status::wrong;
  }
}

}  // namespace tw
