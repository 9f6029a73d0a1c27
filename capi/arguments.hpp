// SPDX-License-Identifier: Apache-2.0
// arguments.hpp  Structs of callers with any header, and DLPack's tensors, as the library has them.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

#include "tilewright.h"
#include "tilewright/arch/emu/options.hpp"
#include "tilewright/device/device.hpp"
#include "tilewright/dispatch/tensors.hpp"

namespace tw::capi {

/// Throws `rejected` TW0487: a struct whose size is none, or that has members which this library
/// does not have and which are not zero.
void check_size(char const* name, void const* args, std::uint32_t size, std::size_t first_size,
                std::size_t own_size);
/// Throws `rejected` TW0484 if the pointer is NULL.
void check_given(char const* name, void const* pointer);

/// A copy of the caller's struct; members that its header does not have are zero.
template <class Args>
Args own_copy(char const* name, Args const* args, std::size_t first_size = sizeof(Args)) {
  check_given(name, args);
  check_size(name, args, args->size, first_size, sizeof(Args));
  Args own{};
  std::memcpy(&own, args, std::min<std::size_t>(args->size, sizeof(Args)));
  return own;
}

inline std::string_view word(char const* text) { return text == nullptr ? "" : text; }

/// A tensor. Throws `rejected` TW0481, TW0484 if the struct describes no tensor.
tensor_argument tensor_of(DLTensor const& t, char const* name);
/// A type for callers.
inline DLDataType dl_type(tensor_type t) { return {t.code, t.bits, t.lanes}; }

/// The roles of the operands of a call and their tensors; nullptr: not given.
constexpr std::size_t operands_of_a_call = std::size(argument_rows);
std::array<std::pair<role, DLTensor const*>, operands_of_a_call> tensors_of(
    tw_gemm_args const& args);

/// The arguments of a GEMM and the tensors that they refer to.
class gemm_call {
 public:
  explicit gemm_call(tw_gemm_args const* args);
  gemm_call(gemm_call const&) = delete;
  gemm_call& operator=(gemm_call const&) = delete;

  tw_gemm_args const& args() const { return args_; }
  gemm_arguments const& arguments() const { return arguments_; }

 private:
  tw_gemm_args args_;
  tensor_argument tensors_[17];
  gemm_arguments arguments_;
};

/// Results for the caller's struct, which may be of another header.
void fill_result(tw_result* to, tensor_result const& r);

/// A described device by its id or name. Throws `rejected` TW0434.
device const& device_of_word(std::string_view word);

/// How the emulator runs a GEMM.
emu::options emulator_options(tw_gemm_args const& args, gemm_problem const& p);

/// Copies a text for the caller.
char* text_for_caller(std::string_view text);

/// The function of tw_set_interrupt(), or nothing.
std::function<bool()> interrupt_function();

}  // namespace tw::capi
