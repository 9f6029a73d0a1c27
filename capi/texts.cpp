// SPDX-License-Identifier: Apache-2.0
// texts.cpp  Layouts, pages of errors, devices, the version; functions of the process.
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>

#include "atom/spelling.hpp"
#include "base/fork_safe.hpp"
#include "base/log.hpp"
#include "capi/arguments.hpp"
#include "capi/errors.hpp"
#include "tilewright/atom/call.hpp"
#include "tilewright/base/version.hpp"
#include "tools/picture/atom_picture.hpp"
#include "tools/picture/request.hpp"
#include "tools/report/devices_json.hpp"
#include "tools/report/error_pages.hpp"
#include "tools/report/field_words.hpp"
#include "tools/report/json_output.hpp"
#include "tools/report/layout_json.hpp"
#include "tools/report/model_report.hpp"

namespace tw::capi {
namespace {

struct interrupt_setting {
  int (*function)(void*) = nullptr;
  void* context = nullptr;
};
fork_safe_mutex interrupt_mutex;
interrupt_setting interrupt;  // guarded by the mutex

std::string layout_text(char const* expression) {
  nlohmann::ordered_json record{{"schema", "tilewright.layout/1"}};
  record.update(to_json(evaluate(expression)));
  return json_text(record);
}

std::string layout_svg(char const* expression) {
  picture_request r;
  r.expression = expression;
  if (std::string const ours = detail::in_our_spelling(r.expression); names_atom(ours))
    r.expression = ours;
  return written(picture_of(r), "svg", false);
}

/// The text of f() for the caller.
template <class F>
tw_status answer(char const* name, char** to, F const& f) noexcept {
  return guarded([&] {
    check_given(name, to);
    *to = nullptr;
    *to = text_for_caller(f());
  });
}

}  // namespace

std::function<bool()> interrupt_function() {
  std::scoped_lock const lock(interrupt_mutex);
  if (interrupt.function == nullptr) return {};
  return [s = interrupt] { return s.function(s.context) != 0; };
}

}  // namespace tw::capi

extern "C" {

char const* tw_version(void) { return tw::version_text; }
uint32_t tw_abi(void) { return TW_ABI; }
void tw_free(void* text) { std::free(text); }

tw_status tw_layout_eval(char const* expression, char** json) {
  return tw::capi::answer("json", json, [&] {
    tw::capi::check_given("expression", expression);
    return tw::capi::layout_text(expression);
  });
}

tw_status tw_layout_svg(char const* expression, char** svg) {
  return tw::capi::answer("svg", svg, [&] {
    tw::capi::check_given("expression", expression);
    return tw::capi::layout_svg(expression);
  });
}

tw_status tw_explain(char const* code, char** page) {
  return tw::capi::answer("page", page, [&] {
    tw::capi::check_given("code", code);
    return std::string(tw::error_page_of(code, "docs/errors has a page for each").text);
  });
}

tw_status tw_plan_model(char const* config, char const* request, char** json) {
  return tw::capi::answer("json", json, [&] {
    tw::capi::check_given("config", config);
    tw::model_question const q = tw::model_question_of(request == nullptr ? "{}" : request);
    tw::device const& dev = tw::known_device(q.device);
    nlohmann::ordered_json record{{"schema", "tilewright.model_plan/1"}};
    record.update(tw::model_json(tw::plan_model(tw::model_shape_of(config), q.request, dev), dev,
                                 tw::with_arguments));
    return tw::json_text(record);
  });
}

tw_status tw_devices_json(char** json) {
  return tw::capi::answer("json", json, [] { return tw::json_text(tw::devices_json()); });
}

void tw_set_log(void (*log)(void* context, int level, char const* line), void* context) {
  tw::set_log_function(log, context);
}

void tw_set_interrupt(int (*interrupt)(void* context), void* context) {
  std::scoped_lock const lock(tw::capi::interrupt_mutex);
  tw::capi::interrupt = {interrupt, context};
}

}  // extern "C"
