// SPDX-License-Identifier: Apache-2.0
// gemm.cpp  tw_gemm(), tw_result_shape() and plans: on the tensors' GPU, or in the emulator.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "capi/arguments.hpp"
#include "capi/call_shape.hpp"
#include "capi/errors.hpp"
#include "dispatch/launch/on_device.hpp"
#include "dispatch/plan/plan_cache.hpp"
#include "tilewright/dispatch/gemm.hpp"
#include "tilewright/dispatch/plan_text.hpp"
#include "tilewright/problem/accept.hpp"
#include "tilewright/problem/block_scaled.hpp"
#include "tilewright/problem/group_slices.hpp"
#include "tilewright/problem/operand.hpp"
#include "tilewright/problem/without_indices.hpp"
#include "tools/report/json_output.hpp"
#include "tools/report/plan_answer.hpp"

struct tw_plan {
  tw::gemm_plan plan;
  tw::device dev;
  tw::gemm_operands operands;  // with the alignment that it was made for
  bool of_card = false;        // a device that was named: all of its SMs
  tw::capi::call_shape shape;  // of the arguments that it was made for
};

namespace tw::capi {
namespace {

std::string_view emulated_card(tw_gemm_args const& args, gemm_problem const& p) {
  if (args.device != nullptr) return device_of_word(args.device).id;
  return is_block_scaled(p) ? "b200" : "h200";
}

launch_options launch_of(tw_gemm_args const& args) {
  unsigned const both = TW_EARLY_START | TW_NO_EARLY_START;
  if ((args.flags & both) == both)
    throw rejected({"TW0484", "flags", "TW_EARLY_START and TW_NO_EARLY_START", "one of them", ""});
  if ((args.flags & both) == 0) return {};
  return {(args.flags & TW_EARLY_START) != 0};
}

gemm_operands with_workspace(gemm_operands o, tw_gemm_args const& args) {
  if (args.workspace_bytes < 0)
    throw rejected(
        {"TW0484", "workspace_bytes", fmt::format("{}", args.workspace_bytes), "0 or more", ""});
  o.workspace = args.workspace;
  o.workspace_bytes = args.workspace == nullptr ? 0 : args.workspace_bytes;
  return o;
}

/// Sizes of groups and numbers of rows in host memory. Throws `rejected` TW0496.
void check_numbers(tensor_gemm const& from) {
  if (!from.problem.groups) return;
  if (auto why = refuse_numbers(from.problem, from.operands.groups)) throw rejected(*why);
  group_desc const& g = *from.problem.groups;
  if (g.gather_from == 0 && g.scatter_to == 0) return;
  if (auto why = accept(from.problem)) throw rejected(*why);
  if ((g.gather_from > 0 && from.operands.gather == nullptr) ||
      (g.scatter_to > 0 && from.operands.scatter == nullptr))
    return;  // TW0408
  auto const bad = first_bad_index(from.problem, from.operands);
  if (!bad) return;
  std::int64_t const rows = bad->of_scatter ? g.scatter_to : g.gather_from * g.choices;
  throw rejected(
      {"TW0496", fmt::format("number {} of {}", bad->index, bad->of_scatter ? "scatter" : "gather"),
       fmt::format("{}{}", bad->number, bad->twice ? ", a second time" : ""),
       bad->twice ? "another row of d for each" : fmt::format("0 to {}", rows - 1), ""});
}

void compute(gemm_call const& call) {
  tw_gemm_args const& args = call.args();
  tensor_gemm const from = gemm_of_tensors(call.arguments());
  gemm_problem const& p = from.problem;
  if (!from.place.is_host()) {
    if (args.device != nullptr)
      throw rejected({"TW0484", "device", args.device, "not given: the tensors are on a GPU",
                      "tw_plan_make() makes plans for other devices"});
    on_device const here(from.place.index);
    gemm(p, with_workspace(from.operands, args), static_cast<cudaStream_t>(args.stream),
         launch_of(args));
    return;
  }
  if (computes_nothing(p)) return;
  check_numbers(from);
  emu::options const o = emulator_options(args, p);
  constexpr int emulator = -1;
  auto const plan =
      cached_plan(p, from.operands, emulated_device(o, emulated_card(args, p)), emulator);
  gemm_emulated(*plan, from.operands, o);
}

/// An address that is never followed, aligned as memory that is allocated.
void* const count_as_allocated = reinterpret_cast<void*>(std::uintptr_t{0x100000});

/// The plan that ranks first, or the plan of a text.
std::unique_ptr<tw_plan> plan_of(gemm_call const& call, char const* text = nullptr) {
  tw_gemm_args const& args = call.args();
  tensor_gemm from = gemm_of_tensors(call.arguments());
  gemm_problem const& p = from.problem;
  gemm_operands o = from.operands;
  for (operand_desc const& x : operands_of(p))
    if (address(o, x.is) == nullptr) set_address(o, x.is, count_as_allocated);
  auto made = std::make_unique<tw_plan>(tw_plan{{}, {}, {}, false, call_shape(call.args())});
  if (args.device != nullptr) {
    made->dev = device_of_word(args.device), made->of_card = true;
  } else if (from.place.is_host()) {
    made->dev = emulated_device(emulator_options(args, p), emulated_card(args, p));
  } else {
    on_device const here(from.place.index);
    made->dev = gpu_device();
  }
  o = with_workspace(o, args);
  if (o.workspace == nullptr) o.workspace = count_as_allocated;
  o.workspace_bytes =
      args.workspace_bytes > 0 ? args.workspace_bytes : gemm_workspace_bytes(p, o, made->dev);
  made->operands = o;
  made->plan = text == nullptr ? plan_gemm(p, o, made->dev) : plan_from_text(text, p, o, made->dev);
  return made;
}

/// Runs the plan on operands in the memory of its device; numbers of groups have been checked.
void run_on(tw_plan const& made, gemm_operands const& operands, tensor_place place,
            tw_gemm_args const& args) {
  gemm_problem const& p = made.plan.problem;
  if (place.is_host()) {
    emu::options o = emulator_options(args, p);
    if (made.of_card) o.sms = made.dev.sm_count;
    gemm_emulated(made.plan, operands, o);
    return;
  }
  on_device const here(place.index);
  int const generation = made.dev.compute_capability / 10;
  if (gpu_info const& g = gpu(); g.usable && g.compute_capability / 10 != generation)
    throw rejected({"TW0504", "compute capability of " + g.name,
                    fmt::format("{}.{}", g.compute_capability / 10, g.compute_capability % 10),
                    fmt::format("{}.x: the plan is for {}", generation, made.dev.name),
                    "make the plan without `device`"});
  gemm(made.plan, with_workspace(operands, args), static_cast<cudaStream_t>(args.stream),
       launch_of(args));
}

void run(tw_plan const& made, tw_gemm_args const* args) {
  check_given("tw_gemm_args", args);
  call_shape const shape(*args);
  if (shape == made.shape && !computes_nothing(made.plan.problem))
    if (auto const place = shape.place()) return run_on(made, addresses_of(*args), *place, *args);
  gemm_call const call(args);
  tensor_gemm const from = gemm_of_tensors(call.arguments());
  if (!(from.problem == made.plan.problem))
    throw rejected({"TW0488", "arguments of tw_plan_run()", "another problem than the plan's",
                    "the same shapes, strides, types, scales and options",
                    "make a plan for these tensors"});
  if (from.place.is_host()) {
    if (computes_nothing(from.problem)) return;
    check_numbers(from);
  }
  run_on(made, from.operands, from.place, call.args());
}

std::string json_of(tw_plan const& made, int top) {
  gemm_problem const& p = made.plan.problem;
  auto const plans_for = [&](gemm_problem const& q) {
    return plan_candidates(q, made.operands, made.dev);
  };
  plan_answer a = answer_of(p, layout_word(p), epilogue_word_of(p), made.dev,
                            made.operands.workspace_bytes, plans_for);
  a.words = with_arguments;
  return json_text(plan_json(a, top));
}

}  // namespace

void fill_result(tw_result* to, tensor_result const& r) {
  check_given("result", to);
  check_size("tw_result", to, to->size, sizeof(tw_result), sizeof(tw_result));
  tw_result own{};
  own.size = to->size;
  own.ndim = r.rank, own.dtype = dl_type(r.type);
  own.scale_ndim = r.scale_rank, own.scale_dtype = dl_type(r.scale_type);
  std::copy_n(r.shape, 3, own.shape);
  std::copy_n(r.scale_shape, 3, own.scale_shape);
  std::copy_n(r.scale_strides, 3, own.scale_strides);
  own.scale_bytes = r.scale_bytes, own.second_offset = r.second_offset;
  std::memcpy(to, &own, std::min<std::size_t>(to->size, sizeof own));
}

}  // namespace tw::capi

extern "C" {

tw_status tw_gemm(tw_gemm_args const* args) {
  return tw::capi::guarded([&] { tw::capi::compute(tw::capi::gemm_call(args)); });
}

tw_status tw_result_shape(tw_gemm_args const* args, tw_result* result) {
  return tw::capi::guarded([&] {
    tw::capi::gemm_call const call(args);
    tw::capi::fill_result(result, tw::result_of_tensors(call.arguments()));
  });
}

tw_status tw_plan_make(tw_gemm_args const* args, tw_plan** plan) {
  return tw::capi::guarded([&] {
    tw::capi::check_given("plan", plan);
    *plan = nullptr;
    *plan = tw::capi::plan_of(tw::capi::gemm_call(args)).release();
  });
}

tw_status tw_plan_run(tw_plan const* plan, tw_gemm_args const* args) {
  return tw::capi::guarded([&] {
    tw::capi::check_given("plan", plan);
    tw::capi::run(*plan, args);
  });
}

int64_t tw_plan_workspace_bytes(tw_plan const* plan) {
  return plan == nullptr ? 0 : plan->plan.workspace_bytes;
}

tw_status tw_plan_json(tw_plan const* plan, int32_t top, char** json) {
  return tw::capi::guarded([&] {
    tw::capi::check_given("json", json);
    *json = nullptr;
    tw::capi::check_given("plan", plan);
    if (top < 0)
      throw tw::rejected({"TW0486", "top", fmt::format("{}", top), "0 (all) or more", ""});
    *json = tw::capi::text_for_caller(tw::capi::json_of(*plan, top));
  });
}

tw_status tw_plan_text(tw_plan const* plan, char** text) {
  return tw::capi::guarded([&] {
    tw::capi::check_given("text", text);
    *text = nullptr;
    tw::capi::check_given("plan", plan);
    *text = tw::capi::text_for_caller(tw::plan_text(plan->plan));
  });
}

tw_status tw_plan_from_text(tw_gemm_args const* args, char const* text, tw_plan** plan) {
  return tw::capi::guarded([&] {
    tw::capi::check_given("plan", plan);
    *plan = nullptr;
    tw::capi::check_given("text", text);
    *plan = tw::capi::plan_of(tw::capi::gemm_call(args), text).release();
  });
}

void tw_plan_free(tw_plan* plan) { delete plan; }

}  // extern "C"
