// SPDX-License-Identifier: Apache-2.0
// tuning_store.cpp  Two tables: measurements as they come, and the fastest plan of each problem.
#include "dispatch/tuning/tuning_store.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <filesystem>

#include "tilewright/base/check.hpp"
#include "tilewright/base/elem_traits.hpp"

namespace tw {
namespace {

constexpr int application_id = 0x54574754;  // "TWGT": whose file it is, in SQLite's header
constexpr int schema_version = 2;
constexpr int writer_waits_ms = 10000, reader_waits_ms = 1000;

constexpr char const* schema = R"(
CREATE TABLE measurement(
  card TEXT, driver TEXT, version TEXT, problem TEXT,
  kernel TEXT, swapped INTEGER, shared_tiles INTEGER, sharers INTEGER,
  us REAL NOT NULL, predicted_us REAL NOT NULL, date TEXT NOT NULL,
  PRIMARY KEY(card, driver, version, problem, kernel, swapped, shared_tiles, sharers));
CREATE TABLE fastest(
  card TEXT, driver TEXT, version TEXT, sms INTEGER NOT NULL, problem TEXT,
  kernel TEXT NOT NULL, swapped INTEGER NOT NULL, shared_tiles INTEGER NOT NULL,
  sharers INTEGER NOT NULL, us REAL NOT NULL, predicted_us REAL NOT NULL, tried INTEGER NOT NULL,
  date TEXT NOT NULL, starts_early INTEGER,
  PRIMARY KEY(card, driver, version, problem));
)";

/// Version 1 did not know which plans start early.
constexpr char const* from_version_1 = "ALTER TABLE fastest ADD COLUMN starts_early INTEGER";

[[noreturn]] void refuse(std::string const& path, int status, std::string const& message) {
  int const kind = status & 0xFF;
  std::string const what = "tuning file " + path;
  if (kind == SQLITE_NOTADB || kind == SQLITE_CORRUPT)
    throw rejected({"TW0801", what, message, "a file that `tilewright tune` wrote",
                    "move it away and tune again, or set TILEWRIGHT_TUNE=off"});
  throw rejected({"TW0802", what, message, "a file that can be opened and written",
                  "free it, choose another with TILEWRIGHT_TUNE=/PATH, or TILEWRIGHT_TUNE=off"});
}

/// A prepared statement; columns and parameters are counted from 0.
class statement {
 public:
  statement(sqlite3* db, std::string const& path, char const* sql) : db_(db), path_(path) {
    check(sqlite3_prepare_v2(db, sql, -1, &s_, nullptr));
  }
  ~statement() { sqlite3_finalize(s_); }
  statement(statement const&) = delete;
  statement& operator=(statement const&) = delete;

  statement& with(std::string const& x) {
    check(sqlite3_bind_text(s_, ++bound_, x.c_str(), -1, SQLITE_TRANSIENT));
    return *this;
  }
  statement& with(double x) {
    check(sqlite3_bind_double(s_, ++bound_, x));
    return *this;
  }
  statement& with(int x) {
    check(sqlite3_bind_int(s_, ++bound_, x));
    return *this;
  }
  statement& with(std::optional<bool> x) {
    if (x) return with(int{*x});
    check(sqlite3_bind_null(s_, ++bound_));
    return *this;
  }
  statement& with(tuning_identity const& id) {
    return with(id.card).with(id.driver).with(id.version);
  }
  statement& with(measured_plan const& m) {
    return with(m.kernel).with(int{m.swapped}).with(m.split_k_tiles).with(m.split_k_clusters);
  }

  /// True: there is a row. False: done.
  bool step() {
    int const status = sqlite3_step(s_);
    if (status != SQLITE_ROW && status != SQLITE_DONE) check(status);
    return status == SQLITE_ROW;
  }
  std::string text(int column) const {
    auto const* const t = reinterpret_cast<char const*>(sqlite3_column_text(s_, column));
    return t == nullptr ? "" : t;
  }
  double real(int column) const { return sqlite3_column_double(s_, column); }
  int integer(int column) const { return sqlite3_column_int(s_, column); }
  std::optional<bool> truth(int column) const {
    if (sqlite3_column_type(s_, column) == SQLITE_NULL) return std::nullopt;
    return integer(column) != 0;
  }

 private:
  void check(int status) const {
    if (status != SQLITE_OK) refuse(path_, status, sqlite3_errmsg(db_));
  }

  sqlite3* db_;
  std::string const& path_;
  sqlite3_stmt* s_ = nullptr;
  int bound_ = 0;
};

void run(sqlite3* db, std::string const& path, char const* sql) {
  char* message = nullptr;
  int const status = sqlite3_exec(db, sql, nullptr, nullptr, &message);
  std::string const said = message == nullptr ? "" : message;
  sqlite3_free(message);
  if (status != SQLITE_OK) refuse(path, status, said);
}

int pragma(sqlite3* db, std::string const& path, char const* name) {
  statement s(db, path, fmt::format("PRAGMA {}", name).c_str());
  return s.step() ? s.integer(0) : 0;
}

int tables(sqlite3* db, std::string const& path) {
  statement s(db, path, "SELECT count(*) FROM sqlite_master");
  return s.step() ? s.integer(0) : 0;
}

}  // namespace

void tuning_store::closer::operator()(sqlite3* db) const { sqlite3_close(db); }

tuning_store::tuning_store(std::string const& path, access wanted) : path_(path) {
  bool const write = wanted == access::write;
  if (write) {
    std::error_code ignored;  // what cannot be made cannot be opened either
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  }
  // A reader may have to undo what a killed writer left in the journal: it needs to write too.
  int const flags = SQLITE_OPEN_READWRITE | (write ? SQLITE_OPEN_CREATE : 0);
  sqlite3* db = nullptr;
  int status = sqlite3_open_v2(path.c_str(), &db, flags, nullptr);
  if (status != SQLITE_OK && !write) {
    sqlite3_close(db);
    status = sqlite3_open_v2(path.c_str(), &db, SQLITE_OPEN_READONLY, nullptr);
  }
  db_.reset(db);
  if (status != SQLITE_OK)
    refuse(path, status, db == nullptr ? sqlite3_errstr(status) : sqlite3_errmsg(db));
  sqlite3_busy_timeout(db, write ? writer_waits_ms : reader_waits_ms);
  prepare_schema(write);
}

tuning_store::~tuning_store() = default;

void tuning_store::prepare_schema(bool may_write) {
  sqlite3* const db = db_.get();
  auto const refuse_version = [&](int id, int version) {
    refuse(path_, SQLITE_NOTADB,
           fmt::format("application id {:#x}, version {}", static_cast<unsigned>(id), version));
  };
  // Several processes may open an empty or an older file: one writes the tables, or adds what they
  // lack, in a transaction.
  if (may_write && pragma(db, path_, "user_version") < schema_version) {
    run(db, path_, "BEGIN IMMEDIATE");
    int const found = pragma(db, path_, "user_version");
    bool const ours = pragma(db, path_, "application_id") == application_id;
    bool const made = found == 0 && tables(db, path_) == 0, older = ours && found == 1;
    if (made) run(db, path_, schema);
    if (made) run(db, path_, fmt::format("PRAGMA application_id={}", application_id).c_str());
    if (older) run(db, path_, from_version_1);
    if (made || older)
      run(db, path_, fmt::format("PRAGMA user_version={}", schema_version).c_str());
    run(db, path_, "COMMIT");
  }
  int const id = pragma(db, path_, "application_id");
  version_ = pragma(db, path_, "user_version");
  // Made by a writer that was killed before its first transaction was complete.
  empty_ = id == 0 && version_ == 0 && tables(db, path_) == 0;
  if (empty_) return;
  if (id != application_id || version_ < 1 || version_ > schema_version)
    refuse_version(id, version_);
}

void tuning_store::add(tuning_identity const& id, gemm_problem const& p, measured_plan const& m) {
  statement s(db_.get(), path_,
              "INSERT OR REPLACE INTO measurement VALUES(?,?,?,?,?,?,?,?,?,?,datetime('now'))");
  s.with(id).with(problem_key(p)).with(m).with(m.us).with(m.predicted_us).step();
}

std::vector<measured_plan> tuning_store::measured(tuning_identity const& id,
                                                  gemm_problem const& p) const {
  if (empty_) return {};
  statement s(db_.get(), path_,
              "SELECT kernel, swapped, shared_tiles, sharers, us, predicted_us FROM measurement "
              "WHERE card=? AND driver=? AND version=? AND problem=? ORDER BY us");
  s.with(id).with(problem_key(p));
  std::vector<measured_plan> all;
  while (s.step())
    all.push_back({s.text(0), s.integer(1) != 0, s.integer(2), s.integer(3), s.real(4), s.real(5)});
  return all;
}

void tuning_store::finish(tuning_identity const& id, gemm_problem const& p,
                          measured_plan const& fastest, int tried) {
  statement s(db_.get(), path_,
              "INSERT OR REPLACE INTO fastest(card, driver, version, problem, kernel, swapped, "
              "shared_tiles, sharers, us, predicted_us, starts_early, tried, sms, date) "
              "VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,datetime('now'))");
  s.with(id).with(problem_key(p)).with(fastest).with(fastest.us).with(fastest.predicted_us);
  s.with(fastest.starts_early).with(tried).with(id.sms).step();
}

std::vector<tuned_problem> tuning_store::finished(tuning_identity const* only) const {
  if (empty_) return {};
  std::string const sql = fmt::format(
      "SELECT card, driver, version, sms, problem, kernel, swapped, shared_tiles, sharers, us, "
      "predicted_us, tried, date, {} FROM fastest ORDER BY rowid",
      version_ == 1 ? "NULL" : "starts_early");
  statement s(db_.get(), path_, sql.c_str());
  std::vector<tuned_problem> all;
  while (s.step()) {
    tuned_problem t;
    t.identity = {s.text(0), s.text(1), s.text(2), s.integer(3)};
    if (only != nullptr && !(t.identity == *only)) continue;
    t.key = s.text(4);
    auto const problem = problem_of_key(t.key);
    if (!problem) refuse(path_, SQLITE_CORRUPT, fmt::format("the problem \"{}\"", t.key));
    t.problem = *problem;
    t.fastest = {s.text(5), s.integer(6) != 0, s.integer(7), s.integer(8), s.real(9), s.real(10)};
    t.tried = s.integer(11);
    t.date = s.text(12);
    t.fastest.starts_early = s.truth(13);
    all.push_back(std::move(t));
  }
  return all;
}

void tuning_store::check_integrity() const {
  statement s(db_.get(), path_, "PRAGMA integrity_check");
  if (!s.step() || s.text(0) != "ok") refuse(path_, SQLITE_CORRUPT, s.text(0));
}

}  // namespace tw
