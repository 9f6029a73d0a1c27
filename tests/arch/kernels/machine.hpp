// SPDX-License-Identifier: Apache-2.0
// machine.hpp  Common parts of the instruction checks. A check is written once and runs on a
//              machine: the emulator (emulated.hpp) or a GPU (tests/gpu/gpu_machine.hpp).
//
// A machine M has
//   static constexpr target where;                     for tensor maps
//   void* upload(void const* data, std::size_t bytes)  memory of the machine, 256-byte aligned
//   void download(void* to, void const* from, std::size_t bytes)
//   template <class K> void start(extents3 ctas, K::params const&, bool dependent = false)
//   void finish()                                      throws if a kernel failed
// and forgets its memory when it is destroyed.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tilewright/arch/tensor_map.hpp"

namespace tw::test {

/// The parts one after the other. (fmt's checked format strings do not compile under nvcc.)
template <class... Part>
std::string text(Part const&... part) {
  std::ostringstream out;
  (out << ... << part);
  return out.str();
}

/// A check: a name, and a function that returns what is wrong, or nothing.
template <class M>
struct check {
  std::string name;
  std::function<std::string(M&)> run;
};

template <class T, class M>
T* upload(M& m, std::vector<T> const& values) {
  return static_cast<T*>(m.upload(values.data(), values.size() * sizeof(T)));
}
template <class T, class M>
std::vector<T> download(M& m, T const* from, std::size_t count) {
  std::vector<T> values(count);
  m.download(values.data(), from, count * sizeof(T));
  return values;
}
template <class K, class M>
void run(M& m, extents3 ctas, typename K::params const& p) {
  m.template start<K>(ctas, p);
  m.finish();
}

/// Random integers in [-127, 127]: sums of their products are exact in float32.
inline std::vector<float> small_integers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& v : values) v = static_cast<float>(static_cast<int>(random() % 255) - 127);
  return values;
}
inline std::vector<std::uint8_t> random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> bytes(count);
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random());
  return bytes;
}

inline std::string text_of(swizzle_mode s) {
  return s == swizzle_mode::none ? "none" : text(swizzle_span_bytes(s));
}

/// Nothing, or how many values differ and where first. place(i) describes index i.
template <class T>
std::string differences(std::vector<T> const& got, std::vector<T> const& want,
                        std::function<std::string(std::size_t)> const& place) {
  if (got.size() != want.size()) return text(got.size(), " values instead of ", want.size());
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = got.size(); i-- > 0;)
    if (std::memcmp(&got[i], &want[i], sizeof(T)) != 0) ++wrong, first = i;
  if (wrong == 0) return "";
  return text(wrong, " of ", got.size(), " wrong; first at ", place(first), ": got ", +got[first],
              ", want ", +want[first]);
}
template <class T>
std::string differences(std::vector<T> const& got, std::vector<T> const& want) {
  return differences(got, want, [](std::size_t i) { return text("index ", i); });
}

/// Collects the failures of one check's cases; shows the first few.
struct failures {
  int cases = 0, failed = 0;
  std::string shown = {};

  void add(std::string const& name, std::string const& wrong) {
    ++cases;
    if (wrong.empty()) return;
    if (++failed <= 6) shown += text("\n    ", name, ": ", wrong);
  }
  std::string result() const {
    return failed == 0 ? "" : text(failed, " of ", cases, " cases failed:", shown);
  }
};

}  // namespace tw::test
