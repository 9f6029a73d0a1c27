// SPDX-License-Identifier: Apache-2.0
// crash_report.cpp  A handler that only writes what was put down before.
#include "tools/check/hazards/crash_report.hpp"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "tools/report/json_output.hpp"

namespace tw::hazards {

namespace {

constexpr int no_signal = 0;  // a call of exit()
struct crash {
  int signal;
  char const* meaning;
};
constexpr crash crashes[] = {{SIGSEGV, "an access of an address that is not mapped"},
                             {SIGBUS, "an access of an address that no memory has"},
                             {SIGFPE, "a division of integers by zero"},
                             {SIGILL, "an instruction that this CPU does not have"},
                             {SIGABRT, "an abort, as of a failed assertion"},
                             {SIGPROF, "more processor time than the limit"},
                             {no_signal, "a call of exit(), which ends the process"}};
struct sigaction before[std::size(crashes)];
std::string const* last_words = nullptr;  // of each of the crashes
std::string const* last_records = nullptr;

void write_all(int file, std::string const& text) {
  for (std::size_t done = 0; done < text.size();) {
    ssize_t const n = ::write(file, text.data() + done, text.size() - done);
    if (n <= 0) return;
    done += static_cast<std::size_t>(n);
  }
}

extern "C" void crashed(int signal) {
  for (std::size_t i = 0; i < std::size(crashes) && last_words != nullptr; ++i) {
    if (crashes[i].signal != signal) continue;
    write_all(STDERR_FILENO, last_words[i]);
    write_all(STDOUT_FILENO, last_records[i]);
  }
  ::_exit(static_cast<int>(exit_status::refused));
}

void at_exit() {
  if (last_words != nullptr) crashed(no_signal);
}

}  // namespace

void set_processor_timer(double seconds) {
  itimerval t = {};
  t.it_value.tv_sec = static_cast<time_t>(seconds);
  t.it_value.tv_usec = static_cast<suseconds_t>((seconds - std::floor(seconds)) * 1e6);
  ::setitimer(ITIMER_PROF, &t, nullptr);
}

char const* meaning_of_signal(int signal) {
  for (crash const& c : crashes)
    if (c.signal == signal) return c.meaning;
  return "a signal that ends the process";
}

crash_report::crash_report(rejection r, bool json) {
  static int const registered = std::atexit(at_exit);
  (void)registered;
  for (std::size_t i = 0; i < std::size(crashes); ++i) {
    r.got = crashes[i].meaning;
    text_[i] = "\ntilewright: " + to_string(r) + "\n";
    if (json)
      record_[i] =
          json_error(r).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  last_words = text_.data();
  last_records = record_.data();
  // The stack of an emulated thread may be what has run out.
  static std::vector<char> stack(64 * 1024);
  stack_t own{};
  own.ss_sp = stack.data();
  own.ss_size = stack.size();
  ::sigaltstack(&own, nullptr);
  struct sigaction act {};
  act.sa_handler = crashed;
  act.sa_flags = SA_ONSTACK;
  for (std::size_t i = 0; i < std::size(crashes); ++i)
    if (crashes[i].signal != no_signal) ::sigaction(crashes[i].signal, &act, &before[i]);
}

crash_report::~crash_report() {
  for (std::size_t i = 0; i < std::size(crashes); ++i)
    if (crashes[i].signal != no_signal) ::sigaction(crashes[i].signal, &before[i], nullptr);
  last_words = last_records = nullptr;
}

}  // namespace tw::hazards
