// SPDX-License-Identifier: Apache-2.0
// tuned.cpp  One table per device in memory, read at its first use.
#include "dispatch/tuning/tuned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/fork_safe.hpp"
#include "base/log.hpp"
#include "tilewright/base/check.hpp"
#include "tilewright/problem/group_slices.hpp"

namespace tw {
namespace {

/// A tuned problem of groups.
struct tuned_groups {
  group_axis axis;
  std::int64_t total;
  double size;  // of a group
  measured_plan fastest;
};

struct tuned_table {
  std::string card;
  int sms = 0;
  std::unordered_map<std::string, measured_plan> fastest;             // by problem_key
  std::unordered_map<std::string, std::vector<tuned_groups>> groups;  // by key_without_total
  std::string news, trouble;                                          // lines for the log
};

fork_safe_mutex mutex;
std::map<std::string, std::shared_ptr<tuned_table const>> loaded;  // by device and SMs
std::optional<tuning_identity> pretended;

std::shared_ptr<tuned_table const> load(std::optional<tuning_identity> const& id) {
  auto table = std::make_shared<tuned_table>();
  if (!id) return table;
  table->card = id->card, table->sms = id->sms;
  try {
    std::string const path = tuning_file();
    std::error_code ignored;
    if (path.empty() || !std::filesystem::exists(path, ignored)) return table;
    for (tuned_problem const& t : tuning_store(path, tuning_store::access::read).finished(&*id)) {
      table->fastest[t.key] = t.fastest;
      if (gemm_problem const& p = t.problem; p.groups)
        table->groups[key_without_total(p)].push_back(
            {p.groups->axis, ragged_extent(p), usual_group_size(p), t.fastest});
    }
    table->news = fmt::format("tune: {} GEMMs of this device from {}", table->fastest.size(), path);
  } catch (rejected const& r) {
    table->trouble = fmt::format("what was tuned is not used: {}", r.what());
  }
  return table;
}

void say(tuned_table const& t) {
  if (!t.news.empty()) log_line(log_level::info, "tune", t.news);
  if (!t.trouble.empty()) log_line(log_level::warn, "tune", t.trouble);
}

std::shared_ptr<tuned_table const> table() {
  std::optional<tuning_identity> id;
  {
    std::scoped_lock const lock(mutex);
    id = pretended;
  }
  // Unlocked: CUDA's initialisation, SQLite and a log function of the user may fork.
  if (!id) id = identity_here();
  std::string const key = id ? fmt::format("{} {}", id->card, id->sms) : "";
  {
    std::scoped_lock const lock(mutex);
    if (auto const found = loaded.find(key); found != loaded.end()) return found->second;
  }
  std::shared_ptr<tuned_table const> const fresh = load(id);
  {
    std::scoped_lock const lock(mutex);
    auto const [at, added] = loaded.try_emplace(key, fresh);
    if (!added) return at->second;
  }
  say(*fresh);
  return fresh;
}

/// The answer for groups of this size and total, if one of these problems is near enough.
void add_nearest(tuned_answer& answer, std::vector<tuned_groups> const& like, double size,
                 std::int64_t total) {
  constexpr double largest_ratio_squared = 2;
  auto const ratio = [](double x, double y) { return x > y ? x / y : y / x; };
  auto const distance = [&](tuned_groups const& t) {
    return std::tuple(ratio(t.size, size),
                      ratio(static_cast<double>(t.total), static_cast<double>(total)), t.total);
  };
  tuned_groups const& t = *std::ranges::min_element(like, {}, distance);
  double const nearest = ratio(t.size, size);
  if (!(nearest * nearest <= largest_ratio_squared)) return;
  answer.fastest = measured_plan{t.fastest.kernel, t.fastest.swapped};
  constexpr char const* extents[] = {"", "M", "N", "K"};
  constexpr char const* lines[] = {"", "rows", "columns", "of K"};
  auto const axis = static_cast<int>(t.axis);
  answer.of_groups =
      fmt::format("{} = {}, {:.4g} {} a group", extents[axis], t.total, t.size, lines[axis]);
}

}  // namespace

tuned_answer find_tuned(gemm_problem const& p, device const& dev) {
  if (dev.emulated) return {};
  auto const t = table();
  tuned_answer answer{std::nullopt, "", t->trouble};
  if (t->fastest.empty() || dev.sm_count != t->sms || dev.name != t->card) return answer;
  auto const found = t->fastest.find(problem_key(p));
  if (found != t->fastest.end()) {
    answer.fastest = found->second;
  } else if (p.groups && !t->groups.empty()) {
    auto const like = t->groups.find(key_without_total(p));
    if (like != t->groups.end())
      add_nearest(answer, like->second, usual_group_size(p), ragged_extent(p));
  }
  return answer;
}

void forget_tuning() {
  std::scoped_lock const lock(mutex);
  loaded.clear();
}

void pretend_identity(std::optional<tuning_identity> const& id) {
  std::scoped_lock const lock(mutex);
  pretended = id;
  loaded.clear();
}

}  // namespace tw
