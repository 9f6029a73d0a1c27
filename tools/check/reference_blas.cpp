// SPDX-License-Identifier: Apache-2.0
// reference_blas.cpp  dlopen, and the one function of the Fortran interface that is used.
#include "tools/check/reference_blas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>

#include "tools/io/refuse.hpp"

namespace tw {
namespace {

// OpenBLAS reserves a buffer of up to 128 MiB for a thread and tries for ever to get one.
constexpr std::int64_t room_bytes = std::int64_t{256} << 20;

/// Address space that the process may still use; nothing without a limit.
std::optional<std::int64_t> free_address_space_bytes() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return static_cast<std::int64_t>(limit.rlim_cur) - pages * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

reference_blas const& reference_blas::get() {
  static reference_blas const blas({"libblas.so.3", "libopenblas.so.0"});
  return blas;
}

reference_blas::reference_blas(std::vector<char const*> const& libraries) {
  if (auto const left = free_address_space_bytes()) {
    if (*left < room_bytes)
      refuse("TW0613", "address space for the BLAS of --check",
             fmt::format("{} MiB left under the limit", *left >> 20),
             fmt::format("{} MiB", room_bytes >> 20), "raise `ulimit -v`, or omit --check");
    for (char const* threads : {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"})
      ::setenv(threads, "1", 1);
  }
  for (char const* const name : libraries)
    if (void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL))
      if (void* const function = ::dlsym(library, "dgemm_")) {
        dgemm_ = reinterpret_cast<dgemm*>(function);
        return;
      }
  refuse("TW0619", "BLAS for --check", "no library that could be loaded",
         fmt::format("{}", fmt::join(libraries, " or ")),
         "install one (Debian: libopenblas0), or omit --check");
}

void reference_blas::add_gemm(std::int64_t m, std::int64_t n, std::int64_t k, double const* a,
                              double const* b, double* c) const {
  // Row-major C = A B is column-major C^T = B^T A^T.
  int const rows = static_cast<int>(n), cols = static_cast<int>(m), depth = static_cast<int>(k);
  double const one = 1;
  dgemm_("N", "N", &rows, &cols, &depth, &one, b, &rows, a, &depth, &one, c, &rows, 1, 1);
}

}  // namespace tw
