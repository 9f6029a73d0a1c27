// SPDX-License-Identifier: Apache-2.0
// path_table.cpp  Lines of a text file.
#include "tilewright/dist/path_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>
#include <vector>

#include "base/fork_safe.hpp"
#include "dispatch/tuning_key.hpp"
#include "tilewright/base/check.hpp"

namespace tw::dist {
namespace {

template <std::size_t N>
int index_of(std::string const& word, char const* const (&words)[N]) {
  return static_cast<int>(std::find(words, words + N, word) - words);
}

[[noreturn]] void refuse_line(std::string const& line) {
  throw rejected({"TW0802", "line of the file " + path_table_file(), line,
                  "operation, ranks, type, M, extent, path, microseconds and GPU",
                  "move the file away and tune again, or set TILEWRIGHT_TUNE=off"});
}

/// f(line) for each line of the file, which is read once.
template <class F>
void each_line(F const& f) {
  static fork_safe_mutex mutex;
  static std::string of;  // the file that was read
  static std::vector<std::string> list;
  std::string const name = path_table_file();
  std::scoped_lock const lock(mutex);
  if (name != of) {
    list.clear();
    std::ifstream file(name);
    for (std::string line; std::getline(file, line);) list.push_back(line);
    of = name;
  }
  for (std::string const& line : list) f(line);
}

}  // namespace

std::string path_table_file() {
  std::string const name = tuning_file();
  return name.empty() ? name : name + ".paths";
}

std::optional<stored_path> path_in_line(std::string const& line, path_key const& key) {
  std::istringstream in(line);
  std::string op, type, via, gpu;
  path_key of;
  double us = 0;
  in >> op >> of.ranks >> type >> of.rows >> of.extent >> via >> us;
  std::getline(in >> std::ws, gpu);
  int const op_index = index_of(op, operation_names), path_index = index_of(via, path_names);
  if (!in || op_index == static_cast<int>(std::size(operation_names)) ||
      path_index == static_cast<int>(std::size(path_names)))
    refuse_line(line);
  of.op = static_cast<operation>(op_index);
  of.gpu = gpu, of.type = key.type;
  if (type != name(key.type) || !(of == key)) return std::nullopt;
  return stored_path{static_cast<path>(path_index), us};
}

std::optional<stored_path> tuned_path(path_key const& key) {
  std::optional<stored_path> found;
  each_line([&](std::string const& line) {
    if (auto const p = path_in_line(line, key)) found = p;
  });
  return found;
}

std::vector<stored_path> measured_paths(path_key const& key) {
  std::vector<stored_path> list;
  each_line([&](std::string const& line) {
    auto const found = path_in_line(line, key);
    if (!found) return;
    std::erase_if(list, [&](stored_path const& x) { return x.via == found->via; });
    list.push_back(*found);
  });
  std::sort(list.begin(), list.end(), [](auto const& a, auto const& b) { return a.via < b.via; });
  return list;
}

void store_path(path_key const& key, path fastest, double us) {
  std::string const file = path_table_file();
  if (file.empty())
    throw rejected({"TW0802", "environment variable TILEWRIGHT_TUNE", "off", "a file to store in",
                    "leave it unset"});
  std::error_code none;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), none);
  std::ofstream out(file, std::ios::app);
  out << fmt::format("{} {} {} {} {} {} {:.2f} {}\n", name(key.op), key.ranks, name(key.type),
                     key.rows, key.extent, name(fastest), us, key.gpu);
  out.flush();
  if (!out)
    throw rejected({"TW0802", "file " + file, "it cannot be written", "a file that can be",
                    "TILEWRIGHT_TUNE=/PATH chooses another"});
}

}  // namespace tw::dist
