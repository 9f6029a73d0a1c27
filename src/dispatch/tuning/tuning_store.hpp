// SPDX-License-Identifier: Apache-2.0
// tuning_store.hpp  Measured plans in an SQLite file that several processes may use at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/tuning/tuning_key.hpp"

struct sqlite3;

namespace tw {

/// A plan by the members that distinguish it from the others of its problem, and its time.
struct measured_plan {
  std::string kernel;
  bool swapped = false;
  int split_k_tiles = 0, split_k_clusters = 0;
  double us = 0;
  double predicted_us = 0;
  std::optional<bool> starts_early{};  // which is faster; nothing: not measured, or no difference

  bool same_plan(measured_plan const& o) const {
    return kernel == o.kernel && swapped == o.swapped && split_k_tiles == o.split_k_tiles &&
           split_k_clusters == o.split_k_clusters;
  }
};

/// The fastest plan of a problem, after all `tried` candidates were measured.
struct tuned_problem {
  tuning_identity identity;
  gemm_problem problem;
  std::string key;  // problem_key()
  measured_plan fastest;
  int tried = 0;
  std::string date;  // UTC
};

/// One transaction per result: a process that is killed at any point leaves what was complete.
/// A writer waits up to 10 s for others, a reader 1 s. Rollback journal, not WAL: a reader needs no
/// second file, and the cache folder may be on a network file system.
class tuning_store {
 public:
  enum class access { read, write };

  /// Opens the file; `write` makes it and its folder, and brings an older version up to date.
  /// Throws `rejected` TW0801 for a file that is no store of this kind (foreign, damaged, of a
  /// newer version), TW0802 when it cannot be opened.
  tuning_store(std::string const& path, access wanted);
  ~tuning_store();
  tuning_store(tuning_store const&) = delete;
  tuning_store& operator=(tuning_store const&) = delete;

  /// Progress of a problem: its plans that were measured so far, without `starts_early`. Each
  /// throws TW0801, TW0802.
  void add(tuning_identity const& id, gemm_problem const& p, measured_plan const& m);
  std::vector<measured_plan> measured(tuning_identity const& id, gemm_problem const& p) const;

  /// The result. Problems in the order in which they were finished; those of one identity, or all.
  void finish(tuning_identity const& id, gemm_problem const& p, measured_plan const& fastest,
              int tried);
  std::vector<tuned_problem> finished(tuning_identity const* only = nullptr) const;

  /// Throws TW0801 unless every page and index is sound.
  void check_integrity() const;

 private:
  struct closer {
    void operator()(sqlite3* db) const;
  };
  void prepare_schema(bool may_write);

  std::string path_;
  bool empty_ = false;  // for a reader: no tables yet
  int version_ = 0;     // of the file; a reader may get an older one
  std::unique_ptr<sqlite3, closer> db_;
};

}  // namespace tw
