// SPDX-License-Identifier: Apache-2.0
// arguments.cpp  Sizes of structs, tensors and words.
#include "capi/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <new>
#include <utility>

#include "tilewright/base/check.hpp"

namespace tw::capi {

void check_given(char const* name, void const* pointer) {
  if (pointer == nullptr) throw rejected({"TW0484", name, "NULL", "an address", ""});
}

void check_size(char const* name, void const* args, std::uint32_t size, std::size_t first_size,
                std::size_t own_size) {
  auto const refuse = [&](std::string need, std::string hint) {
    throw rejected({"TW0487", fmt::format("{}.size", name), fmt::format("{}", size),
                    std::move(need), std::move(hint)});
  };
  if (size < first_size)
    refuse(fmt::format("sizeof({}), at least {}", name, first_size), "set the member `size` first");
  auto const* const bytes = static_cast<unsigned char const*>(args);
  constexpr std::uint32_t most = 1 << 16;
  if (size > most) refuse(fmt::format("sizeof({}), {}", name, own_size), "zero the struct first");
  for (std::size_t i = own_size; i < size; ++i)
    if (bytes[i] != 0)
      refuse(fmt::format("{}, or zeros after it", own_size),
             "this library is older than the header: it lacks a member that is set");
}

tensor_argument tensor_of(DLTensor const& t, char const* name) {
  if (t.ndim < 0 || t.ndim > 32)
    throw rejected({"TW0481", fmt::format("dimensions of {}", name), fmt::format("{}", t.ndim),
                    "0 to 32", ""});
  if (t.ndim > 0 && t.shape == nullptr)
    throw rejected({"TW0484", fmt::format("shape of {}", name), "NULL", "an address", ""});
  tensor_argument x;
  if (t.data != nullptr) x.data = static_cast<char const*>(t.data) + t.byte_offset;
  x.rank = t.ndim, x.shape = t.shape, x.strides = t.strides;
  x.type = {t.dtype.code, t.dtype.bits, t.dtype.lanes};
  x.place = {static_cast<int>(t.device.device_type), t.device.device_id};
  return x;
}

std::array<std::pair<role, DLTensor const*>, operands_of_a_call> tensors_of(tw_gemm_args const& x) {
  return {{
      {role::a, x.a},
      {role::b, x.b},
      {role::c, x.c},
      {role::d, x.d},
      {role::aux, x.aux},
      {role::bias, x.bias},
      {role::scale_a, x.scale_a},
      {role::scale_b, x.scale_b},
      {role::scale_d, x.scale_d},
      {role::second_a, x.second_a},
      {role::second_b, x.second_b},
      {role::groups, x.groups},
      {role::row_weight, x.row_weight},
      {role::group_alpha, x.group_alpha},
      {role::gather, x.gather},
      {role::scatter, x.scatter},
  }};
}

gemm_call::gemm_call(tw_gemm_args const* args)
    : args_(own_copy("tw_gemm_args", args, offsetof(tw_gemm_args, groups))) {
  constexpr unsigned known = TW_INVARIANT | TW_C_LAST | TW_F16_SUMS | TW_WRAP | TW_NO_CHECKS |
                             TW_EARLY_START | TW_NO_EARLY_START | TW_SCALE_D_POWER_OF_TWO;
  if ((args_.flags & ~known) != 0)
    throw rejected({"TW0486", "flags", fmt::format("{:#x}", args_.flags),
                    fmt::format("flags within {:#x}", known), ""});
  tensor_argument* next = tensors_;
  auto const take = [&](DLTensor const* t, char const* name) -> tensor_argument const* {
    if (t == nullptr) return nullptr;
    *next = tensor_of(*t, name);
    return next++;
  };
  gemm_arguments& g = arguments_;
  tw_gemm_args const& x = args_;
  for (auto const& [is, tensor] : tensors_of(x))
    g.*argument_row_of(is).tensor = take(tensor, row_of(is).word);
  g.scale_a_as = word(x.scale_a_as), g.scale_b_as = word(x.scale_b_as);
  g.scale_d_as = word(x.scale_d_as), g.format = word(x.format);
  g.activation = word(x.activation), g.gate = word(x.gate);
  g.group_status = take(x.group_status, "group_status");
  g.groups_as = word(x.groups_as), g.group_axis = word(x.group_axis);
  g.expected_group_size = x.expected_group_size;
  g.gather_choices = x.gather_choices == 0 ? 1 : x.gather_choices;
  g.weights_b = x.weights_b;
  if (x.alpha != nullptr) g.alpha = *x.alpha;
  if (x.beta != nullptr) g.beta = *x.beta;
  g.precision.promote_k = x.promote == 0 ? 128 : x.promote == TW_PROMOTE_NEVER ? 0 : x.promote;
  g.precision.f16_sums = (x.flags & TW_F16_SUMS) != 0;
  g.precision.wrapping_sums = (x.flags & TW_WRAP) != 0;
  g.reproducible = (x.flags & TW_INVARIANT) != 0;
  g.c_last = (x.flags & TW_C_LAST) != 0;
  g.scale_d_power_of_two = (x.flags & TW_SCALE_D_POWER_OF_TWO) != 0;
}

device const& device_of_word(std::string_view word) {
  std::string ids;
  for (device const& d : known_devices()) {
    if (d.id == word || d.name == word) return d;
    ids += (ids.empty() ? "" : ", ") + d.id;
  }
  throw rejected({"TW0434", "device", std::string(word), ids, "tw_devices_json() lists them"});
}

namespace {

/// A run that ends within milliseconds: it is not interrupted, since a run that can be interrupted
/// has a separate OS thread, which costs 70 us.
bool is_short(gemm_problem const& p) {
  auto const padded = [](std::int64_t extent) {
    return static_cast<double>(std::max<std::int64_t>(extent, 64));
  };
  constexpr double short_macs = 1 << 21;
  return !p.groups &&
         padded(p.m) * padded(p.n) * padded(p.k) * static_cast<double>(p.batch) <= short_macs;
}

}  // namespace

emu::options emulator_options(tw_gemm_args const& args, gemm_problem const& p) {
  if (args.threads < 0)
    throw rejected({"TW0486", "threads", fmt::format("{}", args.threads), "0 or more", ""});
  emu::options o;
  // Threads of the emulator cost more than a small GEMM.
  constexpr double small = 1 << 21;
  double const macs = static_cast<double>(p.m) * static_cast<double>(p.n) *
                      static_cast<double>(p.k) * static_cast<double>(p.batch);
  o.os_threads = args.threads == 0 && macs <= small ? 1 : args.threads;
  o.hazards = (args.flags & TW_NO_CHECKS) == 0;
  o.catch_crashes = false;
  if (!is_short(p)) o.interrupt = interrupt_function();
  return o;
}

char* text_for_caller(std::string_view text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = 0;
  return copy;
}

}  // namespace tw::capi
