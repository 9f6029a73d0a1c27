// SPDX-License-Identifier: Apache-2.0
// objects.hpp  The members of a kernel's shared-memory struct by name, found without annotations:
//              the emulator's reports say "b[2]+0x400", not an address.
//
// A member's name is read from the text of a template argument that points to it. Works for
// aggregates of up to 128 members; arrays and members that are such aggregates are taken apart. A
// struct with an anonymous union or a bit field is one object, reported by offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tilewright/arch/emu/member_bindings.hpp"

namespace tw::emu {

/// One member: where it lies, and the sizes of its elements if it is an array.
struct smem_object {
  std::string_view name;
  std::uint32_t offset = 0, bytes = 0;
  std::uint32_t element_bytes[3] = {};   // of each subscript; 0: no more subscripts
  std::span<smem_object const> members;  // of the innermost element
};

namespace detail {

template <class T>
struct held {
  T value;
};
// Clang warns of a variable template that is defined nowhere; GCC does not have those warnings.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wundefined-var-template"
#pragma GCC diagnostic ignored "-Wundefined-internal"
template <class T>
extern held<T> const imagined;  // never defined: only the addresses of its members are written down

template <auto Member>
consteval std::string_view pretty() {
  return __PRETTY_FUNCTION__;
}

/// "... (& imagined<S>.held<S>::value.S::name); ..." or "... name)]": the last identifier.
template <auto Member>
consteval std::string_view member_name() {
  std::string_view text = pretty<Member>();
  text = text.substr(0, text.find(';') == text.npos ? text.size() : text.find(';'));
  while (!text.empty() && (text.back() == ')' || text.back() == ']')) text.remove_suffix(1);
  std::size_t begin = text.size();
  auto const letter = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  while (begin > 0 && letter(text[begin - 1])) --begin;
  return text.substr(begin);
}

/// The characters of a name. Equal names share one object in a program, and the program does not
/// hold the text that a name was cut from: of all kernels, that is 24 MB.
template <std::size_t N>
struct name_text {
  char at[N] = {};
  consteval explicit name_text(std::string_view name) {
    for (std::size_t i = 0; i < N; ++i) at[i] = name[i];
  }
};
template <name_text Name>
consteval std::string_view stored() {
  return {Name.at, sizeof Name.at};
}
template <auto Member>
consteval std::string_view stored_name() {
  constexpr std::size_t size = member_name<Member>().size();
  if constexpr (size == 0)
    return {};
  else
    return stored<name_text<size>(member_name<Member>())>();
}

/// Converts to the base classes of T alone.
template <class T>
struct any_base {
  template <class Base>
  requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>) operator Base() const;
};

/// The largest number of members, from Low to High, that T can be initialised with.
template <class T, int Low, int High>
consteval int count_members() {
  if constexpr (Low == High) {
    return Low;
  } else {
    constexpr int middle = (Low + High + 1) / 2;
    if constexpr (binding<middle>::template takes<T>)
      return count_members<T, middle, High>();
    else
      return count_members<T, Low, middle - 1>();
  }
}

/// Converts to unions without a name alone.
struct any_unnamed_union {
  template <class U>
  static consteval bool is_unnamed() {
    std::string_view const name = __PRETTY_FUNCTION__;  // of GCC, of Clang
    return name.find("<unnamed union>") != name.npos || name.find("(anonymous union") != name.npos;
  }
  template <class U>
  requires(std::is_union_v<U>&& is_unnamed<U>()) operator U() const;
};

/// True if a member is an anonymous union: no structured binding takes T apart then. Also true if a
/// member has an unnamed union type or begins with an anonymous union.
template <class T, int... I>
consteval bool has_unnamed_union(std::integer_sequence<int, I...>) {
  return (binding<I + 1>::template ends_with<T, any_unnamed_union> || ...);
}

template <class T, int N>
consteval bool can_be_taken_apart() {
  if constexpr (N == 0)
    return false;
  else if constexpr (has_unnamed_union<T>(std::make_integer_sequence<int, N>{}))
    return false;
  else
    return decltype(binding<N>::addressable(std::declval<T&>()))::value;
}

/// 0 where T is no aggregate, has more than max_members, a base class, an anonymous union or a bit
/// field.
template <class T>
consteval int member_count() {
  if constexpr (!std::is_aggregate_v<T> || std::is_array_v<T> || std::is_union_v<T>) {
    return 0;
  } else if constexpr (std::is_empty_v<T> || requires { T{any_base<T>{}}; }) {
    return 0;
  } else {
    constexpr int count = count_members<T, 0, max_members + 1>();
    if constexpr (count > max_members)
      return 0;
    else
      return can_be_taken_apart<T, count>() ? count : 0;
  }
}

/// Pointers to the members of the imagined T.
template <class T>
inline constexpr auto member_addresses = binding<member_count<T>()>::apply(
    imagined<T>.value, [](auto const&... m) { return std::make_tuple(&m...); });
#pragma GCC diagnostic pop

/// Name of member I of T.
template <class T, int I>
consteval std::string_view name_of_member() {
  return stored_name<std::get<I>(member_addresses<T>)>();
}

template <class T>
std::span<smem_object const> objects_of_struct();

template <class T>
smem_object object_of(std::string_view name, std::uint32_t offset) {
  smem_object o{name, offset, sizeof(T), {}, {}};
  using element = std::remove_all_extents_t<T>;
  // The last subscript of bytes and numbers is written as an offset.
  constexpr bool numbers = std::is_arithmetic_v<element> || std::is_enum_v<element>;
  constexpr int subscripts = static_cast<int>(std::rank_v<T>) - (numbers ? 1 : 0);
  std::uint32_t bytes = sizeof(T);
  if constexpr (subscripts >= 1) o.element_bytes[0] = bytes /= std::extent_v<T, 0>;
  if constexpr (subscripts >= 2) o.element_bytes[1] = bytes /= std::extent_v<T, 1>;
  if constexpr (subscripts >= 3) o.element_bytes[2] = bytes /= std::extent_v<T, 2>;
  // A type with one member, as bf16 or an mbarrier, is one object.
  if constexpr (member_count<element>() > (sizeof(element) > 16 ? 0 : 1))
    o.members = objects_of_struct<element>();
  return o;
}

/// The members of T in order, made once.
template <class T>
std::span<smem_object const> objects_of_struct() {
  static std::vector<smem_object> const list = []<int... I>(std::integer_sequence<int, I...>) {
    std::vector<smem_object> made;
    auto* const whole = reinterpret_cast<T*>(std::uintptr_t{1} << 30);  // only addresses are taken
    binding<sizeof...(I)>::apply(*whole, [&](auto&... m) {
      std::string_view const names[] = {name_of_member<T, I>()...};
      int i = 0;
      (made.push_back(object_of<std::remove_reference_t<decltype(m)>>(
           names[i++], static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&m) -
                                                  (std::uintptr_t{1} << 30)))),
       ...);
      return 0;
    });
    return made;
  }
  (std::make_integer_sequence<int, member_count<T>()>{});
  return list;
}

}  // namespace detail

/// The objects of kernel K's shared memory; none where K::smem is absent or no such aggregate.
template <class K>
std::span<smem_object const> objects_of() {
  if constexpr (requires { typename K::smem; }) {
    if constexpr (detail::member_count<typename K::smem>() > 0)
      return detail::objects_of_struct<typename K::smem>();
  }
  return {};
}

/// The members of an aggregate; none where T is no aggregate of up to 128 members.
template <class T>
std::span<smem_object const> objects_of_type() {
  if constexpr (detail::member_count<T>() > 0)
    return detail::objects_of_struct<T>();
  else
    return {};
}

}  // namespace tw::emu
