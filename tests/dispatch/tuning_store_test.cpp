// SPDX-License-Identifier: Apache-2.0
// tuning_store_test.cpp  Results survive concurrent and killed writers; a file of another kind is
//                        refused; the planner takes the tuned plan.
#include "dispatch/tuning/tuning_store.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>

#include "dispatch/plan/plan_cache.hpp"
#include "dispatch/tuning/tuned.hpp"
#include "tests/dispatch/problems.hpp"

namespace tw::test {
namespace {

tuning_identity const here{"NVIDIA H200", "13.0", tuning_version(), 132};
using access = tuning_store::access;

class TuningStore : public testing::Test {
 protected:
  TuningStore() {
    char name[] = "/tmp/tuning_store_XXXXXX";
    folder_ = ::mkdtemp(name);
    path_ = folder_ + "/cache/tune.db";
  }
  ~TuningStore() override {
    ::unsetenv("TILEWRIGHT_TUNE");
    pretend_identity(std::nullopt);
    forget_plans();
    std::filesystem::remove_all(folder_);
  }
  std::string code(access wanted) const {
    try {
      tuning_store const store(path_, wanted);
    } catch (rejected const& r) {
      return r.why().code;
    }
    return "";
  }
  void write_file(std::string const& text) const {
    std::filesystem::create_directories(folder_ + "/cache");
    std::ofstream(path_, std::ios::binary) << text;
  }
  /// Past the store.
  void run_sql(std::string const& sql) const {
    std::filesystem::create_directories(folder_ + "/cache");
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(db);
  }
  void tune(gemm_problem const& p, measured_plan const& fastest) const {
    tuning_store(path_, access::write).finish(here, p, fastest, 3);
    ::setenv("TILEWRIGHT_TUNE", path_.c_str(), 1);
    pretend_identity(here);
  }

  std::string folder_, path_;
};

TEST_F(TuningStore, GivesBackWhatWasPut) {
  measured_plan const fast{"kernel", true, 3, 132, 12.5, 11.25, true};
  measured_plan const slow{"other", false, 0, 0, 20, 10}, late{"other", false, 0, 0, 20, 10, false};
  {
    tuning_store store(path_, access::write);
    store.add(here, tn(64, 64, 64), slow);
    store.add(here, tn(64, 64, 64), fast);
    store.add(here, tn(64, 64, 72), slow);
    tuning_identity other = here;
    other.driver = "13.1";
    store.add(other, tn(64, 64, 64), slow);
    store.finish(here, tn(64, 64, 64), fast, 2);
    store.finish(other, tn(64, 64, 64), slow, 1);
    store.finish(other, tn(64, 64, 72), late, 1);
  }
  tuning_store const store(path_, access::read);
  auto const measured = store.measured(here, tn(64, 64, 64));
  ASSERT_EQ(measured.size(), 2U);
  EXPECT_TRUE(measured[0].same_plan(fast));
  EXPECT_EQ(measured[0].us, 12.5);
  EXPECT_EQ(measured[0].predicted_us, 11.25);
  auto const all = store.finished();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].fastest.starts_early, true);
  EXPECT_EQ(all[1].fastest.starts_early, std::nullopt);
  EXPECT_EQ(all[2].fastest.starts_early, false);
  auto const mine = store.finished(&here);
  ASSERT_EQ(mine.size(), 1U);
  EXPECT_EQ(mine[0].problem, tn(64, 64, 64));
  EXPECT_TRUE(mine[0].fastest.same_plan(fast));
  EXPECT_EQ(mine[0].tried, 2);
  EXPECT_EQ(mine[0].date.size(), 19U);
  store.check_integrity();
}

TEST_F(TuningStore, KeysTellProblemsApart) {
  gemm_problem p = tn(64, 48, 40, elem::f32);
  std::string const key = problem_key(p);
  EXPECT_EQ(key, "64x48x40x1 a=bf16,T,40,0 b=bf16,N,40,0 d=f32,T,48,0");
  p.alpha = 2;
  EXPECT_EQ(problem_key(p), key) << "alpha costs nothing";
  gemm_problem unread = p;
  unread.c = p.d, unread.beta = 0;
  EXPECT_EQ(problem_key(unread), key) << "C is not read where beta is 0";
  std::vector<gemm_problem> others(6, tn(64, 48, 40, elem::f32));
  others[0].batch = 2;
  others[1].a.pitch_elems = 48;
  others[2].b.ord = order::row_major;
  others[3].d.type = elem::bf16;
  others[4].d.batch_stride_elems = 64;
  others[5].c = others[5].d, others[5].beta = 1;
  for (gemm_problem const& x : others) EXPECT_NE(problem_key(x), key);

  gemm_problem fused = tn(64, 48, 40, elem::f32);
  fused.epilogue = {.bias = {along::cols, elem::bf16},
                    .row_scale = along::rows,
                    .act = activation::silu,
                    .c_last = true};
  fused.c = fused.d, fused.beta = 1;
  EXPECT_NE(problem_key(fused), problem_key(others[5]));
  tuning_store store(path_, access::write);
  others.push_back(fused);
  others.push_back(fused);
  others.back().aux = fused.d;
  EXPECT_NE(problem_key(fused), problem_key(others.back()));
  for (gemm_problem const& x : others) store.finish(here, x, {"kernel", false, 0, 0, 1, 1}, 1);
  auto const back = store.finished();
  ASSERT_EQ(back.size(), others.size());
  for (std::size_t i = 0; i < others.size(); ++i) EXPECT_EQ(back[i].problem, others[i]);
}

TEST_F(TuningStore, AFileOfAnotherKindIsRefused) {
  EXPECT_EQ(code(access::read), "TW0802") << "no file";
  write_file("This is a text, long enough to be no database header at all: " +
             std::string(200, 'x'));
  EXPECT_EQ(code(access::read), "TW0801");
  EXPECT_EQ(code(access::write), "TW0801");
  std::filesystem::remove(path_);
  std::filesystem::create_directories(path_);
  EXPECT_EQ(code(access::write), "TW0802") << "a folder";
}

TEST_F(TuningStore, ADamagedFileIsRefused) {
  {
    tuning_store store(path_, access::write);
    for (int i = 1; i < 40; ++i)
      store.finish(here, tn(i, 64, 64), {"kernel", false, 0, 0, 1, 1}, 1);
  }
  auto const size = std::filesystem::file_size(path_);
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4096);
  for (std::uintmax_t i = 4096; i < size; ++i) file.put('\x7F');
  file.close();
  auto const look = [&] {
    tuning_store const store(path_, access::read);
    store.check_integrity();
    store.finished();
  };
  try {
    look();
    FAIL() << "accepted";
  } catch (rejected const& r) {
    EXPECT_EQ(r.why().code, "TW0801") << r.what();
  }
}

/// A file of version 1, with a result.
constexpr char const* version_1 = R"(
CREATE TABLE measurement(
  card TEXT, driver TEXT, version TEXT, problem TEXT,
  kernel TEXT, swapped INTEGER, shared_tiles INTEGER, sharers INTEGER,
  us REAL NOT NULL, predicted_us REAL NOT NULL, date TEXT NOT NULL,
  PRIMARY KEY(card, driver, version, problem, kernel, swapped, shared_tiles, sharers));
CREATE TABLE fastest(
  card TEXT, driver TEXT, version TEXT, sms INTEGER NOT NULL, problem TEXT,
  kernel TEXT NOT NULL, swapped INTEGER NOT NULL, shared_tiles INTEGER NOT NULL,
  sharers INTEGER NOT NULL, us REAL NOT NULL, predicted_us REAL NOT NULL, tried INTEGER NOT NULL,
  date TEXT NOT NULL,
  PRIMARY KEY(card, driver, version, problem));
INSERT INTO fastest VALUES('a GPU', '13.0', 'v', 132,
  '64x64x64x1 a=bf16,T,64,0 b=bf16,N,64,0 d=bf16,T,64,0', 'kernel', 1, 3, 132, 12.5, 11.25, 2,
  '2026-11-21 08:00:00');
PRAGMA application_id=0x54574754;
PRAGMA user_version=1;
)";

TEST_F(TuningStore, AnOlderFileIsReadAndAWriterBringsItUpToDate) {
  run_sql(version_1);
  auto const is_there = [&] {
    auto const all = tuning_store(path_, access::read).finished();
    ASSERT_GE(all.size(), 1U);
    EXPECT_EQ(all[0].problem, tn(64, 64, 64));
    EXPECT_TRUE(all[0].fastest.same_plan({"kernel", true, 3, 132, 0, 0}));
    EXPECT_EQ(all[0].fastest.us, 12.5);
    EXPECT_EQ(all[0].fastest.starts_early, std::nullopt) << "it was not measured";
    EXPECT_EQ(all[0].date, "2026-11-21 08:00:00");
  };
  is_there();
  for (int opened = 0; opened < 2; ++opened)
    tuning_store(path_, access::write)
        .finish(here, tn(64, 64, 72), {"kernel", false, 0, 0, 1, 1, true}, 1);
  is_there();
  auto const all = tuning_store(path_, access::read).finished();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[1].fastest.starts_early, true);
}

TEST_F(TuningStore, AnotherProgramsOrANewerFileIsRefusedAndLeftAsItIs) {
  for (char const* const head : {"PRAGMA application_id=7; PRAGMA user_version=1",
                                 "PRAGMA application_id=0x54574754; PRAGMA user_version=3",
                                 "PRAGMA application_id=7; PRAGMA user_version=0"}) {
    run_sql("DROP TABLE IF EXISTS fastest; CREATE TABLE fastest(x); INSERT INTO fastest VALUES(1)");
    run_sql(head);
    EXPECT_EQ(code(access::read), "TW0801") << head;
    EXPECT_EQ(code(access::write), "TW0801") << head;
    run_sql("INSERT INTO fastest VALUES(2)");  // no column came to it
  }
}

TEST_F(TuningStore, AnEmptyFileIsAnEmptyStore) {
  write_file("");
  EXPECT_TRUE(tuning_store(path_, access::read).finished().empty());
  EXPECT_EQ(code(access::write), "");
}

TEST_F(TuningStore, WritersAtOnceLoseNothing) {
  constexpr int writers = 4, rows = 12;
  std::vector<pid_t> children;
  for (int w = 0; w < writers; ++w) {
    pid_t const child = ::fork();
    if (child == 0) {
      try {
        tuning_store store(path_, access::write);  // the file is missing for all
        for (int i = 1; i <= rows; ++i)
          store.add(here, tn(1 + w, i, 64), {"kernel", false, 0, 0, 1.0 * i, 1});
        ::_exit(0);
      } catch (...) {
        ::_exit(1);
      }
    }
    children.push_back(child);
  }
  for (pid_t const child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  tuning_store const store(path_, access::read);
  store.check_integrity();
  for (int w = 0; w < writers; ++w)
    for (int i = 1; i <= rows; ++i) EXPECT_EQ(store.measured(here, tn(1 + w, i, 64)).size(), 1U);
}

/// Writes rows until it is killed; writes to the pipe after each.
void write_for_ever(std::string const& path, int round, int pipe_end) {
  tuning_store store(path, access::write);
  for (int i = 1;; ++i) {
    store.add(here, tn(round + 1, i, 64), {"kernel", false, 0, 0, 1.0 * i, 1});
    if (::write(pipe_end, "x", 1) != 1) ::_exit(1);
  }
}

TEST_F(TuningStore, AKilledWriterLeavesAllThatItFinished) {
  std::mt19937 random(1);
  for (int round = 0; round < 12; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    pid_t const child = ::fork();
    if (child == 0) {
      ::close(ends[0]);
      try {
        write_for_ever(path_, round, ends[1]);
      } catch (...) {
      }
      ::_exit(1);
    }
    ::close(ends[1]);
    ::usleep(20000 + random() % 60000);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    int told = 0;
    for (char c; ::read(ends[0], &c, 1) == 1;) ++told;
    ::close(ends[0]);
    if (!std::filesystem::exists(path_)) continue;
    tuning_store store(path_, access::write);
    store.check_integrity();
    for (int i = 1; i <= told; ++i)
      ASSERT_EQ(store.measured(here, tn(round + 1, i, 64)).size(), 1U) << round << ", row " << i;
    EXPECT_LE(store.measured(here, tn(round + 1, told + 2, 64)).size(), 0U);
  }
}

TEST_F(TuningStore, ThePlannerTakesWhatWasTuned) {
  gemm_problem const p = tn(1000, 1000, 1008);
  ::setenv("TILEWRIGHT_TUNE", "off", 1);
  std::vector<gemm_plan> const plans = plan_candidates(p, with_workspace(), h200());
  gemm_plan const& other = plans[5];
  tune(p, {other.kernel, other.swapped, other.schedule.split_k_tiles,
           other.schedule.split_k_clusters, 7.5, 8});
  gemm_plan const plan = plan_gemm(p, with_workspace(), h200());
  EXPECT_EQ(plan.source, plan_source::tuned);
  EXPECT_EQ(plan.measured_us, 7.5);
  EXPECT_EQ(plan.kernel, other.kernel);
  EXPECT_EQ(plan.swapped, other.swapped);
  EXPECT_NE(plan.why.find("on this GPU"), std::string::npos) << plan.why;
  EXPECT_TRUE(plan.hints.empty());

  EXPECT_EQ(plan_gemm(p, with_workspace(), h200(131)).source, plan_source::model)
      << "part of the GPU";
  device renamed = h200();
  renamed.name = "NVIDIA H100 80GB HBM3";
  EXPECT_EQ(plan_gemm(p, with_workspace(), renamed).source, plan_source::model) << "another GPU";
  gemm_operands odd = with_workspace();
  odd.a = reinterpret_cast<void*>(std::uintptr_t{0x1002});
  EXPECT_EQ(plan_gemm(p, odd, h200()).source, plan_source::model)
      << "measured with aligned operands";
  ::setenv("TILEWRIGHT_TUNE", "off", 1);
  forget_tuning();
  EXPECT_EQ(plan_gemm(p, with_workspace(), h200()).kernel, plans[0].kernel);
}

TEST_F(TuningStore, AnEarlyStartThatWasMeasuredCountsMoreThanTheRule) {
  gemm_problem const p = tn(1000, 1000, 1008);
  ::setenv("TILEWRIGHT_TUNE", "off", 1);
  gemm_plan const by_rule = plan_gemm(p, with_workspace(), h200());
  EXPECT_FALSE(by_rule.early_measured);
  measured_plan m{by_rule.kernel,
                  by_rule.swapped,
                  by_rule.schedule.split_k_tiles,
                  by_rule.schedule.split_k_clusters,
                  7.5,
                  8};
  for (bool const early : {false, true}) {
    m.starts_early = early;
    tune(p, m);
    gemm_plan const plan = plan_gemm(p, with_workspace(), h200());
    EXPECT_EQ(plan.starts_early, early);
    EXPECT_TRUE(plan.early_measured);
  }
  m.starts_early.reset();
  tune(p, m);
  gemm_plan const plan = plan_gemm(p, with_workspace(), h200());
  EXPECT_EQ(plan.source, plan_source::tuned);
  EXPECT_EQ(plan.starts_early, by_rule.starts_early);
  EXPECT_FALSE(plan.early_measured);
}

TEST_F(TuningStore, ATuningWithoutEarlyStartsKeepsThoseOfTheTable) {
  gemm_problem const p = tn(64, 8192, 1024);
  ::setenv("TILEWRIGHT_TUNE", "off", 1);
  gemm_plan const x = best_plan(p, with_workspace(), h200());
  ASSERT_TRUE(x.source == plan_source::table_of_winners && x.early_measured);
  tune(p, {x.kernel, x.swapped, x.schedule.split_k_tiles, x.schedule.split_k_clusters, 7.5, 8});
  gemm_plan const plan = best_plan(p, with_workspace(), h200());
  EXPECT_EQ(plan.source, plan_source::tuned);
  EXPECT_EQ(plan.starts_early, x.starts_early);
  EXPECT_TRUE(plan.early_measured);
}

TEST_F(TuningStore, APlanThatNeedsMoreWorkspaceIsNotTaken) {
  gemm_problem const p = tn(600, 600, 30016);
  gemm_plan const shared = plan_gemm(p, with_workspace(), h200());
  ASSERT_GT(shared.schedule.split_k_tiles, 0);
  tune(p, {shared.kernel, shared.swapped, shared.schedule.split_k_tiles,
           shared.schedule.split_k_clusters, 7.5, 8});
  EXPECT_EQ(plan_gemm(p, with_workspace(), h200()).source, plan_source::tuned);
  EXPECT_EQ(plan_gemm(p, with_workspace(0), h200()).source, plan_source::model);
}

TEST_F(TuningStore, AFileThatCannotBeReadIsAHintNotACrash) {
  write_file(std::string(300, '?'));
  ::setenv("TILEWRIGHT_TUNE", path_.c_str(), 1);
  pretend_identity(here);
  gemm_plan const plan = plan_gemm(tn(1000, 1000, 1008), with_workspace(), h200());
  ASSERT_EQ(plan.hints.size(), 1U);
  EXPECT_NE(plan.hints[0].find("TW0801"), std::string::npos) << plan.hints[0];
  ::setenv("TILEWRIGHT_TUNE", "yes", 1);
  forget_tuning();
  EXPECT_NE(plan_gemm(tn(1000, 1000, 1008), with_workspace(), h200()).hints[0].find("TW0802"),
            std::string::npos);
}

TEST_F(TuningStore, AReaderDoesNotWaitLongForAWriter) {
  tuning_store(path_, access::write).add(here, tn(1, 1, 64), {"kernel", false, 0, 0, 1, 1});
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr), SQLITE_OK);
  auto const start = std::chrono::steady_clock::now();
  EXPECT_EQ(code(access::read), "TW0802");
  ::setenv("TILEWRIGHT_TUNE", path_.c_str(), 1);
  pretend_identity(here);
  gemm_plan const plan = plan_gemm(tn(1000, 1000, 1008), with_workspace(), h200());
  std::chrono::duration<double> const took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 18);  // a second each; a writer waits ten
  ASSERT_EQ(plan.hints.size(), 1U);
  EXPECT_NE(plan.hints[0].find("locked"), std::string::npos) << plan.hints[0];
  sqlite3_close(db);
}

TEST_F(TuningStore, TheFileIsInTheUsersCache) {
  ::unsetenv("TILEWRIGHT_TUNE");
  std::string const home = ::getenv("HOME") == nullptr ? "" : ::getenv("HOME");
  ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(tuning_file(), "/somewhere/tilewright/tune.db");
  ::unsetenv("XDG_CACHE_HOME");
  ::setenv("HOME", "/home/user", 1);
  EXPECT_EQ(tuning_file(), "/home/user/.cache/tilewright/tune.db");
  ::setenv("TILEWRIGHT_TUNE", "off", 1);
  EXPECT_EQ(tuning_file(), "");
  ::setenv("HOME", home.c_str(), 1);
}

}  // namespace
}  // namespace tw::test
