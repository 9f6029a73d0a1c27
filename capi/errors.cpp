// SPDX-License-Identifier: Apache-2.0
// errors.cpp  The error of each thread: texts, and the struct that shows them.
#include "capi/errors.hpp"

#include <string>
#include <string_view>

#include "tools/report/field_words.hpp"

namespace tw::capi {
namespace {

struct thread_error {
  rejection r;
  std::string text;
  tw_error view{sizeof(tw_error), "", "", "", "", "", ""};
};
thread_error& error() {
  static thread_local thread_error e;
  return e;
}

/// Takes literals: it serves when no memory is left.
tw_status show(tw_status status, char const* code, char const* what, char const* got,
               char const* need, char const* hint, char const* text) noexcept {
  error().view = {sizeof(tw_error), code, what, got, need, hint, text};
  return status;
}

tw_status keep(rejection r, std::string text, tw_status status) noexcept {
  thread_error& e = error();
  e.r = std::move(r), e.text = std::move(text);
  return show(status, e.r.code.c_str(), e.r.what.c_str(), e.r.got.c_str(), e.r.need.c_str(),
              e.r.hint.c_str(), e.text.c_str());
}

/// TW0501 to TW0504: no GPU that kernels run on; TW0506 and TW0507: CUDA; TW0613: memory.
tw_status status_of(std::string_view code) {
  if (code >= "TW0501" && code <= "TW0504") return TW_NO_DEVICE;
  return code == "TW0506" || code == "TW0507" || code == "TW0613" ? TW_INTERNAL : TW_REFUSED;
}

}  // namespace

tw_status remember(rejection const& of_library) noexcept {
  try {
    rejection r = with_arguments(of_library);
    std::string text = to_string(r);
    tw_status const status = status_of(r.code);
    return keep(std::move(r), std::move(text), status);
  } catch (...) {
    return remember_no_memory();
  }
}

tw_status remember(emu::fault const& f) noexcept {
  try {
    auto const& all = f.diagnoses();
    rejection r{all.empty() ? "E0001" : all[0].code, "emulated kernel",
                all.empty() ? std::string(f.what()) : all[0].kind, "a kernel that keeps the rules",
                "`tilewright explain` has the page of the code"};
    return keep(std::move(r), f.what(), TW_FAULT);
  } catch (...) {
    return remember_no_memory();
  }
}

tw_status remember_interrupted() noexcept {
  return show(TW_INTERRUPTED, "TW0489", "emulated run", "an interruption", "a run to its end",
              "the function of tw_set_interrupt() ended it; d is incomplete",
              "TW0489: emulated run: got an interruption, need a run to its end; the function of "
              "tw_set_interrupt() ended it; d is incomplete");
}

tw_status remember_no_memory() noexcept {
  return show(TW_INTERNAL, "TW0613", "memory", "an allocation that failed", "more free memory", "",
              "TW0613: memory: got an allocation that failed, need more free memory");
}

tw_status remember_internal(char const* what) noexcept {
  try {
    rejection r{"TW0490", "exception", what, "none", "report it"};
    std::string text = to_string(r);
    return keep(std::move(r), std::move(text), TW_INTERNAL);
  } catch (...) {
    return remember_no_memory();
  }
}

}  // namespace tw::capi

extern "C" tw_error const* tw_last_error(void) { return &tw::capi::error().view; }
