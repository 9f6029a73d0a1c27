// SPDX-License-Identifier: Apache-2.0
// reference_blas.hpp  The system's BLAS for the float64 GEMMs of --check, loaded when one is
// needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tw {

/// The dgemm of the BLAS that is installed. Loading it may start threads and reserve memory for
/// each (OpenBLAS does), so nothing but --check loads it, and under a limit of address space
/// (ulimit -v) it gets a single thread.
class reference_blas {
 public:
  /// The first of these libraries that has a dgemm. Throws as get().
  explicit reference_blas(std::vector<char const*> const& libraries);

  /// Loads the system's once per process. Throws `rejected`: TW0619 without a BLAS, TW0613 where
  /// the limit of address space has no room for one.
  static reference_blas const& get();

  /// C += A B: A is m x k, B is k x n, C is m x n, all row-major without gaps.
  void add_gemm(std::int64_t m, std::int64_t n, std::int64_t k, double const* a, double const* b,
                double* c) const;

 private:
  /// The lengths of both character arguments come last, as Fortran compilers pass them.
  using dgemm = void(char const*, char const*, int const*, int const*, int const*, double const*,
                     double const*, int const*, double const*, int const*, double const*, double*,
                     int const*, std::size_t, std::size_t);
  dgemm* dgemm_ = nullptr;
};

}  // namespace tw
