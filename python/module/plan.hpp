// SPDX-License-Identifier: Apache-2.0
// plan.hpp  The arguments of a GEMM from tuples of Python, and a plan as an object.
#pragma once

#include <cstdint>

#include "calls.hpp"

namespace tw_python {

/// 0 is never in Python, and the default in C.
inline std::int32_t promote_of(std::int32_t k) {
  if (k < 0)
    throw bad_argument{"TW0437", "promotion interval", std::to_string(k), "128, 64 or 0 (never)"};
  return k == 0 ? TW_PROMOTE_NEVER : k;
}

/// An address; of None the stream that the library of the tensor queues its work in.
inline void* stream_of(nb::handle given, nb::handle like, DLTensor const* t) {
  if (!given.is_none()) {
    std::uintptr_t address = 0;
    if (nb::try_cast(given, address)) return reinterpret_cast<void*>(address);
    PyErr_Clear();
    throw bad_argument{"TW0486", "stream", type_text(given),
                       "a stream of the arrays' library, or its address"};
  }
  exchange_api const* const api = exchange_of(like);
  void* stream = nullptr;
  if (api != nullptr && t->device.device_type != kDLCPU &&
      api->current_stream(t->device.device_type, t->device.device_id, &stream) != 0)
    throw nb::python_error();
  return stream;
}

/// An element of a tuple; None after its end.
inline nb::object optional(nb::tuple const& t, std::size_t i) {
  return i < t.size() ? nb::object(t[i]) : nb::none();
}

/// scale_a_as, scale_b_as, scale_d_as, format, activation, gate, device, and after four words of
/// groups weights_b; the tuple keeps the texts.
inline void set_words(tw_gemm_args& args, nb::tuple const& w) {
  args.scale_a_as = word(w[0], "scale_a_as"), args.scale_b_as = word(w[1], "scale_b_as");
  args.scale_d_as = word(w[2], "scale_out"), args.format = word(w[3], "format");
  args.activation = word(w[4], "activation"), args.gate = word(w[5], "gate");
  args.device = word(w[6], "device");
  if (nb::object const header = optional(w, 11); !header.is_none())
    args.weights_b = nb::cast<nb::bytes>(header).data();
}

/// alpha, beta (or None), promote, threads, flags; alpha and beta live as long as the arguments.
inline void set_numbers(tw_gemm_args& args, float& alpha, float& beta, nb::tuple const& n) {
  alpha = number<float>(n[0], "alpha");
  args.alpha = &alpha;
  if (!n[1].is_none()) beta = number<float>(n[1], "beta"), args.beta = &beta;
  args.promote = promote_of(number<std::int32_t>(n[2], "promote"));
  args.threads = nb::cast<std::int32_t>(n[3]);
  args.flags = nb::cast<std::uint32_t>(n[4]);
}

/// The arguments of a GEMM, from three tuples.
///
///   tensors  a, b, c, d, aux, bias, scale_a, scale_b, scale_d, second_a, second_b; of groups also
///            groups, group_status, row_weight, group_alpha, gather, scatter
///   words    scale_a_as, scale_b_as, scale_d_as, format, activation, gate, device; of groups also
///            groups_as, group_axis, expected_group_size and gather_choices (integers); of prepared
///            weights also weights_b (bytes), without groups after four None
///   numbers  alpha, beta (or None), promote, threads, flags, stream (None: the current one),
///            workspace, workspace_bytes
struct gemm_call {
  tensor a, b, c, d, aux, bias, scale_a, scale_b, scale_d, second_a, second_b;
  tensor groups, group_status, row_weight, group_alpha, gather, scatter;
  float alpha = 1, beta = 0;
  tw_gemm_args args{};

  gemm_call(nb::tuple const& t, nb::tuple const& w, nb::tuple const& n)
      : a(t[0], "a"),
        b(t[1], "b"),
        c(t[2], "c"),
        d(t[3], "out", true),
        aux(t[4], "aux", true),
        bias(t[5], "bias"),
        scale_a(t[6], "scale_a"),
        scale_b(t[7], "scale_b"),
        scale_d(t[8], "scale_out", true),
        second_a(t[9], "level of a"),
        second_b(t[10], "level of b"),
        groups(optional(t, 11), "groups"),
        group_status(optional(t, 12), "status", true),
        row_weight(optional(t, 13), "row_weight"),
        group_alpha(optional(t, 14), "group_alpha"),
        gather(optional(t, 15), "gather"),
        scatter(optional(t, 16), "scatter") {
    args.size = sizeof args;
    args.a = a.get(), args.b = b.get(), args.c = c.get(), args.d = d.get(), args.aux = aux.get();
    args.bias = bias.get(), args.scale_a = scale_a.get(), args.scale_b = scale_b.get();
    args.scale_d = scale_d.get(), args.second_a = second_a.get(), args.second_b = second_b.get();
    set_words(args, w);
    args.groups = groups.get(), args.group_status = group_status.get();
    args.groups_as = word(optional(w, 7), "groups_as");
    args.group_axis = word(optional(w, 8), "axis");
    args.row_weight = row_weight.get(), args.group_alpha = group_alpha.get();
    args.gather = gather.get(), args.scatter = scatter.get();
    if (nb::object const size = optional(w, 9); !size.is_none())
      args.expected_group_size = number<std::int64_t>(size, "expected_size");
    if (nb::object const choices = optional(w, 10); !choices.is_none())
      args.gather_choices = number<std::int64_t>(choices, "choices");
    set_numbers(args, alpha, beta, n);
    args.stream = stream_of(n[5], t[0], args.a);
    args.workspace = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(n[6]));
    args.workspace_bytes = nb::cast<std::int64_t>(n[7]);
  }
};

/// A plan of tw_plan_make() or tw_plan_from_text(), released with the object.
class plan {
 public:
  /// `from`: a text of plan::text(); nullptr: the kernel is chosen.
  plan(nb::tuple const& tensors, nb::tuple const& words, nb::tuple const& numbers,
       char const* from) {
    gemm_call const call(tensors, words, numbers);
    check(without_gil([&] {
      return from == nullptr ? tw_plan_make(&call.args, &made_)
                             : tw_plan_from_text(&call.args, from, &made_);
    }));
  }
  explicit plan(tw_gemm_args const& args) {
    check(without_gil([&] { return tw_plan_make(&args, &made_); }));
  }
  plan(plan const&) = delete;
  plan& operator=(plan const&) = delete;
  ~plan() { tw_plan_free(made_); }

  void run(tw_gemm_args const& args) const {
    check(without_gil([&] { return tw_plan_run(made_, &args); }));
  }
  nb::str json(int top) const {
    char* text = nullptr;
    check(without_gil([&] { return tw_plan_json(made_, top, &text); }));
    return owned(text);
  }
  nb::str text() const {
    char* text = nullptr;
    check(tw_plan_text(made_, &text));
    return owned(text);
  }
  std::int64_t workspace_bytes() const { return tw_plan_workspace_bytes(made_); }

 private:
  tw_plan* made_ = nullptr;
};

}  // namespace tw_python
