// SPDX-License-Identifier: Apache-2.0
// objects.hpp  The members of a kernel's shared-memory struct by name, found without annotations:
//              the emulator's reports say "b[2]+0x400", not an address.
//
// A member's name is read from the text of a template argument that points to it. Works for
// aggregates of up to 12 members; arrays and members that are such aggregates are taken apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

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

template <class T>
consteval int member_count() {
  if constexpr (!std::is_aggregate_v<T> || std::is_array_v<T> || std::is_union_v<T>) {
    return 0;
  } else {
    if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
      return 0;
    else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
      return 12;
    else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
      return 11;
    else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; })
      return 10;
    else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}}; })
      return 9;
    else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}, {}}; })
      return 8;
    else if constexpr (requires { T{{}, {}, {}, {}, {}, {}, {}}; })
      return 7;
    else if constexpr (requires { T{{}, {}, {}, {}, {}, {}}; })
      return 6;
    else if constexpr (requires { T{{}, {}, {}, {}, {}}; })
      return 5;
    else if constexpr (requires { T{{}, {}, {}, {}}; })
      return 4;
    else if constexpr (requires { T{{}, {}, {}}; })
      return 3;
    else if constexpr (requires { T{{}, {}}; })
      return 2;
    else if constexpr (requires { T{{}}; })
      return 1;
    else
      return 0;
  }
}

/// apply(the members of whole).
template <class T, class F, int N = member_count<T>()>
constexpr auto with_members(T& whole, F apply) {
  if constexpr (N == 1) {
    auto& [a] = whole;
    return apply(a);
  } else if constexpr (N == 2) {
    auto& [a, b] = whole;
    return apply(a, b);
  } else if constexpr (N == 3) {
    auto& [a, b, c] = whole;
    return apply(a, b, c);
  } else if constexpr (N == 4) {
    auto& [a, b, c, d] = whole;
    return apply(a, b, c, d);
  } else if constexpr (N == 5) {
    auto& [a, b, c, d, e] = whole;
    return apply(a, b, c, d, e);
  } else if constexpr (N == 6) {
    auto& [a, b, c, d, e, f] = whole;
    return apply(a, b, c, d, e, f);
  } else if constexpr (N == 7) {
    auto& [a, b, c, d, e, f, g] = whole;
    return apply(a, b, c, d, e, f, g);
  } else if constexpr (N == 8) {
    auto& [a, b, c, d, e, f, g, h] = whole;
    return apply(a, b, c, d, e, f, g, h);
  } else if constexpr (N == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = whole;
    return apply(a, b, c, d, e, f, g, h, i);
  } else if constexpr (N == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = whole;
    return apply(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (N == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = whole;
    return apply(a, b, c, d, e, f, g, h, i, j, k);
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = whole;
    return apply(a, b, c, d, e, f, g, h, i, j, k, l);
  }
}

template <int I, class First, class... Rest>
constexpr auto nth_address(First const& first, Rest const&... rest) {
  if constexpr (I == 0)
    return &first;
  else
    return nth_address<I - 1>(rest...);
}

/// Name of member I of T.
template <class T, int I>
consteval std::string_view name_of_member() {
  return member_name<with_members(imagined<T>.value,
                                  [](auto const&... m) { return nth_address<I>(m...); })>();
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
  if constexpr (member_count<element>() > 0 && sizeof(element) > 16)
    o.members = objects_of_struct<element>();
  return o;
}

/// The members of T in order, made once.
template <class T>
std::span<smem_object const> objects_of_struct() {
  static std::vector<smem_object> const list = []<int... I>(std::integer_sequence<int, I...>) {
    std::vector<smem_object> made;
    auto* const whole = reinterpret_cast<T*>(std::uintptr_t{1} << 30);  // only addresses are taken
    with_members(*whole, [&](auto&... m) {
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

/// The members of an aggregate; none where T is no aggregate of up to 12 members.
template <class T>
std::span<smem_object const> objects_of_type() {
  if constexpr (detail::member_count<T>() > 0)
    return detail::objects_of_struct<T>();
  else
    return {};
}

}  // namespace tw::emu
