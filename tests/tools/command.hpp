// SPDX-License-Identifier: Apache-2.0
// command.hpp  Runs the built command and keeps what it said.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/tools/support.hpp"

namespace tw_test {

struct command_result {
  int status = -1;  // 128 + signal, as a shell says it
  std::string out, err;

  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// `tilewright ARGUMENTS...` with extra environment "NAME=value". `prepare` runs in the child
/// first: limits, closed streams.
inline command_result run_command(std::vector<std::string> arguments,
                                  std::vector<std::string> environment = {},
                                  std::function<void()> const& prepare = {}) {
  scratch const folder;
  std::string const out = folder / "out", err = folder / "err";
  arguments.insert(arguments.begin(), TW_COMMAND);
  pid_t const child = ::fork();
  if (child == 0) {
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    for (std::string& e : environment) ::putenv(e.data());
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    argv.push_back(nullptr);
    if (prepare) prepare();
    ::execv(TW_COMMAND, argv.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out),
          read_file(err)};
}

/// rows x cols of small integers and halves, different by seed, exact in every type.
inline std::vector<float> small_values(std::int64_t rows, std::int64_t cols, unsigned seed) {
  std::vector<float> v(static_cast<std::size_t>(rows * cols));
  unsigned state = seed * 2654435761U + 12345U;
  for (float& x : v) {
    state = state * 1664525U + 1013904223U;
    x = static_cast<float>(static_cast<int>(state >> 28) - 8) / 2.0F;
  }
  return v;
}

/// The elements (row-major in `values`) as bytes of `type` in `ord`.
inline std::string encode(std::vector<float> const& values, std::int64_t rows, std::int64_t cols,
                          tw::elem type, tw::order ord) {
  std::string data;
  bool const by_rows = ord == tw::order::row_major;
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    std::int64_t const row = by_rows ? i / cols : i % rows, col = by_rows ? i % cols : i / rows;
    float const x = values[static_cast<std::size_t>(row * cols + col)];
    std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x);
    if (type == tw::elem::f16) bits = tw::to_f16(x).bits;
    if (type == tw::elem::bf16) bits = tw::to_bf16(x).bits;
    for (int b = 0; b < size_bytes(type); ++b) data.push_back(static_cast<char>(bits >> (8 * b)));
  }
  return data;
}

}  // namespace tw_test
