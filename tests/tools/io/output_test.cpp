// SPDX-License-Identifier: Apache-2.0
// output_test.cpp  An output file appears whole or not at all, whatever interrupts.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tools/support.hpp"
#include "tools/io/matrix_file.hpp"
#include "tools/io/output_file.hpp"

namespace {

using namespace tw;
using namespace tw_test;

matrix_view view_of(std::vector<float> const& data, std::int64_t rows, std::int64_t cols) {
  return {elem::f32, order::row_major, rows, cols, reinterpret_cast<std::byte const*>(data.data())};
}

TEST(output, a_written_matrix_is_read_back_from_both_formats) {
  scratch const folder;
  std::vector<float> const data{1, 2, 3, 4, 5, 6};
  for (std::string name : {"d.npy", "d.safetensors", "d.safetensors:y"}) {
    matrix_address const address = parse_address(folder / name);
    write_matrix(address, view_of(data, 2, 3));
    matrix_file const back(address);
    EXPECT_EQ(text_of(back.view().type, back.view().rows, back.view().cols), "2x3 f32");
    EXPECT_EQ(element(back.view(), 1, 0), 4.0F) << name;
  }
  EXPECT_EQ(folder.listing().size(), 2U);
}

TEST(output, without_commit_nothing_is_left_and_the_old_file_stays) {
  scratch const folder;
  write_file(folder / "d.npy", "old");
  {
    output_file out(folder / "d.npy");
    out.write(bytes_of_text("new"));
    EXPECT_EQ(read_file(folder / "d.npy"), "old");
  }
  EXPECT_EQ(folder.listing(), std::vector<std::string>{"d.npy"});
  EXPECT_EQ(read_file(folder / "d.npy"), "old");
}

TEST(output, the_new_file_has_the_usual_permissions) {
  scratch const folder;
  mode_t const mask = ::umask(022);
  output_file out(folder / "d.npy");
  out.commit();
  ::umask(mask);
  EXPECT_EQ(fs::status(folder / "d.npy").permissions(), static_cast<fs::perms>(0644));
}

TEST(output, a_replaced_file_keeps_its_mode_owner_and_group) {
  for (mode_t const mode : {0600, 0640, 0444, 0664}) {
    scratch const folder;
    write_file(folder / "d.npy", "old");
    ASSERT_EQ(::chmod((folder / "d.npy").c_str(), mode), 0);
    bool const root = ::geteuid() == 0;
    if (root) {
      ASSERT_EQ(::chown((folder / "d.npy").c_str(), 12345, 54321), 0);
    }
    output_file out(folder / "d.npy");
    out.write(bytes_of_text("new"));
    out.commit();
    struct stat now {};
    ASSERT_EQ(::stat((folder / "d.npy").c_str(), &now), 0);
    EXPECT_EQ(now.st_mode & 07777, mode);
    if (root) {
      EXPECT_TRUE(now.st_uid == 12345 && now.st_gid == 54321);
    }
    EXPECT_EQ(read_file(folder / "d.npy"), "new");
    EXPECT_EQ(folder.listing().size(), 1U);
  }
}

TEST(output, a_name_may_be_as_long_as_the_file_system_allows) {
  for (std::size_t const length : {248, 249, 255}) {
    scratch const folder;
    std::string const name = std::string(length - 4, 'x') + ".npy";
    for (char const* const content : {"first", "second"}) {
      output_file out(folder / name);
      out.write(bytes_of_text(content));
      out.commit();
      EXPECT_EQ(read_file(folder / name), content);
    }
    EXPECT_EQ(folder.listing(), std::vector<std::string>{name});
  }
  scratch const folder;
  std::string const long_name = std::string(252, 'x').append(".npy");
  auto const r = rejection_of([&] { check_writable(folder / long_name); });
  EXPECT_EQ(r.code, "TW0612");
  EXPECT_EQ(r.got, "File name too long");
}

TEST(output, a_dangling_link_is_followed_as_one_that_is_not) {
  scratch const folder;
  fs::create_symlink("real.npy", folder / "middle.npy");
  fs::create_symlink("middle.npy", folder / "link.npy");
  output_file out(folder / "link.npy");
  out.write(bytes_of_text("new"));
  out.commit();
  EXPECT_TRUE(fs::is_symlink(folder / "link.npy") && fs::is_symlink(folder / "middle.npy"));
  EXPECT_EQ(read_file(folder / "real.npy"), "new");
  fs::create_symlink("absent/real.npy", folder / "far.npy");
  EXPECT_EQ(rejection_of([&] { check_writable(folder / "far.npy"); }).code, "TW0612");
  fs::create_symlink("round.npy", folder / "round.npy");
  EXPECT_EQ(rejection_of([&] { check_writable(folder / "round.npy"); }).code, "TW0612");
}

TEST(output, a_link_keeps_pointing_and_its_file_is_replaced) {
  scratch const folder;
  write_file(folder / "real.npy", "old");
  fs::create_symlink("real.npy", folder / "link.npy");
  output_file out(folder / "link.npy");
  out.write(bytes_of_text("new"));
  out.commit();
  EXPECT_TRUE(fs::is_symlink(folder / "link.npy"));
  EXPECT_EQ(read_file(folder / "real.npy"), "new");
}

TEST(output, refuses_places_that_cannot_hold_a_file) {
  scratch const folder;
  fs::create_directory(folder / "sub.npy");
  for (std::string path : {folder / "absent/d.npy", folder / "sub.npy"}) {
    auto const r = rejection_of([&] { output_file out(path); });
    EXPECT_EQ(r.code, "TW0612") << path;
  }
}

TEST(output, does_not_replace_a_file_with_other_tensors) {
  scratch const folder;
  std::vector<float> const data{1};
  write_matrix(parse_address(folder / "w.safetensors:a"), view_of(data, 1, 1));
  EXPECT_EQ(rejection_of([&] { check_output(parse_address(folder / "w.safetensors:a")); }).code,
            "");
  auto const r = rejection_of([&] { check_output(parse_address(folder / "w.safetensors:b")); });
  EXPECT_EQ(r.code, "TW0612");
  EXPECT_EQ(r.got, "a file that holds tensor \"a\"");
}

/// Runs `f` in a child process; its wait status.
int in_child(std::function<void()> const& f) {
  pid_t const child = ::fork();
  if (child == 0) {
    f();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(output, a_signal_removes_the_temporary_and_still_kills) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    scratch const folder;
    int const status = in_child([&] {
      output_file out(folder / "d.npy");
      out.write(bytes_of_text("half"));
      ::raise(signal);
    });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    EXPECT_TRUE(folder.listing().empty());
  }
}

TEST(output, kill_9_leaves_nothing) {
  scratch const folder;
  int const probe = ::open((folder / ".").c_str(), O_TMPFILE | O_RDWR, 0600);
  if (probe < 0) GTEST_SKIP() << "a file system without O_TMPFILE";
  ::close(probe);
  int const status = in_child([&] {
    output_file out(folder / "d.npy");
    out.write(bytes_of_text("half"));
    ::raise(SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(folder.listing().empty());
}

TEST(output, a_full_disk_is_refused_and_nothing_is_left) {
  scratch const folder;
  int const status = in_child([&] {
    rlimit const limit{1024, 1024};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto const r = rejection_of([&] {
      output_file out(folder / "d.npy");
      out.write(std::vector<std::byte>(4096));
    });
    ::_exit(r.code == "TW0612" ? 5 : 6);
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5);
  EXPECT_TRUE(folder.listing().empty());
}

}  // namespace
