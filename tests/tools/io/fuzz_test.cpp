// SPDX-License-Identifier: Apache-2.0
// fuzz_test.cpp  Damaged files: always a rejection with a code, or a view that lies in the file.
#include <cstring>
#include <random>

#include "tests/tools/support.hpp"
#include "tools/io/npy.hpp"
#include "tools/io/safetensors.hpp"

namespace {

using namespace tw;
using namespace tw_test;

using generator = std::mt19937;

std::size_t below(generator& g, std::size_t n) {
  return std::uniform_int_distribution<std::size_t>(0, n - 1)(g);
}

/// One edit of the kind that transfers, disks and editors make, biased to the header.
void damage(std::string& file, generator& g) {
  if (file.empty()) return;
  std::size_t const at =
      below(g, below(g, 4) == 0 ? file.size() : std::min<std::size_t>(file.size(), 140));
  switch (below(g, 7)) {
    case 0: file[at] = static_cast<char>(below(g, 256)); break;
    case 1: file[at] = static_cast<char>(file[at] ^ (1 << below(g, 8))); break;
    case 2: file.erase(at, 1 + below(g, 8)); break;
    case 3: file.insert(at, file.substr(below(g, file.size()), 1 + below(g, 40))); break;
    case 4: file.resize(at); break;
    case 5: file.insert(at, 1, "0123456789{}[]()',:\"-.eTF \n"[below(g, 27)]); break;
    default:
      static char const* const numbers[] = {
          "0", "-1", "4294967296", "9223372036854775807", "18446744073709551615", "1e308"};
      file.insert(at, numbers[below(g, 6)]);
  }
}

template <class Read>
void fuzz(std::vector<std::string> const& seeds, Read const& read) {
  generator g(20261120);
  int refused = 0, accepted = 0;
  for (int round = 0; round < 10000; ++round) {
    std::string file = seeds[below(g, seeds.size())];
    for (std::size_t edits = 1 + below(g, 4); edits > 0; --edits) damage(file, g);
    // A copy without spare room: the address sanitizer sees a read one byte too far.
    std::vector<char> const exact(file.begin(), file.end());
    auto const content = std::as_bytes(std::span(exact));
    try {
      matrix_view const m = read(content);
      ++accepted;
      ASSERT_GE(m.rows, 1);
      ASSERT_GE(m.cols, 1);
      ASSERT_GE(m.data, content.data()) << "round " << round;
      ASSERT_LE(m.data + m.size().count, content.data() + content.size()) << "round " << round;
    } catch (rejected const& r) {
      ++refused;
      ASSERT_EQ(r.why().code.substr(0, 4), "TW06") << "round " << round << ": " << r.what();
      ASSERT_FALSE(r.why().got.empty() || r.why().need.empty()) << r.what();
    }
  }
  EXPECT_GT(refused, 5000);  // the damage does reach the header
  EXPECT_GT(accepted, 30);
}

/// Shapes that operands and scales of checkpoints have, any of them.
accepted_shapes of_checkpoints(generator& g) {
  return {.stacks = below(g, 2) == 0,
          .vectors = below(g, 2) == 0,
          .of_scales = below(g, 2) == 0,
          .of_operand = below(g, 4) == 0,
          .packed_e2m1 = below(g, 2) == 0};
}

TEST(fuzz, damaged_npy_files_never_mislead) {
  std::vector<std::string> seeds;
  for (char const* name : {"f16_c.npy", "f32_f.npy", "bf16_c.npy", "version2.npy", "struct.npy",
                           "e4m3_c.npy", "e5m2_f.npy", "s32_c.npy"}) {
    seeds.push_back(read_file(data_file(name)));
  }
  fuzz(seeds, [](auto content) { return view_npy(content, "f"); });
  generator shapes(2);
  seeds = {read_file(data_file("u8_c.npy")), read_file(data_file("u8_f.npy")),
           npy_header(elem::u8, {2, 3, 16}) + std::string(96, '\1'),
           npy_header(elem::f32, {2, 1, 3, 1}) + std::string(24, '\1')};
  fuzz(seeds, [&](auto content) { return view_npy(content, "f", of_checkpoints(shapes)); });
}

TEST(fuzz, damaged_safetensors_files_never_mislead) {
  std::vector<std::string> const seeds{read_file(data_file("tensors.safetensors")),
                                       read_file(data_file("bf16.safetensors")),
                                       read_file(data_file("small.safetensors")),
                                       safetensors_header("f32", elem::f32, 1, 1) + "1234"};
  generator names(1);
  fuzz(seeds, [&](auto content) {
    static char const* const tensors[] = {"f32", "f16", "bf16", "e4m3", "s8", ""};
    return view_safetensors(content, "f", tensors[below(names, 6)]);
  });
  std::vector<named_tensor> const all{{"s", elem::f32, {2, 1, 3, 1}},
                                      {"w_blocks", elem::u8, {3, 4, 2, 16}},
                                      {"f", elem::e2m1, {3, 4, 2}},
                                      {"qweight", elem::s32, {2, 2}}};
  fuzz({safetensors_header(all) + std::string(24 + 384 + 12 + 16, '\1')}, [&](auto content) {
    static char const* const tensors[] = {"s",    "w_blocks", "w_blocks[2]",
                                          "f[1]", "s[0]",     "qweight"};
    return view_safetensors(content, "f", tensors[below(names, 6)], of_checkpoints(names));
  });
}

}  // namespace
