// SPDX-License-Identifier: Apache-2.0
// libcxx13.hpp  The parts of C++20 that libc++ 13 lacks, the C++ library of Debian 12's emscripten.
//               Included before each source of the playground's modules.
#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <version>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 15000
namespace std {

template <class To, class From>
constexpr To bit_cast(From const& from) noexcept {
  return __builtin_bit_cast(To, from);
}

/// Threads cannot be started in a module; the emulator starts none for a run on one.
class jthread : public thread {
 public:
  using thread::thread;
  jthread(jthread&&) = default;
  jthread& operator=(jthread&&) = default;
  ~jthread() {
    if (joinable()) join();
  }
};

template <class T>
requires(is_array_v<T>&& extent_v<T> == 0) unique_ptr<T> make_unique_for_overwrite(size_t n) {
  return unique_ptr<T>(new remove_extent_t<T>[n]);
}
template <class T>
requires(!is_array_v<T>) unique_ptr<T> make_unique_for_overwrite() { return unique_ptr<T>(new T); }

namespace ranges {

template <class R, class P>
constexpr bool any_of(R&& r, P p) {
  for (auto&& e : r)
    if (std::invoke(p, e)) return true;
  return false;
}
template <class R, class P>
constexpr bool all_of(R&& r, P p) {
  for (auto&& e : r)
    if (!std::invoke(p, e)) return false;
  return true;
}
template <class R, class P>
constexpr bool none_of(R&& r, P p) {
  return !ranges::any_of(r, p);
}
template <class I, class S, class T>
requires(is_same_v<I, S>) constexpr I find(I at, S end, T const& value) {
  while (at != end && !(*at == value)) ++at;
  return at;
}
template <class R, class T, class Projection = identity>
constexpr auto find(R&& r, T const& value, Projection of = {}) requires requires {
  std::begin(r);
}
{
  auto at = std::begin(r);
  while (at != std::end(r) && !(std::invoke(of, *at) == value)) ++at;
  return at;
}
template <class R, class P, class Projection = identity>
constexpr auto find_if(R&& r, P p, Projection of = {}) {
  auto at = std::begin(r);
  while (at != std::end(r) && !std::invoke(p, std::invoke(of, *at))) ++at;
  return at;
}
template <class R, class P>
constexpr auto find_if_not(R&& r, P p) {
  auto at = std::begin(r);
  while (at != std::end(r) && std::invoke(p, *at)) ++at;
  return at;
}
template <class R, class T, class Projection = identity>
constexpr ptrdiff_t count(R&& r, T const& value, Projection of = {}) {
  ptrdiff_t n = 0;
  for (auto&& e : r) n += std::invoke(of, e) == value ? 1 : 0;
  return n;
}
template <class R, class P>
constexpr ptrdiff_t count_if(R&& r, P p) {
  ptrdiff_t n = 0;
  for (auto&& e : r) n += std::invoke(p, e) ? 1 : 0;
  return n;
}
template <class R, class T>
constexpr void fill(R&& r, T const& value) {
  for (auto&& e : r) e = value;
}
template <class R, class T>
constexpr void replace(R&& r, T const& from, T const& to) {
  std::replace(std::begin(r), std::end(r), from, to);
}
template <class R, class P, class T>
constexpr void replace_if(R&& r, P p, T const& to) {
  std::replace_if(std::begin(r), std::end(r), p, to);
}
template <class R, class Out>
constexpr void copy(R&& r, Out out) {
  std::copy(std::begin(r), std::end(r), out);
}
template <class R, class Out, class P>
constexpr void copy_if(R&& r, Out out, P p) {
  std::copy_if(std::begin(r), std::end(r), out, p);
}

template <class Less, class Projection>
constexpr auto projected(Less less, Projection of) {
  return [less, of](auto const& a, auto const& b) {
    return std::invoke(less, std::invoke(of, a), std::invoke(of, b));
  };
}
template <class R, class Less = std::less<>, class Projection = identity>
constexpr void sort(R&& r, Less less = {}, Projection of = {}) {
  std::sort(std::begin(r), std::end(r), ranges::projected(less, of));
}
template <class R, class Less = std::less<>, class Projection = identity>
constexpr void stable_sort(R&& r, Less less = {}, Projection of = {}) {
  std::stable_sort(std::begin(r), std::end(r), ranges::projected(less, of));
}
template <class R, class I, class Less = std::less<>>
constexpr void nth_element(R&& r, I nth, Less less = {}) {
  std::nth_element(std::begin(r), nth, std::end(r), less);
}
template <class R, class Less = std::less<>, class Projection = identity>
constexpr auto min_element(R&& r, Less less = {}, Projection of = {}) {
  return std::min_element(std::begin(r), std::end(r), ranges::projected(less, of));
}
template <class R, class Less = std::less<>, class Projection = identity>
constexpr auto max_element(R&& r, Less less = {}, Projection of = {}) {
  return std::max_element(std::begin(r), std::end(r), ranges::projected(less, of));
}
template <class I>
struct min_max {
  I min, max;
};
template <class R, class Less = std::less<>, class Projection = identity>
constexpr auto minmax_element(R&& r, Less less = {}, Projection of = {}) {
  auto const [low, high] =
      std::minmax_element(std::begin(r), std::end(r), ranges::projected(less, of));
  return min_max<decltype(std::begin(r))>{low, high};
}
template <class R, class T, class Less = std::less<>>
constexpr bool binary_search(R&& r, T const& value, Less less = {}) {
  return std::binary_search(std::begin(r), std::end(r), value, less);
}
template <class R, class T, class Less = std::less<>, class Projection = identity>
constexpr auto lower_bound(R&& r, T const& value, Less less = {}, Projection of = {}) {
  auto at = std::begin(r);
  while (at != std::end(r) && std::invoke(less, std::invoke(of, *at), value)) ++at;
  return at;
}
template <class I>
struct found_range {
  I first, last;
  constexpr I begin() const { return first; }
  constexpr I end() const { return last; }
};
template <class R, class T, class Less = std::less<>, class Projection = identity>
constexpr auto equal_range(R&& r, T const& value, Less less = {}, Projection of = {}) {
  auto first = ranges::lower_bound(r, value, less, of), last = first;
  while (last != std::end(r) && !std::invoke(less, value, std::invoke(of, *last))) ++last;
  return found_range<decltype(first)>{first, last};
}

}  // namespace ranges
}  // namespace std
#endif
