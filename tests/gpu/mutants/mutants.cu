// SPDX-License-Identifier: Apache-2.0
// mutants.cu  The mutants on a GPU: how often plain launches show them, and what does
//             compute-sanitizer say? on_a_gpu.py builds it and runs it.
//
//     gpu_mutants list                          one JSON object for each row
//     gpu_mutants run LAUNCHES POISON ROW...    runs rows by number, one JSON object each; poison
//                                               1: shared memory is filled with NaNs before each
// It ends at the first row that CUDA reports an error for: nothing can be launched after it.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/gpu/mutants/card.hpp"

namespace tw::mutants {
namespace {

std::vector<card_row> all_rows() {
  std::vector<card_row> all;
  for (auto const& list : {gemm_rows(), ladder_rows(), global_rows(), plain_and_cluster_rows()})
    all.insert(all.end(), list.begin(), list.end());
  return all;
}

void list_rows(std::vector<card_row> const& rows) {
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::printf("{\"row\": %zu, \"kernel\": \"%s\", \"name\": \"%s\", \"may_not_end\": %s}\n", i,
                std::string(rows[i].kernel).c_str(), std::string(rows[i].name).c_str(),
                rows[i].may_not_end ? "true" : "false");
}

/// False after an error of CUDA.
bool run_row(std::vector<card_row> const& rows, std::size_t i, int launches, bool poison) {
  tally const t = rows.at(i).run(launches, poison);
  std::printf(
      "{\"row\": %zu, \"launches\": %d, \"wrong_launches\": %d, \"wrong\": %lld, "
      "\"elements\": %lld, \"error\": \"%s\"}\n",
      i, t.launches, t.wrong_launches, t.wrong, t.elements, t.error.c_str());
  std::fflush(stdout);
  return t.error.empty();
}

int main_of(int argc, char** argv) {
  std::vector<card_row> const rows = all_rows();
  std::string const verb = argc > 1 ? argv[1] : "";
  if (verb == "list") {
    list_rows(rows);
    return 0;
  }
  if (verb != "run" || argc < 5) {
    std::fprintf(stderr, "gpu_mutants list | run LAUNCHES POISON ROW...\n");
    return 2;
  }
  if (cudaError_t const e = cudaFree(nullptr); e != cudaSuccess) {
    std::fprintf(stderr, "no GPU: %s\n", cudaGetErrorName(e));
    return 77;
  }
  std::printf("{\"ready\": true}\n");  // what takes long from here on is a kernel
  std::fflush(stdout);
  for (int i = 4; i < argc; ++i)
    if (!run_row(rows, std::strtoul(argv[i], nullptr, 10), std::atoi(argv[2]),
                 std::atoi(argv[3]) != 0))
      return 1;
  return 0;
}

struct poison {
  static constexpr int threads = 1024, cluster = 1, smem_bytes = 227 * 1024;
  struct params {
    std::uint32_t word;
  };
  struct smem {
    std::uint32_t words[smem_bytes / 4];
  };
  TW_DEVICE static void run(params const& p) {
    smem& s = dynamic_smem<smem>();
    for (int i = thread_id(); i < smem_bytes / 4; i += threads) s.words[i] = p.word;
  }
};

}  // namespace

void poison_shared_memory() {
  static int multiprocessors = 0;
  if (multiprocessors == 0)
    host::must(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0),
               "cudaDeviceGetAttribute");
  host::must(launch<poison>(multiprocessors, {0x7FFF7FFFU}, nullptr), "poison");
}

}  // namespace tw::mutants

int main(int argc, char** argv) { return tw::mutants::main_of(argc, argv); }
