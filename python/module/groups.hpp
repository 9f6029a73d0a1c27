// SPDX-License-Identifier: Apache-2.0
// groups.hpp  Groups of ranks: tw_group_*() as a class. Call: the arguments of a GEMM from three
//             tuples (module.cpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "calls.hpp"

namespace tw_python {

/// operation, path (or None), rows (a list, or None), float32_partials
struct group_arguments {
  std::vector<std::int64_t> rows;
  tw_group_call call{};

  group_arguments(nb::handle operation, nb::handle path, nb::handle of_ranks, bool float32,
                  std::int32_t ranks) {
    call.size = sizeof call;
    call.operation = word(operation, "operation");
    call.path = word(path, "path");
    call.float32_partials = float32 ? 1 : 0;
    if (of_ranks.is_none()) return;
    if (!nb::try_cast(of_ranks, rows) || rows.size() != static_cast<std::size_t>(ranks)) {
      PyErr_Clear();
      throw bad_argument{"TW0903", "rows of the ranks", type_text(of_ranks),
                         "a list with an integer for each rank"};
    }
    call.rows = rows.data();
  }
};

inline tw_group_options group_options(std::int64_t gathered_bytes, double timeout_s) {
  tw_group_options o{};
  o.size = sizeof o;
  o.gathered_bytes = gathered_bytes, o.timeout_s = timeout_s;
  return o;
}

inline std::int64_t group_arena_bytes(std::int64_t gathered_bytes, bool on_gpu) {
  tw_group_options const o = group_options(gathered_bytes, 0);
  std::int64_t bytes = 0;
  check(tw_group_arena_bytes(&o, on_gpu ? 1 : 0, &bytes));
  return bytes;
}

class group {
 public:
  group(std::int32_t rank, std::vector<std::uintptr_t> const& arenas, bool on_gpu,
        std::int64_t gathered_bytes, double timeout_s)
      : ranks_(static_cast<std::int32_t>(arenas.size())) {
    tw_group_options const o = group_options(gathered_bytes, timeout_s);
    std::vector<void*> addresses;
    for (std::uintptr_t const x : arenas) addresses.push_back(reinterpret_cast<void*>(x));
    check(without_gil([&] {
      return tw_group_from_addresses(rank, ranks_, addresses.data(), on_gpu ? 1 : 0, &o, &made_);
    }));
  }
  group(std::uintptr_t comm, std::int32_t ranks, nb::handle library, std::int64_t gathered_bytes,
        double timeout_s)
      : ranks_(ranks) {
    tw_group_options const o = group_options(gathered_bytes, timeout_s);
    char const* const file = word(library, "library");
    check(without_gil(
        [&] { return tw_group_from_nccl(reinterpret_cast<void*>(comm), &o, file, &made_); }));
  }
  group(group const&) = delete;
  group& operator=(group const&) = delete;
  ~group() { close(); }

  template <class Call>
  void gemm(nb::handle operation, nb::handle path, nb::handle rows, bool float32,
            nb::tuple const& tensors, nb::tuple const& words, nb::tuple const& numbers,
            nb::list const& others) const {
    group_arguments g(operation, path, rows, float32, ranks_);
    Call const call(tensors, words, numbers);
    std::vector<std::unique_ptr<Call>> further;
    std::vector<tw_gemm_args const*> args;
    for (nb::handle const x : others) {
      auto const t = nb::cast<nb::tuple>(x);
      further.push_back(std::make_unique<Call>(nb::cast<nb::tuple>(t[0]), nb::cast<nb::tuple>(t[1]),
                                               nb::cast<nb::tuple>(t[2])));
      args.push_back(&further.back()->args);
    }
    g.call.others = args.data(), g.call.others_count = static_cast<std::int64_t>(args.size());
    tw_group* const made = given();
    tw_python::check(without_gil([&] { return tw_group_gemm(made, &g.call, &call.args); }));
  }
  /// The words and the record of a call's plan.
  template <class Call>
  std::tuple<std::string, std::string> explain(nb::handle operation, nb::handle path,
                                               nb::handle rows, bool float32,
                                               nb::tuple const& tensors, nb::tuple const& words,
                                               nb::tuple const& numbers) const {
    group_arguments const g(operation, path, rows, float32, ranks_);
    Call const call(tensors, words, numbers);
    tw_group* const made = given();
    char *text = nullptr, *json = nullptr;
    tw_python::check(
        without_gil([&] { return tw_group_explain(made, &g.call, &call.args, &text, &json); }));
    std::tuple<std::string, std::string> const both{text, json};
    tw_free(text), tw_free(json);
    return both;
  }
  void check_ranks() const {
    tw_group* const made = given();
    tw_python::check(without_gil([&] { return tw_group_check(made); }));
  }
  void abort() const {
    tw_group* const made = given();
    tw_python::check(without_gil([&] { return tw_group_abort(made); }));
  }
  void close() {
    tw_group* const last = made_;
    made_ = nullptr;
    if (last == nullptr) return;
    static_cast<void>(without_gil([&] {
      tw_group_free(last);
      return TW_OK;
    }));
  }

 private:
  /// With the GIL.
  tw_group* given() const {
    if (made_ == nullptr) throw bad_argument{"TW0906", "group", "closed", "a group"};
    return made_;
  }

  tw_group* made_ = nullptr;
  std::int32_t ranks_;
};

}  // namespace tw_python
