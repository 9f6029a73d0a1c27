// SPDX-License-Identifier: Apache-2.0
// path_table.cpp  Lines of a text file.
#include "tilewright/dist/path_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>
#include <vector>

#include "base/fork_safe.hpp"
#include "dispatch/tuning/tuning_key.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/base/elem_text.hpp"

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

/// The lines of the file, which is read once.
std::vector<measured_path> const& the_table() {
  static fork_safe_mutex mutex;
  static std::map<std::string, std::vector<measured_path>> of_files;
  std::string const name = path_table_file();
  std::scoped_lock const lock(mutex);
  if (auto const known = of_files.find(name); known != of_files.end()) return known->second;
  std::vector<measured_path> list;
  std::ifstream file(name);
  for (std::string line; std::getline(file, line);) list.push_back(path_in_line(line));
  return of_files.emplace(name, std::move(list)).first->second;
}

}  // namespace

std::string path_table_file() {
  std::string const name = tuning_file();
  return name.empty() ? name : name + ".paths";
}

measured_path path_in_line(std::string const& line) {
  std::istringstream in(line);
  std::string op, type, via;
  measured_path x;
  in >> op >> x.call.ranks >> type >> x.call.rows >> x.call.extent >> via >> x.found.us;
  std::getline(in >> std::ws, x.call.gpu);
  int const op_index = index_of(op, operation_names), path_index = index_of(via, path_names);
  std::optional<elem> const of = parse_elem(type);
  if (!in || !of || op_index == static_cast<int>(std::size(operation_names)) ||
      path_index == static_cast<int>(std::size(path_names)))
    refuse_line(line);
  x.call.op = static_cast<operation>(op_index), x.call.type = *of;
  x.found.via = static_cast<path>(path_index);
  return x;
}

std::vector<stored_path> measured_paths(path_key const& key) {
  std::vector<stored_path> list;
  for (measured_path const& x : the_table()) {
    if (!(x.call == key)) continue;
    std::erase_if(list, [&](stored_path const& y) { return y.via == x.found.via; });
    list.push_back(x.found);
  }
  std::ranges::sort(list, {}, &stored_path::via);
  return list;
}

std::optional<stored_path> tuned_path(path_key const& key) {
  std::vector<stored_path> const list = measured_paths(key);
  if (list.empty()) return std::nullopt;
  return *std::ranges::min_element(list, {}, &stored_path::us);
}

void store_path(path_key const& key, path via, double us) {
  std::string const file = path_table_file();
  if (file.empty())
    throw rejected({"TW0802", "environment variable TILEWRIGHT_TUNE", "off", "a file to store in",
                    "leave it unset"});
  std::error_code none;
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), none);
  std::ofstream out(file, std::ios::app);
  out << fmt::format("{} {} {} {} {} {} {:.2f} {}\n", name(key.op), key.ranks, name(key.type),
                     key.rows, key.extent, name(via), us, key.gpu);
  out.flush();
  if (!out)
    throw rejected({"TW0802", "file " + file, "it cannot be written", "a file that can be",
                    "TILEWRIGHT_TUNE=/PATH chooses another"});
}

}  // namespace tw::dist
