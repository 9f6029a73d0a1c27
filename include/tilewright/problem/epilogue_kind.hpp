// SPDX-License-Identifier: Apache-2.0
// epilogue_kind.hpp  The epilogues of GEMM kernels. Each is a type that states its names, its
//                    operands and its error bound; epilogue_list registers it. The lists of
//                    kernels, planner, checker, messages, help texts and docs read that list.
//
// The members of an epilogue E:
//   word      its name in the column `epilogue` of src/family/FAMILY/instances.txt
//   suffix    what the names of its kernels end with; gen/instances.py reads both from this file
//   id        its enumerator of epilogue_id
//   text      what it is, in messages: "a GEMM with a gate"
//   operands  what it has beside alpha A B and beta C. A problem goes to the kernels whose epilogue
//             has exactly the operands that it needs: no two epilogues have the same
//   bound(x, t)
//             the exact result of an element and how far D may be from it (fused_bound.cpp)
//
// Its computation, on the accumulators of a kernel, is the specialisation of `epilogue_of<C, E>` in
// kernel/sm90/epilogue (epilogue.hpp includes all).
#pragma once

#include <cstdint>
#include <optional>

#include "tilewright/base/hd.hpp"
#include "tilewright/problem/activation.hpp"
#include "tilewright/problem/error_bound.hpp"
#include "tilewright/problem/gemm.hpp"

namespace tw {

struct exact_fused;  // fused_bound.hpp
struct fused_terms;

/// The operands and results of an epilogue beside alpha A B and beta C.
struct epilogue_operands {
  bool ops = false;     // vectors along rows and columns, and an activation
  bool gate = false;    // columns of A B in pairs: half of the columns in D
  bool aux = false;     // an auxiliary output
  bool scales = false;  // scales of D
  bool operator==(epilogue_operands const&) const = default;
};

/// The operands that the epilogue of a problem needs.
constexpr epilogue_operands operands_needed(gemm_problem const& p) {
  return {.ops = is_fused(p.epilogue) || p.aux || p.scale_d,
          .gate = p.epilogue.gate != gating::none,
          .aux = p.aux.has_value(),
          .scales = p.scale_d.has_value()};
}

/// Has the epilogue of this GEMM scales of rows or columns, and nothing else?
inline bool has_scales_alone(gemm_problem const& p) {
  gemm_epilogue e = p.epilogue;
  e.row_scale = e.col_scale = {};
  return is_fused(p.epilogue) && !is_fused(e) && !p.aux && !p.scale_d;
}

/// The epilogues by name, as a kernel's configuration has them.
enum class epilogue_id : std::uint8_t {
  plain,
  ops,
  gated,
  ops_aux,
  gated_aux,
  quantize,
  gated_quantize
};

namespace epilogues {

/// D = alpha A B + beta C.
struct plain {
  static constexpr char const *word = "-", *suffix = "";
  static constexpr epilogue_id id = epilogue_id::plain;
  static constexpr char const* text = "without a fused epilogue";
  static constexpr epilogue_operands operands{};
  static expected_element bound(exact_fused const& x, fused_terms const& t);
};

/// Everything of problem/epilogue.hpp but a gate.
struct ops {
  static constexpr char const *word = "ops", *suffix = "_ops";
  static constexpr epilogue_id id = epilogue_id::ops;
  static constexpr char const* text = "with a fused epilogue";
  static constexpr epilogue_operands operands{.ops = true};
  static expected_element bound(exact_fused const& x, fused_terms const& t);
};

/// Everything with a gate.
struct gated {
  static constexpr char const *word = "gated", *suffix = "_gate";
  static constexpr epilogue_id id = epilogue_id::gated;
  static constexpr char const* text = "with a gate";
  static constexpr epilogue_operands operands{.ops = true, .gate = true};
  static expected_element bound(exact_fused const& x, fused_terms const& t) {
    return ops::bound(x, t);
  }
};

/// ops, and x before its activation as a second result.
struct ops_aux {
  static constexpr char const *word = "ops_aux", *suffix = "_ops_aux";
  static constexpr epilogue_id id = epilogue_id::ops_aux;
  static constexpr char const* text = "with an auxiliary output";
  static constexpr epilogue_operands operands{.ops = true, .aux = true};
  static expected_element bound(exact_fused const& x, fused_terms const& t) {
    return ops::bound(x, t);
  }
};

/// gated, and x of gates and of what they multiply as a second result.
struct gated_aux {
  static constexpr char const *word = "gated_aux", *suffix = "_gate_aux";
  static constexpr epilogue_id id = epilogue_id::gated_aux;
  static constexpr char const* text = "with a gate and an auxiliary output";
  static constexpr epilogue_operands operands{.ops = true, .gate = true, .aux = true};
  static expected_element bound(exact_fused const& x, fused_terms const& t) {
    return ops::bound(x, t);
  }
};

/// ops, and D in 8 bits with scales.
struct quantize {
  static constexpr char const *word = "quantize", *suffix = "_quantize";
  static constexpr epilogue_id id = epilogue_id::quantize;
  static constexpr char const* text = "with scales of D";
  static constexpr epilogue_operands operands{.ops = true, .scales = true};
  static expected_element bound(exact_fused const& x, fused_terms const& t);
};

/// gated, and D in 8 bits with scales.
struct gated_quantize {
  static constexpr char const *word = "gated_quantize", *suffix = "_gate_quantize";
  static constexpr epilogue_id id = epilogue_id::gated_quantize;
  static constexpr char const* text = "with a gate and scales of D";
  static constexpr epilogue_operands operands{.ops = true, .gate = true, .scales = true};
  static expected_element bound(exact_fused const& x, fused_terms const& t) {
    return quantize::bound(x, t);
  }
};

}  // namespace epilogues

/// All epilogues, in the order of epilogue_id.
using epilogue_list =
    type_list<epilogues::plain, epilogues::ops, epilogues::gated, epilogues::ops_aux,
              epilogues::gated_aux, epilogues::quantize, epilogues::gated_quantize>;

/// The names and operands of an epilogue.
struct epilogue_kind {
  epilogue_id id;
  char const *word, *suffix, *text;
  epilogue_operands operands;
};

namespace detail {
template <int Count>
struct epilogue_table {
  static constexpr int size = Count;
  epilogue_kind row[Count];
  constexpr epilogue_kind const* begin() const { return row; }
  constexpr epilogue_kind const* end() const { return row + Count; }
  constexpr epilogue_kind const& operator[](epilogue_id id) const {
    return row[static_cast<int>(id)];
  }
  /// The epilogue with these operands, if there is one.
  constexpr std::optional<epilogue_id> with(epilogue_operands const& wanted) const {
    for (epilogue_kind const& e : row)
      if (e.operands == wanted) return e.id;
    return std::nullopt;
  }
  constexpr bool are_in_order() const {
    for (int i = 0; i < Count; ++i)
      if (row[i].id != static_cast<epilogue_id>(i)) return false;
    return true;
  }
  constexpr bool have_different_operands() const {
    for (epilogue_kind const& e : row)
      if (with(e.operands) != e.id) return false;
    return true;
  }
};
template <class... E>
constexpr epilogue_table<sizeof...(E)> make_epilogue_table(type_list<E...>) {
  return {{{E::id, E::word, E::suffix, E::text, E::operands}...}};
}

template <epilogue_id Id, class First, class... E>
constexpr auto epilogue_at(type_list<First, E...>) {
  if constexpr (Id == First::id)
    return First{};
  else
    return epilogue_at<Id>(type_list<E...>{});
}

template <class First, class... E>
TW_HD constexpr epilogue_operands operands_at(epilogue_id id, type_list<First, E...>) {
  constexpr epilogue_operands own = First::operands;
  if constexpr (sizeof...(E) > 0) {
    if (id != First::id) return operands_at(id, type_list<E...>{});
  }
  return own;
}

template <class Call, class First, class... E>
auto visit_epilogue(epilogue_id id, Call& call, type_list<First, E...>) {
  if constexpr (sizeof...(E) > 0) {
    if (id != First::id) return visit_epilogue(id, call, type_list<E...>{});
  }
  return call(First{});
}
}  // namespace detail

/// Names and operands of all epilogues, in the order of the list.
inline constexpr auto all_epilogues = detail::make_epilogue_table(epilogue_list{});
static_assert(all_epilogues.are_in_order() && all_epilogues.have_different_operands());

/// The operands of an epilogue; in device code too.
TW_HD constexpr epilogue_operands operands_of_epilogue(epilogue_id id) {
  return detail::operands_at(id, epilogue_list{});
}

/// The type of an epilogue.
template <epilogue_id Id>
using epilogue_at = decltype(detail::epilogue_at<Id>(epilogue_list{}));

/// call(E{}) with the type of an epilogue.
template <class Call>
auto visit_epilogue(epilogue_id id, Call call) {
  return detail::visit_epilogue(id, call, epilogue_list{});
}

/// The epilogue that a problem needs, if there is one.
constexpr std::optional<epilogue_id> epilogue_needed(gemm_problem const& p) {
  return all_epilogues.with(operands_needed(p));
}

}  // namespace tw
