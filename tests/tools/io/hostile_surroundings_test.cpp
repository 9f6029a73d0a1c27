// SPDX-License-Identifier: Apache-2.0
// hostile_surroundings_test.cpp  Closed streams, limits, files that change, text of files that a
//                                terminal would obey: the command ends, with a status and a word.
#include <fcntl.h>
#include <sys/resource.h>

#include <thread>

#include "tests/tools/command.hpp"
#include "tools/check/reference_blas.hpp"
#include "tools/command/guarded.hpp"
#include "tools/io/npy.hpp"
#include "tools/io/printable.hpp"
#include "tools/io/progress_bar.hpp"
#include "tools/io/safetensors.hpp"

#if defined(__SANITIZE_ADDRESS__)
constexpr bool address_sanitizer = true;
#else
constexpr bool address_sanitizer = false;
#endif

namespace {

using namespace tw;
using namespace tw_test;

class surroundings : public testing::Test {
 protected:
  scratch const folder;
  std::string const a = folder / "a.npy", b = folder / "b.npy", d = folder / "d.npy";

  void SetUp() override {
    for (std::string const& file : {a, b})
      write_file(file, npy_header(elem::bf16, 16, 16) + std::string(2 * 256, '\0'));
  }
  command_result gemm(std::vector<std::string> options,
                      std::function<void()> const& prepare = {}) const {
    options.insert(options.begin(), {"gemm", a, b, "-o", d, "--device", "emu"});
    return run_command(options, {}, prepare);
  }
};

/// Limits the address space, and ends what hangs: status 128 + SIGALRM.
std::function<void()> with_memory_mib(rlim_t mib) {
  return [mib] {
    rlimit const limit{mib << 20, mib << 20};
    ::setrlimit(RLIMIT_AS, &limit);
    ::alarm(1800);
  };
}

TEST_F(surroundings, every_verb_ends_under_a_limit_of_memory) {
  if (address_sanitizer) GTEST_SKIP() << "the sanitizer reserves address space";
  for (rlim_t const mib : {120, 160, 200, 240, 400}) {
    EXPECT_EQ(run_command({"--version"}, {}, with_memory_mib(mib)).status, 0) << mib;
    EXPECT_EQ(run_command({"plan", "64", "64", "64"}, {}, with_memory_mib(mib)).status, 0) << mib;
  }
}

TEST_F(surroundings, a_check_under_a_limit_of_memory_is_done_or_refused) {
  if (address_sanitizer) GTEST_SKIP() << "the sanitizer reserves address space";
  int done = 0, refused = 0;
  for (rlim_t const mib : {150, 300, 450, 600, 900, 2000}) {
    auto const r = gemm({"--check", "--threads", "1"}, with_memory_mib(mib));
    EXPECT_TRUE(r.status == 0 || (r.status == 2 && r.err.find("TW0613") != std::string::npos))
        << mib << ": " << r.status << " " << r.err;
    (r.status == 0 ? done : refused)++;
  }
  EXPECT_GT(done, 0);
  EXPECT_GT(refused, 0);
}

TEST_F(surroundings, threads_that_find_no_memory_refuse_and_do_not_abort) {
  if (address_sanitizer) GTEST_SKIP() << "the sanitizer reserves address space";
  constexpr std::int64_t n = 512;
  for (std::string const& file : {a, b})
    write_file(file, npy_header(elem::bf16, n, n) + std::string(2 * n * n, '\0'));
  int refused = 0;
  for (rlim_t const mib : {90, 110, 130, 150, 200, 300}) {
    // Some machine's threads find no memory for the CTAs of their clusters.
    auto const r = gemm({"--threads", "8"}, with_memory_mib(mib));
    EXPECT_TRUE(r.status == 0 || (r.status == 2 && r.err.find("TW0613") != std::string::npos))
        << mib << ": " << r.status << " " << r.err;
    refused += r.status == 2;
  }
  EXPECT_GT(refused, 0);
}

TEST(reference_blas, is_refused_where_it_is_absent) {
  auto const r = rejection_of([] { reference_blas({"libabsent.so.3"}); });
  EXPECT_EQ(r.code, "TW0619");
}

TEST_F(surroundings, a_closed_or_full_stderr_changes_no_status) {
  auto const closed = [] { ::close(STDERR_FILENO); };
  auto const full = [] { ::dup2(::open("/dev/full", O_WRONLY), STDERR_FILENO); };
  for (std::function<void()> const& lose : {std::function<void()>(closed), {full}}) {
    EXPECT_EQ(run_command({"gemm", a, folder / "absent.npy", "-o", d}, {}, lose).status, 2);
    EXPECT_EQ(run_command({"gemm", "--colour"}, {}, lose).status, 2);
    EXPECT_EQ(run_command({"info"}, {"TW_LOG_LEVEL=loud"}, lose).status, 0);
    EXPECT_EQ(gemm({"--quiet"}, lose).status, 0);
    EXPECT_TRUE(fs::exists(d));
    fs::remove(d);
  }
}

TEST_F(surroundings, a_report_that_cannot_be_printed_refuses_and_writes_nothing) {
  auto const closed = [] { ::close(STDOUT_FILENO); };
  auto const full = [] { ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO); };
  for (std::function<void()> const& lose : {std::function<void()>(closed), {full}}) {
    for (std::string const option : {"--check", "--json"}) {
      auto const r = gemm({option}, lose);
      EXPECT_EQ(r.status, 2);
      EXPECT_EQ(r.err.rfind("tilewright: TW0612: standard output", 0), 0U) << r.err;
      EXPECT_EQ(folder.listing().size(), 2U);  // A and B
    }
    for (std::string const option : {"--help", "--version", "-V"})
      EXPECT_EQ(run_command({option}, {}, lose).status, 2) << option;
    EXPECT_EQ(gemm({"--quiet"}, lose).status, 0);  // there is nothing to print
    fs::remove(d);
  }
}

TEST_F(surroundings, with_all_streams_closed_the_result_is_whole) {
  auto const r = gemm({"--quiet"}, [] {
    for (int fd : {0, 1, 2}) ::close(fd);
  });
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(fs::file_size(d), 128U + 2 * 256);
}

TEST_F(surroundings, an_input_that_is_truncated_is_named) {
  constexpr std::int64_t n = 512;
  std::string const body(2 * n * n, '\0');
  for (std::string const& file : {a, b}) write_file(file, npy_header(elem::bf16, n, n) + body);
  int named = 0, tried = 0;
  // Of a machine that is much faster or busy some of the others.
  for (int const milliseconds : {20, 50, 100, 200, 400, 2, 5, 10, 1000, 3000, 10000, 30000}) {
    if (tried++ >= 5 && named > 0) break;
    write_file(a, npy_header(elem::bf16, n, n) + body);
    std::thread cut([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      fs::resize_file(a, 1000);
    });
    auto const r = gemm({"--quiet"});
    cut.join();
    EXPECT_TRUE(r.status == 0 || r.status == 2) << r.status;
    if (r.status == 2) {
      EXPECT_NE(r.err.find("TW060"), std::string::npos) << r.err;
      EXPECT_NE(r.err.find(a), std::string::npos) << r.err;
      named += r.err.find("truncated while it was read") != std::string::npos;
    }
    for (std::string const& name : folder.listing()) EXPECT_NE(name[0], '.') << name;
    fs::remove(d);
  }
  EXPECT_GT(named, 0);
}

/// Is there a byte that a terminal would obey, or that is no UTF-8?
bool is_raw(std::string const& text) { return printable(text) != text; }

TEST(printable, keeps_text_and_escapes_what_a_terminal_obeys) {
  std::string const text = "plain\nB\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable("\x1b[31m\a\r\t\x7f"), "\\x1b[31m\\x07\\x0d\\x09\\x7f");
  // Overlong, a surrogate, beyond U+10FFFF, cut off, a control character of two bytes.
  for (char const* bad : {"\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xe2\x82", "\xff", "\xc2\x9b"})
    EXPECT_EQ(printable(bad).find_first_not_of("\\x0123456789abcdef"), std::string::npos) << bad;
}

TEST_F(surroundings, text_of_a_file_never_reaches_the_terminal_raw) {
  std::string const evil = "\x1b[31mRED\x07\nnew line\xff";
  std::string header = npy_header(elem::f32, 4, 4);
  header.replace(header.find("<f4"), 3, evil);
  header.resize(128);
  write_file(a, header + std::string(64, '\0'));
  auto const npy = gemm({});
  EXPECT_EQ(npy.status, 2);
  EXPECT_FALSE(is_raw(npy.err)) << npy.err;
  EXPECT_EQ(std::count(npy.err.begin(), npy.err.end(), '\n'), 1) << npy.err;
  std::string const json_evil = "\\u001b[31m\\u0007\\n\\u009b";
  for (std::string const& text :
       {R"({"x":{"dtype":")" + json_evil + R"(","shape":[2,2],"data_offsets":[0,8]}})",
        R"({")" + json_evil + R"(":{"dtype":"I16","shape":[2,2],"data_offsets":[0,8]}})",
        R"({"x":{")" + json_evil + R"(":"F16","shape":[2,2],"data_offsets":[0,8]}})",
        R"({"x":{"dtype":"F16","shape":")" + json_evil + R"(","data_offsets":[0,8]}})"}) {
    std::string file(8, '\0');
    file[0] = static_cast<char>(text.size());
    write_file(folder / "w.safetensors", file + text + std::string(8, '\0'));
    auto const r = run_command({"gemm", folder / "w.safetensors", b, "-o", d});
    EXPECT_EQ(r.status, 2);
    EXPECT_FALSE(is_raw(r.err)) << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  }
}

TEST_F(surroundings, a_trace_or_timeline_replaces_no_operand_and_no_other_file) {
  write_file(folder / "notes.txt", "important");
  fs::create_symlink("a.npy", folder / "link.json");
  std::string const before = read_file(a);
  for (std::string const option : {"--trace", "--timeline", "--aux"})
    for (std::string const& file : {a, b, folder / "link.json"}) {
      auto const r = gemm({option, file});
      EXPECT_EQ(r.status, 2) << option << " " << file;
    }
  for (std::string const option : {"--trace", "--timeline"}) {
    auto const r = gemm({option, folder / "notes.txt"});
    EXPECT_EQ(r.status, 2);
    EXPECT_EQ(r.err.rfind("tilewright: TW0612", 0), 0U) << r.err;
    for (int i = 0; i < 2; ++i) EXPECT_EQ(gemm({option, folder / "t.out"}).status, 0);  // its own
    fs::remove(folder / "t.out");
  }
  EXPECT_EQ(read_file(folder / "notes.txt"), "important");
  EXPECT_EQ(read_file(a), before);
}

TEST(bar, is_shorter_than_the_terminal) {
  for (int columns = 1; columns <= 200; ++columns)
    for (double const share : {0.0, 0.001, 0.5, 1.0}) {
      std::string const text = bar_text(share, 3000, columns);
      EXPECT_LT(static_cast<int>(text.size()), columns) << text;
      EXPECT_TRUE(columns <= 10 || text.find('%') != std::string::npos) << columns;
    }
  EXPECT_EQ(bar_text(0.5, 12), "[####################....................]  50 %  ETA 0:12");
}

/// The verbs of the command, and bench's with it: "bench gemm".
std::vector<std::vector<std::string>> all_verbs() {
  std::vector<std::vector<std::string>> all{{}};
  auto const add = [&all](std::vector<std::string> const& above) {
    std::vector<std::string> words = above;
    words.emplace_back("--help");
    std::istringstream lines(run_command(words).out);
    bool below = false;
    for (std::string line; std::getline(lines, line);) {
      if (below && line.size() > 2 && line[2] != ' ')
        all.push_back(above), all.back().push_back(line.substr(2, line.find(' ', 2) - 2));
      below = (below || line == "Verbs:" || line == "Subcommands:") && !line.empty();
    }
  };
  add({});
  add({"bench"});
  return all;
}

TEST(help, fits_the_terminal) {
  EXPECT_GT(all_verbs().size(), 18U);
  for (int const columns : {40, 60, 80, 100})
    for (std::vector<std::string> words : all_verbs()) {
      words.emplace_back("--help");
      auto const r = run_command(words, {"COLUMNS=" + std::to_string(columns)});
      ASSERT_EQ(r.status, 0);
      std::istringstream lines(r.out);
      for (std::string line; std::getline(lines, line);) {
        std::size_t const begin = std::min(line.find_first_not_of(' '), line.size());
        // A list of values may be cut after each comma.
        bool const one_word =
            line.find(' ', begin) == std::string::npos && line.find(',') >= line.size() - 1;
        EXPECT_TRUE(static_cast<int>(line.size()) <= columns || one_word)
            << words[0] << ": " << line;
      }
    }
}

TEST(help, breaks_a_line_where_the_terminal_ends_or_a_sentence_does) {
  constexpr std::size_t columns = 80;
  for (std::vector<std::string> words : all_verbs()) {
    words.emplace_back("--help");
    std::string const text = run_command(words, {"COLUMNS=80"}).out;
    std::istringstream lines(text);
    std::string before;
    for (std::string line; std::getline(lines, line); before = line) {
      std::size_t const begin = line.find_first_not_of(' ');
      // Paragraphs alone: their lines begin at the margin.
      if (begin != 0 || before.empty() || before[0] == ' ' || line.starts_with("Usage:")) continue;
      bool const ends = before.back() == '.' || before.back() == ':' || before.back() == '?';
      bool const table = before.find("   ") != std::string::npos || line.find("   ") != line.npos;
      std::size_t const word = std::min(line.find(' '), line.size());
      EXPECT_TRUE(ends || table || before.size() + 1 + word > columns)
          << words[0] << ": " << before << "\n"
          << line;
    }
  }
}

TEST(log_level, is_read_in_any_case_and_a_typo_costs_a_warning) {
  for (std::string const level : {"INFO", "info", "Warn", "OFF"}) {
    auto const r = run_command({"info"}, {"TW_LOG_LEVEL=" + level});
    EXPECT_EQ(r.status, 0);
    EXPECT_EQ(r.err.find("TW0614"), std::string::npos) << r.err;
  }
  for (std::string const setting :
       {"TW_LOG_LEVEL=inof", "TW_LOG_SUBSYS=weather", "TW_LOG_FILE=/no-such-folder/log"})
    for (std::string const word : {"info", "--help", "--version"}) {
      auto const r = run_command({word}, {setting});
      EXPECT_EQ(r.status, 0) << setting;
      EXPECT_EQ(r.err.rfind("tilewright: warning: TW0614", 0), 0U) << r.err;
    }
}

TEST(Guarded, ExitInsideOfAVerbIsNamed) {
  EXPECT_EXIT(guarded(false, []() -> exit_status { std::exit(1); }), testing::ExitedWithCode(2),
              "TW0629: process: got a call of exit\\(\\)");
}

TEST(Guarded, ExitAfterAVerbIsNot) {
  EXPECT_EXIT(
      {
        guarded(false, [] { return exit_status::done; });
        std::exit(3);
      },
      testing::ExitedWithCode(3), "^$");
}

}  // namespace
