// SPDX-License-Identifier: Apache-2.0
// run_guard.cpp  Signals of a running kernel.
#include "emu/run/run_guard.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <exception>
#include <iterator>
#include <mutex>
#include <string_view>

#include "base/fork_safe.hpp"
#include "emu/machine/machine.hpp"
#include "emu/report/words.hpp"

namespace tw::emu {

namespace {

constexpr int crash_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int tick_signal = SIGVTALRM;
constexpr std::size_t handler_stack_bytes = 256 * 1024;           // libgcc's unwinder needs room
constexpr std::size_t exception_state_bytes = 2 * sizeof(void*);  // __cxa_eh_globals

thread_local run_guard* active = nullptr;

/// The handlers are the process's: those before come back with the last guard.
struct installation {
  fork_safe_mutex mutex;
  int guards = 0, catching = 0;
  struct sigaction crash_before[std::size(crash_signals)];
  struct sigaction tick_before;
};
installation& installed() {
  static installation i;
  return i;
}

void install(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction* before) {
  struct sigaction act = {};
  act.sa_sigaction = handler;
  // The handler does not return if it leaves the fiber: the signal must not stay blocked.
  act.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
  ::sigaction(signal, &act, before);
}

/// The C and C++ libraries may have debug information, too.
bool is_of_system(void const* address) {
  Dl_info module;
  if (::dladdr(address, &module) == 0 || module.dli_fname == nullptr) return false;
  std::string_view name = module.dli_fname;
  name.remove_prefix(name.rfind('/') + 1);
  for (std::string_view const system : {"libc.", "libstdc++.", "libgcc_s.", "libpthread.", "libm."})
    if (name.starts_with(system)) return true;
  return false;
}

bool is_of_kernel(site s) {
  if (is_of_system(s.file)) return false;  // an address of machine code
  std::string_view const file = place_of(s).file;
  return place_of(s).line != 0 && file.find("src/emu/") == file.npos;
}

}  // namespace

run_guard::run_guard(machine& m, bool catch_crashes, double time_limit_seconds)
    : m_(m),
      limit_(time_limit_seconds),
      catch_crashes_(catch_crashes),
      outer_(active) {
  if (!catch_crashes_ && limit_ <= 0) return;
  void* warm[2];
  ::backtrace(warm, 2);  // loads libgcc now, not in a handler
  stack_ = std::make_unique_for_overwrite<std::byte[]>(handler_stack_bytes);
  stack_t own = {};
  own.ss_sp = stack_.get();
  own.ss_size = handler_stack_bytes;
  ::sigaltstack(&own, &stack_before_);
  exceptions_before_ = std::make_unique<std::byte[]>(exception_state_bytes);
  std::memcpy(exceptions_before_.get(), abi::__cxa_get_globals(), exception_state_bytes);
  active = this;
  installation& i = installed();
  std::scoped_lock const lock(i.mutex);
  if (catch_crashes_ && i.catching++ == 0)
    for (std::size_t s = 0; s < std::size(crash_signals); ++s)
      install(crash_signals[s], &run_guard::on_signal, &i.crash_before[s]);
  if (i.guards++ == 0) install(tick_signal, &run_guard::on_signal, &i.tick_before);
  // libstdc++'s own handler would print; what() is in the report.
  terminate_before_ = std::set_terminate([] { std::abort(); });
  if (limit_ <= 0) return;
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = tick_signal;
  event._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
  if (::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) != 0) return;
  has_timer_ = true;
  itimerspec when = {};
  when.it_value.tv_sec = static_cast<time_t>(limit_);
  when.it_value.tv_nsec =
      static_cast<long>((limit_ - static_cast<double>(when.it_value.tv_sec)) * 1e9) + 1;
  when.it_interval.tv_nsec = 100'000'000;  // until the tick falls into the kernel's own code
  ::timer_settime(timer_, 0, &when, nullptr);
}

run_guard::~run_guard() {
  if (!catch_crashes_ && limit_ <= 0) return;
  if (has_timer_) ::timer_delete(timer_);
  active = outer_;
  std::set_terminate(terminate_before_);
  installation& i = installed();
  std::scoped_lock const lock(i.mutex);
  if (catch_crashes_ && --i.catching == 0)
    for (std::size_t s = 0; s < std::size(crash_signals); ++s)
      ::sigaction(crash_signals[s], &i.crash_before[s], nullptr);
  if (--i.guards == 0) ::sigaction(tick_signal, &i.tick_before, nullptr);
  ::sigaltstack(&stack_before_, nullptr);
  if (signal_ != 0)  // exceptions in flight were left with their fiber
    std::memcpy(abi::__cxa_get_globals(), exceptions_before_.get(), exception_state_bytes);
}

void run_guard::on_signal(int signal, siginfo_t* info, void* context) {
  run_guard* const g = active;
  bool const tick = signal == tick_signal;
  if (g != nullptr && g->m_.sched.running() != nullptr) {
    // The emulator's own data are being changed: the next tick.
    if (tick && !in_kernel && !g->overflowing_) return;
    if (tick || g->catch_crashes_) g->seen(signal, info->si_addr, context);
  }
  if (tick) return;
  // Not a kernel's: as if this handler did not exist. The instruction runs again and is not caught.
  for (std::size_t s = 0; s < std::size(crash_signals); ++s)
    if (crash_signals[s] == signal) ::sigaction(signal, &installed().crash_before[s], nullptr);
  if (signal == SIGABRT) ::raise(signal);
}

void run_guard::seen(int signal, void* address, void*) {
  signal_ = signal;
  address_ = address;
  who_ = m_.sched.running();
  frame_count_ = ::backtrace(frames_, max_frames);
  if (signal == SIGABRT && std::current_exception()) {
    try {
      std::rethrow_exception(std::current_exception());
    } catch (std::exception const& e) {
      std::strncpy(exception_, e.what(), sizeof(exception_) - 1);
    } catch (...) {
      std::strncpy(exception_, "a value that is no std::exception", sizeof(exception_) - 1);
    }
  }
  in_kernel = false;
  m_.sched.leave_for_good();
}

std::string run_guard::meaning() const {
  if (*exception_ != 0) return fmt::format("throws an exception: {}", exception_);
  if (exit_status_)
    return fmt::format("ends the process with status {}, as exit() does", *exit_status_);
  switch (signal_) {
    case SIGSEGV:
      return fmt::format("accesses address {}, which is not mapped", fmt::ptr(address_));
    case SIGBUS: return "accesses an address that no memory has";
    case SIGFPE: return "divides an integer by zero";
    case SIGILL: return "executes an instruction that this CPU does not have";
    default: return "calls abort(), as a failed assertion does";
  }
}

std::optional<diagnosis> run_guard::incident() const {
  if (signal_ == 0) return std::nullopt;
  diagnosis d;
  // A signal's own frame is followed by the address of the instruction, not of the next one.
  for (int i = 0; i < frame_count_ && d.where.line == 0; ++i)
    for (std::ptrdiff_t const after : {1, 0}) {
      site const s = site_of(static_cast<char const*>(frames_[i]) + after);
      if (is_of_kernel(s) && d.where.line == 0) d.where = s;
    }
  d.cta = who_->cta;
  d.thread = who_->id;
  d.role = who_->role;
  std::string const now = fmt::format("{} by {}", text_of(d.where), name_of(*who_));
  cluster_state const& c = *who_->block->cluster;
  if (overflowing_ || (signal_ == SIGSEGV && c.stack_store.is_guard(address_))) {
    d.code = "E0060";
    d.kind = "stack-overflow";
    d.text = stack_overflow_text(now);
  } else if (signal_ == tick_signal && !exit_status_) {
    d.code = "E0058";
    d.kind = "time-limit";
    d.text = report_text({
        .what = fmt::format("The run has taken more than {:g} s of processor time.", limit_),
        .now = "running at " + now,
        .cause = "a loop that does not end, or more work than the limit has time for",
        .remedy = "check the loop's condition; options::time_limit_seconds for a longer run",
    });
  } else {
    d.code = "E0059";
    d.kind = "kernel-crash";
    d.text = report_text({
        .what = fmt::format("The kernel {}.", meaning()),
        .now = now,
        .cause = "on a GPU the launch would end with an error, or with wrong results",
        .remedy = "the line above; the same run in a debugger, if it does not suffice",
    });
  }
  return d;
}

void run_guard::leave_exiting(int status) {
  if (active == nullptr) return;
  active->exit_status_ = status;
  ::raise(tick_signal);
}

void run_guard::leave_overflowing() {
  if (active == nullptr) return;
  active->overflowing_ = true;
  ::raise(tick_signal);
}

}  // namespace tw::emu
