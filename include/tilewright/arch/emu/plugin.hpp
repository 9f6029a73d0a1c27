// SPDX-License-Identifier: Apache-2.0
// plugin.hpp  A user's kernel as a shared library that `tilewright check` runs.
//
// The library exports one function, `tilewright_plugin`, and holds its own copy of the emulator:
// what crosses the border are the plain structs below, so the command and the library need not be
// built together. CMake: tilewright_add_kernel(NAME SOURCES FILE). The same source, compiled
// by nvcc, runs on the GPU. Example: examples/own_kernel, docs/checking.md.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "tilewright/arch/emu/options.hpp"
#include "tilewright/arch/select.hpp"
#include "tilewright/arch/tensor_map.hpp"

namespace tw::emu {

/// Of the structs in this file and of `statistics`.
inline constexpr std::uint32_t plugin_abi = 4;
inline constexpr int plugin_extents = 4;

struct plugin_shape {
  std::int64_t extent[plugin_extents];
};
/// A way to break the kernel that can be switched on.
struct plugin_bug {
  char const* name;
  char const* what;
};
/// One run that the command requests.
struct plugin_request {
  plugin_shape shape;
  std::int32_t bug;  // 0: none; i: bugs[i - 1]
  std::int32_t policy, random_warps, most_reports;
  std::uint64_t seed;          // of the schedule and of the data
  std::int32_t proxy_on_path;  // options::proxy
  std::int32_t provenance, bank_conflicts;
  std::int32_t sms, live_clusters;  // 0: the defaults of emu::options
  std::int32_t tensor_fences;       // options::tensor_fences
  double time_limit_seconds;
  trace* record;  // of the command, for a timeline; null: none
};
/// Where the run says what it found. The texts are the caller's after the call returns only if it
/// copies them.
struct plugin_answer {
  void* to;
  void (*diagnosis)(void* to, char const* code, char const* kind, char const* text, int count);
  void (*wrong)(void* to, std::int64_t elements, std::int64_t of, char const* first);
  void (*counted)(void* to, statistics const* counts);
  void (*failed)(void* to, char const* why);  // the harness gave up
};
struct plugin_kernel {
  char const* name;
  char const* extent_names;  // "M,N,K": as many as a shape has
  std::int32_t shapes, bugs;
  plugin_shape const* shape;  // the shapes that run by default
  plugin_bug const* bug;
  void (*run)(plugin_request const*, plugin_answer const*);
};
struct plugin {
  std::uint32_t abi, statistics_bytes;
  std::int32_t on_gpu, kernels;
  plugin_kernel const* kernel;
};

namespace detail {

template <class T>
double number(T const& value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(value);
  else if constexpr (requires { to_float(value); })
    return static_cast<double>(to_float(value));
  else
    return std::numeric_limits<double>::quiet_NaN();
}
inline std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}
/// "0x3f80", highest byte first.
template <class T>
std::string bits(T const& value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  std::string text = "0x";
  for (std::size_t i = sizeof(T); i-- > 0;) {
    text += "0123456789abcdef"[bytes[i] / 16];
    text += "0123456789abcdef"[bytes[i] % 16];
  }
  return text;
}

}  // namespace detail

/// One run of a kernel under test: its shape, data and result. Memory lives as long as the trial.
class trial {
 public:
  explicit trial(plugin_request const& r) : request_(r), random_(r.seed) {
    options_.policy = static_cast<async_policy>(r.policy);
    options_.random_warps = r.random_warps != 0;
    options_.most_reports = r.most_reports;
    options_.seed = r.seed;
    options_.os_threads = 1;  // a run repeats exactly
    options_.proxy = r.proxy_on_path != 0 ? proxy_rule::on_path : proxy_rule::writer_side;
    options_.provenance = r.provenance != 0;
    options_.bank_conflicts = r.bank_conflicts != 0;
    options_.tensor_fences = static_cast<tensor_order>(r.tensor_fences);
    options_.sms = r.sms;
    options_.live_clusters = r.live_clusters;
    options_.time_limit_seconds = r.time_limit_seconds;
    options_.record = r.record;
    options_.counted = &counts_;
  }
  trial(trial const&) = delete;
  trial& operator=(trial const&) = delete;
  ~trial() {
    for (void* p : memory_) host::release(p);
  }

  std::int64_t extent(int i) const { return request_.shape.extent[i]; }
  /// Is the kernel's i-th bug (from 1) switched on?
  bool bug(int i) const { return request_.bug == i; }
  std::mt19937_64& random() { return random_; }
  /// How the next run is emulated: for what is true of this kernel alone, as
  /// options().provenance = false where two operands are columns of one tensor. On a GPU unused.
  emu::options& options() { return options_; }
  /// A multiple of 1/8 from -1 to 1: sums of products of a few thousand such are exact in float32.
  float small_fraction() { return static_cast<float>(static_cast<int>(random_() % 17) - 8) / 8.0F; }

  /// A copy of the values where the kernel can read it.
  template <class T>
  T* input(std::vector<T> const& values) {
    T* const p = memory<T>(values.size());
    host::copy(p, values.data(), values.size() * sizeof(T));
    return p;
  }
  /// Memory for a result; all its bytes are 0xFF, a NaN in every type.
  template <class T>
  T* output(std::int64_t count) {
    std::vector<unsigned char> const poison(static_cast<std::size_t>(count) * sizeof(T), 0xFF);
    T* const p = memory<T>(static_cast<std::size_t>(count));
    host::copy(p, poison.data(), poison.size());
    return p;
  }
  /// A tensor map for the backend at hand. Throws `rejected`.
  tensor_map map(tensor_map_desc const& d) const { return make_tensor_map(d, host::where); }

  /// Runs kernel K over `ctas` CTAs, with every check on in the emulator.
  template <class K>
  void run(K, extents3 ctas, typename K::params const& p) {
    emu::options o = options_;
    o.in = &stream_;
    ran_ = true;
    keep(host::run<K>(ctas, p, o));
  }

  /// run() after the earlier runs in one stream, started early (programmatic dependent
  /// launch): what those have written is there after grid_dependency_wait() alone.
  template <class K>
  void run_early(K, extents3 ctas, typename K::params const& p) {
    emu::options o = options_;
    o.in = &stream_;
    o.pdl = true;
    ran_ = true;
    keep(host::run<K>(ctas, p, o));
  }

  /// Compares the elements of an output with right(i), bit by bit; counts the wrong ones.
  template <class T, class F>
  void compare(T const* output, std::int64_t count, F right) {
    compare_each(output, count, [&](T const& got, std::int64_t i) {
      T const want = right(i);
      bool const same = std::memcmp(&got, &want, sizeof(T)) == 0;
      if (!same) note_wrong(i, detail::number(got), detail::number(want), bits_text(got, want));
    });
  }
  /// compare() in which |output - right(i)| <= absolute + relative * |right(i)| is right. A NaN is
  /// wrong unless right(i) is one. T: a number, or a type that to_float() converts, as bf16.
  template <class T, class F>
  void compare_near(T const* output, std::int64_t count, F right, double absolute,
                    double relative) {
    compare_each(output, count, [&](T const& got, std::int64_t i) {
      double const want = detail::number(right(i)), have = detail::number(got);
      double const allowed = absolute + relative * (want < 0 ? -want : want);
      if (want != want ? have != have : have == want || distance(have, want) <= allowed) return;
      note_wrong(i, have, want, ", allowed " + detail::digits(allowed));
    });
  }

  void tell(plugin_answer const& to) const {
    if (!ran_) throw std::logic_error("the harness never called trial::run");
    for (diagnosis const& d : diagnoses_)
      to.diagnosis(to.to, d.code.c_str(), d.kind.c_str(), d.text.c_str(), d.count);
    if (diagnoses_.empty() && compared_ == 0)
      throw std::logic_error("the harness never called trial::compare");
    std::string first = first_wrong_;
    if (wrong_ > 1 && largest_ > 0)
      first += "; the largest difference is " + detail::digits(largest_) + ", of element " +
               std::to_string(largest_at_);
    to.wrong(to.to, wrong_, compared_, first.c_str());
    to.counted(to.to, &counts_);
  }

 private:
  template <class T, class F>
  void compare_each(T const* output, std::int64_t count, F judge) {
    if (!diagnoses_.empty()) return;  // a run that was stopped has no result
    std::vector<T> got(static_cast<std::size_t>(count));
    host::copy(got.data(), output, got.size() * sizeof(T));
    compared_ += count;
    for (std::int64_t i = 0; i < count; ++i) judge(got[static_cast<std::size_t>(i)], i);
  }
  static double distance(double a, double b) { return a < b ? b - a : a - b; }
  template <class T>
  static std::string bits_text(T const& got, T const& want) {
    return " (bits " + detail::bits(got) + " and " + detail::bits(want) +
           "); compare() needs equal bits, compare_near() allows a distance";
  }
  void note_wrong(std::int64_t i, double got, double want, std::string const& rest) {
    double const apart = distance(got, want);
    if (wrong_++ == 0)
      first_wrong_ = "the first is element " + std::to_string(i) + ": got " + detail::digits(got) +
                     ", needs " + detail::digits(want) + ", difference " + detail::digits(apart) +
                     rest;
    if (apart > largest_) largest_ = apart, largest_at_ = i;
  }
  /// In the emulator with a margin on both sides, whose accesses are reported (E0052).
  template <class T>
  T* memory(std::size_t count) {
    constexpr std::size_t margin = host::where == target::emu ? 64 * 1024 : 0;
    memory_.reserve(memory_.size() + 1);
    memory_.push_back(host::allocate(count * sizeof(T) + 2 * margin));
    auto* const begin = static_cast<unsigned char*>(memory_.back()) + margin;
    if (margin != 0) options_.arrays.push_back({begin, count * sizeof(T), margin});
    return reinterpret_cast<T*>(begin);
  }
  template <class Report>
  void keep(Report const& r) {
    if constexpr (requires { r.diagnoses; })
      diagnoses_.insert(diagnoses_.end(), r.diagnoses.begin(), r.diagnoses.end());
  }

  plugin_request request_;
  emu::options options_;
  emu::stream stream_;
  std::mt19937_64 random_;
  std::vector<void*> memory_;
  std::vector<diagnosis> diagnoses_;
  statistics counts_;
  bool ran_ = false;
  std::int64_t wrong_ = 0, compared_ = 0, largest_at_ = 0;
  double largest_ = 0;       // difference of a wrong element
  std::string first_wrong_;  // in words
};

/// The border: no exception crosses it.
template <void (*Run)(trial&)>
void plugin_run(plugin_request const* r, plugin_answer const* to) {
  try {
    trial t(*r);
    Run(t);
    t.tell(*to);
  } catch (std::exception const& e) {
    to->failed(to->to, e.what());
  } catch (...) {
    to->failed(to->to, "an exception that is no std::exception");
  }
}

/// A kernel under test: Run(trial) sets up the data, calls trial::run and trial::compare.
template <void (*Run)(trial&), int Shapes, int Bugs>
constexpr plugin_kernel test_of(char const* name, char const* extent_names,
                                plugin_shape const (&shapes)[Shapes],
                                plugin_bug const (&bugs)[Bugs]) {
  return {name, extent_names, Shapes, Bugs, shapes, bugs, plugin_run<Run>};
}
template <void (*Run)(trial&), int Shapes>
constexpr plugin_kernel test_of(char const* name, char const* extent_names,
                                plugin_shape const (&shapes)[Shapes]) {
  return {name, extent_names, Shapes, 0, shapes, nullptr, plugin_run<Run>};
}

/// `tilewright_plugin` returns a pointer to this.
template <int Kernels>
constexpr plugin plugin_of(plugin_kernel const (&kernels)[Kernels]) {
  return {plugin_abi, sizeof(statistics), host::where == target::gpu ? 1 : 0, Kernels, kernels};
}

}  // namespace tw::emu

/// Defined by the plugin.
extern "C" tw::emu::plugin const* tilewright_plugin();
