// SPDX-License-Identifier: Apache-2.0
// accumulator_bits.cu  How the tensor cores of this GPU add, for each kind of wgmma: prints JSON
//                      with the bits kept, and compares random data with the emulator's bit-exact
//                      arithmetic. Exit 0 same bits, 1 other bits, 77 no Hopper GPU.
//
// accumulator_bits              facts and comparison
// accumulator_bits --dump FILE  also writes inputs and results of one wgmma of each kind
#include <cstring>

#include "tests/arch/kernels/bit_kinds.hpp"
#include "tests/gpu/gpu_machine.hpp"

namespace {

using namespace tw;
using namespace tw::test;

void dump(std::FILE* file, bit_kind<gpu_machine> const& kind) {
  for (kind_values const values : bit_check_values) {
    gpu_machine m;
    kind_data const x = kind.run(m, values, 1, 2);
    std::fprintf(file, "%s, %s\n", kind.name.c_str(), text_of(values));
    for (auto const* words : {&x.a, &x.b, &x.c, &x.d}) {
      for (std::uint32_t const w : *words) std::fprintf(file, "%x ", w);
      std::fprintf(file, "\n");
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  cudaDeviceProp device{};
  if (cudaGetDeviceProperties(&device, 0) != cudaSuccess || device.major != 9) return 77;
  std::FILE* file = nullptr;
  if (count == 3 && std::strcmp(arguments[1], "--dump") == 0) file = std::fopen(arguments[2], "w");
  int failed = 0;
  std::printf("{\"device\": \"%s\",\n \"kinds\": [\n", device.name);
  bool first = true;
  for (bit_kind<gpu_machine> const& kind : bit_kinds<gpu_machine>()) {
    try {
      gpu_machine m;
      if (kind.facts != nullptr) {
        std::printf("%s  %s", first ? "" : ",\n", kind.facts(m).c_str());
        first = false;
      }
      if (file != nullptr) dump(file, kind);
      std::string const wrong = kind.check(m, 16);
      if (!wrong.empty()) ++failed;
      std::fprintf(stderr, "%s %s: %s\n", wrong.empty() ? "ok  " : "FAIL", kind.name.c_str(),
                   wrong.c_str());
    } catch (std::exception const& e) {
      ++failed;
      std::fprintf(stderr, "FAIL %s: %s\n", kind.name.c_str(), e.what());
    }
  }
  std::printf("\n ],\n \"kinds_with_other_bits\": %d}\n", failed);
  if (file != nullptr) std::fclose(file);
  return failed == 0 ? 0 : 1;
}
