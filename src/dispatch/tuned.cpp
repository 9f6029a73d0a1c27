// SPDX-License-Identifier: Apache-2.0
// tuned.cpp  One table per device in memory, read at its first use.
#include "dispatch/tuned.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/fork_safe.hpp"
#include "base/log.hpp"
#include "tilewright/base/check.hpp"

namespace tw {
namespace {

struct tuned_table {
  std::string card;
  int sms = 0;
  std::unordered_map<std::string, measured_plan> fastest;  // by problem_key
  std::string news, trouble;                               // lines for the log
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
    for (tuned_problem const& t : tuning_store(path, tuning_store::access::read).finished(&*id))
      table->fastest[t.key] = t.fastest;
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

}  // namespace

tuned_answer find_tuned(gemm_problem const& p, device const& dev) {
  if (dev.emulated) return {};
  auto const t = table();
  tuned_answer answer{std::nullopt, t->trouble};
  if (t->fastest.empty() || dev.sm_count != t->sms || dev.name != t->card) return answer;
  auto const found = t->fastest.find(problem_key(p));
  if (found != t->fastest.end()) answer.fastest = found->second;
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
