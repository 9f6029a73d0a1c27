// SPDX-License-Identifier: Apache-2.0
// memory.cpp  /proc/meminfo and control groups (version 2), the two limits that kill a process.
#include "tools/operand/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>

#include "tools/io/refuse.hpp"

namespace tw {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// The number after `key` in a file of "key number" lines.
std::optional<std::int64_t> field(char const* path, std::string const& key) {
  std::ifstream in(path);
  for (std::string word; in >> word;) {
    std::int64_t n = 0;
    if (word == key && in >> n) return n;
  }
  return std::nullopt;
}

/// The number a file consists of; nothing for "max" or no file.
std::optional<std::int64_t> number(char const* path) {
  std::ifstream in(path);
  std::int64_t n = 0;
  if (in >> n) return n;
  return std::nullopt;
}

std::string gib(bytes n) {
  return fmt::format("{:.2f} GiB", static_cast<double>(n.count) / (1 << 30));
}

}  // namespace

bytes available_memory() {
  auto const kib = field("/proc/meminfo", "MemAvailable:");
  std::int64_t available = kib ? *kib * 1024 : unlimited;
  auto const limit = number("/sys/fs/cgroup/memory.max");
  auto const used = number("/sys/fs/cgroup/memory.current");
  if (limit && used) {  // the group's file cache counts as used, but gives way
    auto const cache = field("/sys/fs/cgroup/memory.stat", "inactive_file").value_or(0);
    available = std::min(available, *limit - *used + cache);
  }
  return {available};
}

void require_memory(bytes need, std::string const& what) {
  bytes const available = available_memory();
  if (need > available) {
    refuse("TW0613", "memory for " + what, gib(available) + " available", gib(need));
  }
}

host_buffer::host_buffer(bytes size) {
  if (size.count == 0) return;
  auto const rounded = (static_cast<std::size_t>(size.count) + 255) / 256 * 256;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(256, rounded)));
  if (!data_) refuse("TW0613", "memory", "an allocation that failed", gib(size));
}

}  // namespace tw
