// SPDX-License-Identifier: Apache-2.0
// direct.hpp  Plans that are remembered, and the short way to them: tensors on a GPU that
//             exchange.hpp reads, and a result that their library allocates.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "plan.hpp"
#include "weights.hpp"

namespace tw_python {

/// Memory of an allocator begins at multiples of it; keys of plans do not tell larger ones apart.
inline constexpr std::uintptr_t most_alignment = 256;

inline std::uintptr_t address_of(DLTensor const& t) {
  return reinterpret_cast<std::uintptr_t>(t.data) + t.byte_offset;
}

/// Two calls with equal keys have the same plan. The key has the shape, strides, type, device and
/// alignment of each tensor, all words and all numbers; without d also the requested type. Of a
/// tensor of more than 4 dimensions and of a word of more than 64 letters it has a part: they are
/// refused before a plan is remembered.
class plan_key {
 public:
  explicit plan_key(tw_gemm_args const& x, nb::handle out_dtype = {}) {
    std::uint32_t given = 0;
    for (DLTensor const* t :
         {x.a, x.b, x.c, static_cast<DLTensor const*>(x.d), static_cast<DLTensor const*>(x.aux),
          x.bias, x.scale_a, x.scale_b, static_cast<DLTensor const*>(x.scale_d), x.second_a,
          x.second_b, x.groups, x.row_weight, x.group_alpha, x.gather, x.scatter}) {
      given = 2 * given + (t == nullptr ? 0 : 1);
      if (t != nullptr) add(*t);
    }
    add(&given, sizeof given);
    for (char const* word : {x.scale_a_as, x.scale_b_as, x.scale_d_as, x.format, x.activation,
                             x.gate, x.groups_as, x.group_axis}) {
      if (word != nullptr) add(word, strnlen(word, most_letters));
      add("", 1);
    }
    struct {
      float alpha, beta;
      std::int32_t beta_given, promote;
      std::int64_t flags, workspace_bytes, group_size, choices;
      PyObject const* type;
    } const numbers{*x.alpha,
                    x.beta == nullptr ? 0.0F : *x.beta,
                    x.beta != nullptr,
                    x.promote,
                    x.flags,
                    x.workspace_bytes,
                    x.expected_group_size,
                    x.gather_choices,
                    out_dtype.ptr()};
    add(&numbers, sizeof numbers);
    if (x.weights_b != nullptr) add(x.weights_b, header_bytes);
  }
  operator std::string_view() const { return {bytes_, size_}; }

 private:
  static constexpr int most_dimensions = 4;
  static constexpr std::size_t most_letters = 64;

  void add(void const* from, std::size_t bytes) {
    std::memcpy(bytes_ + size_, from, bytes);
    size_ += bytes;
  }
  void add(DLTensor const& t) {
    std::uintptr_t const bits = address_of(t) | most_alignment;
    struct {
      std::uintptr_t alignment;
      DLDataType type;
      std::int32_t index, rank, strided;
    } const facts{bits & -bits, t.dtype, t.device.device_id, t.ndim, t.strides != nullptr};
    add(&facts, sizeof facts);
    auto const bytes = static_cast<std::size_t>(std::min(t.ndim, most_dimensions)) * 8;
    add(t.shape, bytes);
    if (t.strides != nullptr) add(t.strides, bytes);
  }

  std::size_t size_ = 0;
  char bytes_[16 * (32 + 16 * most_dimensions) + 8 * (most_letters + 1) + 64 + header_bytes + 16];
};

/// A plan of a call with d. Of a call without d also the tensor that its results are allocated
/// like, and the object that names the requested type: held, so that its address stays its own.
struct remembered {
  nb::object plan, prototype = {}, out_dtype = {};
};
struct hash_of_key {
  using is_transparent = void;
  std::size_t operator()(std::string_view key) const { return std::hash<std::string_view>{}(key); }
};
using plan_table = std::unordered_map<std::string, remembered, hash_of_key, std::equal_to<>>;
inline plan_table& the_plans() {
  static plan_table* plans = new plan_table;  // emptied by end()
  return *plans;
}

inline plan_table::iterator remember(plan_key const& key, remembered entry) {
  plan_table& plans = the_plans();
  constexpr std::size_t most = 4096;
  if (plans.size() >= most) plan_table().swap(plans);  // its objects may call Python
  return plans.insert_or_assign(std::string(key), std::move(entry)).first;
}

/// In the child of a fork: tensors on a GPU cannot be released there.
inline void forget_plans() { new plan_table(std::move(the_plans())), the_plans().clear(); }

/// The arguments of a GEMM whose tensors exchange.hpp reads, on a GPU.
class direct_call {
 public:
  tw_gemm_args args{};

  /// t: a, b, c, d, bias, scale_a, scale_b, second_a, second_b; words and numbers: as of gemm_call,
  /// the numbers end before the stream.
  direct_call(nb::tuple const& t, nb::tuple const& words, nb::tuple const& numbers)
      : type_(direct_type_of(t[0])),
        like_(t[0].ptr()) {
    if (type_ == nullptr) return;
    args.size = sizeof args;
    fits_ = take(args.a, t[0]) && take(args.b, t[1]) && take(args.c, t[2]) && take(args.d, t[3]) &&
            take(args.bias, t[4]) && take(args.scale_a, t[5]) && take(args.scale_b, t[6]) &&
            take(args.second_a, t[7]) && take(args.second_b, t[8]);
    if (!fits_) return;
    set_words(args, words), set_numbers(args, alpha_, beta_, numbers);
  }
  direct_call(direct_call const&) = delete;
  direct_call& operator=(direct_call const&) = delete;

  /// False: the call has to take the other way, which has more kinds of tensors and all refusals.
  bool fits() const { return fits_; }

  /// d, allocated if it is None. The answer None: the other way has to be taken.
  nb::object run(plan const& p, nb::handle out, nb::handle prototype) {
    nb::object d = nb::borrow(out);
    if (out.is_none()) {
      if (!prototype.is_valid() || prototype.is_none()) return nb::none();
      d = nb::steal(PyObject_CallFunctionObjArgs(type_->empty_like, prototype.ptr(), nullptr));
      if (!d.is_valid()) throw nb::python_error();
      if (!take(args.d, d) || address_of(*args.d) % most_alignment != 0) return nb::none();
    }
    DLDevice const place = args.a->device;
    if (type_->api->current_stream(place.device_type, place.device_id, &args.stream) != 0)
      throw nb::python_error();
    nb::object memory;  // kept until the launch
    if (std::int64_t const bytes = p.workspace_bytes(); bytes > 0) {
      memory = nb::handle(type_->memory_for)(like_, bytes);
      args.workspace = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(memory[0]));
      args.workspace_bytes = nb::cast<std::int64_t>(memory[1]);
    }
    p.run(args);
    return d;
  }

 private:
  /// False: not of a type that is read directly, in host memory, or gradients of it are recorded.
  template <class To>
  bool take(To& to, nb::handle h) {
    if (h.is_none()) return true;
    direct_type const* const type = direct_type_of(h);
    if (type == nullptr) return false;
    static PyObject* const name = PyUnicode_InternFromString("requires_grad");
    nb::object const wanted = nb::steal(PyObject_GetAttr(h.ptr(), name));
    if (!wanted.is_valid()) throw nb::python_error();
    if (wanted.ptr() == Py_True && nb::handle(type->gradients)().ptr() == Py_True) return false;
    DLTensor& t = tensors_[static_cast<std::size_t>(count_++)];
    if (type->api->tensor_of(h.ptr(), &t) != 0) {
      PyErr_Clear();
      return false;
    }
    to = &t;
    return t.device.device_type != kDLCPU;
  }

  std::array<DLTensor, 10> tensors_{};
  int count_ = 0;
  float alpha_ = 1, beta_ = 0;
  direct_type const* type_;
  nb::handle like_;
  bool fits_ = false;
};

/// The result of a GEMM whose plan is remembered; None if it is not, or the call does not fit.
/// tensors: as of direct_call, then the requested type.
inline nb::object remembered_gemm(nb::tuple const& tensors, nb::tuple const& words,
                                  nb::tuple const& numbers) {
  nb::object const out = tensors[3], out_dtype = tensors[9];
  if (!out.is_none() && !out_dtype.is_none()) return nb::none();
  direct_call call(tensors, words, numbers);
  if (!call.fits() || call.args.device != nullptr) return nb::none();
  plan_table& plans = the_plans();
  nb::handle const type = out.is_none() ? nb::handle(out_dtype) : nb::handle();
  auto const found = plans.find(std::string_view(plan_key(call.args, type)));
  if (found == plans.end()) return nb::none();
  remembered const entry = found->second;  // another thread may clear the plans
  return call.run(nb::cast<plan const&>(entry.plan), out, entry.prototype);
}

/// remembered_gemm() by a plan that the caller has. tensors: as of direct_call, then the
/// tensor that the result is allocated like, or None.
inline nb::object run_directly(plan const& p, nb::tuple const& tensors, nb::tuple const& words,
                               nb::tuple const& numbers) {
  direct_call call(tensors, words, numbers);
  return call.fits() ? call.run(p, nb::object(tensors[3]), nb::object(tensors[9])) : nb::none();
}

}  // namespace tw_python
