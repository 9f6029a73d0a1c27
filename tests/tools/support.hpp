// SPDX-License-Identifier: Apache-2.0
// support.hpp  Scratch folders, files as bytes, and rejections as values.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tilewright/base/check.hpp"
#include "tilewright/base/convert.hpp"
#include "tools/io/matrix_view.hpp"

namespace tw_test {

namespace fs = std::filesystem;

/// A folder that goes away with its owner.
class scratch {
 public:
  scratch() {
    std::string pattern = (fs::temp_directory_path() / "tilewright-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = pattern;
  }
  ~scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  std::string operator/(std::string const& name) const { return (path_ / name).string(); }

  /// Names of everything in the folder, hidden files too.
  std::vector<std::string> listing() const {
    std::vector<std::string> names;
    for (auto const& entry : fs::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

 private:
  fs::path path_;
};

inline std::string data_file(std::string const& name) {
  return TW_SOURCE_DIR "/tests/tools/data/" + name;
}

inline std::string read_file(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_file(std::string const& path, std::string const& content) {
  std::ofstream(path, std::ios::binary) << content;
}

inline std::span<std::byte const> bytes_of_text(std::string const& text) {
  return std::as_bytes(std::span(text));
}

/// The rejection that `f` throws; one with an empty code if it throws none.
inline tw::rejection rejection_of(std::function<void()> const& f) {
  try {
    f();
  } catch (tw::rejected const& r) {
    return r.why();
  }
  return {};
}

/// Element (row, col) of a view, as float; reads bytes, for a file's data need not be aligned.
inline float element(tw::matrix_view const& m, std::int64_t row, std::int64_t col) {
  bool const by_rows = m.ord == tw::order::row_major;
  std::int64_t const i = by_rows ? row * m.cols + col : col * m.rows + row;
  auto const* at = reinterpret_cast<unsigned char const*>(m.data) + i * size_bytes(m.type);
  switch (m.type) {
    case tw::elem::e4m3: return to_float(tw::e4m3{at[0]});
    case tw::elem::e5m2: return to_float(tw::e5m2{at[0]});
    case tw::elem::ue8m0: return to_float(tw::ue8m0{at[0]});
    case tw::elem::s8: return static_cast<float>(static_cast<std::int8_t>(at[0]));
    case tw::elem::u8: return static_cast<float>(at[0]);
    default: break;
  }
  auto const low = static_cast<std::uint16_t>(at[0] | at[1] << 8);
  if (m.type == tw::elem::f16) return to_float(tw::f16{low});
  if (m.type == tw::elem::bf16) return to_float(tw::bf16{low});
  auto const bits = static_cast<std::uint32_t>(low | at[2] << 16) | std::uint32_t{at[3]} << 24;
  if (m.type == tw::elem::s32) return static_cast<float>(static_cast<std::int32_t>(bits));
  return __builtin_bit_cast(float, bits);
}

}  // namespace tw_test
