// SPDX-License-Identifier: Apache-2.0
// occupancy_command_test.cpp  tilewright occupancy: our kernels, tiles, cubins, refusals.
#include <cstring>
#include <map>

#include "tests/tools/command.hpp"
#include "tilewright/device/occupancy.hpp"
#include "tilewright/family/family.hpp"
#include "tools/command/occupancy/cubin.hpp"
#include "tools/command/occupancy/kernel_registers.hpp"

namespace {

using namespace tw_test;

command_result occupancy(std::vector<std::string> words) {
  words.insert(words.begin(), "occupancy");
  return run_command(words);
}
nlohmann::json launches(std::vector<std::string> words) {
  words.emplace_back("--json");
  auto const r = occupancy(words);
  EXPECT_EQ(r.status, 0) << r.err;
  return r.json()["launches"];
}
std::string code(std::vector<std::string> words) {
  words.emplace_back("--json");
  auto const r = occupancy(words);
  EXPECT_EQ(r.status, 2) << r.out;
  return r.json()["error"]["code"];
}

TEST(OccupancyCommand, TheTableOfACommonMistake) {
  auto const r = launches({"--regs", "64,96,128,192,256", "--threads", "128"});
  std::vector<int> ctas, warps;
  for (auto const& row : r) {
    ctas.push_back(row["ctas"]);
    warps.push_back(row["warps"]);
    EXPECT_DOUBLE_EQ(row["occupancy"].get<double>(), row["warps"].get<double>() / 64);
    EXPECT_EQ(row["limits"], nlohmann::json({"registers"}));
  }
  EXPECT_EQ(ctas, (std::vector{8, 5, 4, 2, 2}));
  EXPECT_EQ(warps, (std::vector{32, 20, 16, 8, 8}));
  auto const text = occupancy({"--regs", "64,96,128,192,256", "--threads", "128"}).out;
  EXPECT_NE(text.find("64     128         0     8     32    50.0 %  registers"), std::string::npos)
      << text;
}

TEST(OccupancyCommand, AKernelOfTheLibrary) {
  auto const r = launches({"--kernel", "sm90_bf16_bf16_tn_128x256x64_2x1_s4"})[0];
  EXPECT_EQ(r["registers"], 168);
  EXPECT_EQ(r["threads"], 384);
  EXPECT_EQ(r["ctas"], 1);
  EXPECT_EQ(r["warps"], 12);
  EXPECT_EQ(r["limits"], nlohmann::json({"registers", "shared memory"}));
  EXPECT_EQ(r["stage_bytes"], 49152);
  EXPECT_EQ(r["one_register_more"], 0);  // 169 become 176: 67,584 registers
  EXPECT_EQ(r["one_stage_more"], 0);
  EXPECT_EQ(r["accumulators"], 128);
  EXPECT_EQ(r["device_clusters"], 66);
  auto const text = occupancy({"--kernel", "sm90_bf16_bf16_tn_128x256x64_2x1_s4"}).out;
  EXPECT_NE(text.find("one stage more, 49,152 bytes       cannot be launched"), std::string::npos)
      << text;
}

/// tests/golden compares the list with what ptxas makes: it says which kernels are missing.
TEST(OccupancyCommand, AcceptedRegistersAreThoseOfOneKernelEach) {
  std::map<std::string, int> known;  // by family
  for (tw::gemm_family const* const family : tw::families()) {
    if (!family->resources(0)) continue;
    for (int kernel = 0; kernel < family->kernel_count(); ++kernel) {
      int found = 0;
      for (tw::kernel_registers const& k : tw::accepted_registers())
        if (k.family == family->id() && k.kernel == kernel) {
          ++found;
          auto resources = *family->resources(kernel);
          resources.cta.registers = k.registers;
          int const sm = tw::known_device(family->facts(kernel).device).compute_capability;
          EXPECT_GE(tw::occupancy_of(resources.cta, *tw::find_sm_limits(sm)).ctas, 1)
              << family->name(kernel);
        }
      EXPECT_LE(found, 1) << family->name(kernel);
      known[std::string(family->id())] += found;
    }
  }
  EXPECT_GE(known["sm90_gemm"], 200);
  EXPECT_GE(known["gemv"], 20);
  EXPECT_GE(known["sm100_gemm"], 20);
  EXPECT_GE(known["sm100_scaled"], 15);
  EXPECT_GE(known["sm80_gemm"], 10);
}

TEST(OccupancyCommand, ABlackwellKernelHasItsRegisters) {
  for (tw::gemm_family const* const family : tw::families())
    for (tw::kernel_registers const& k : tw::accepted_registers())
      if (k.family == family->id() && family->id().starts_with("sm100")) {
        auto const r = launches({"--kernel", std::string(family->name(k.kernel))})[0];
        EXPECT_EQ(r["registers"], k.registers) << family->name(k.kernel);
        EXPECT_GE(r["device_ctas"], 1) << family->name(k.kernel);
        break;
      }
}

TEST(OccupancyCommand, TheRegistersOfATile) {
  auto const tile = occupancy({"--tile", "64x256x16", "--json"}).json()["tile"];
  EXPECT_EQ(tile["by_warpgroup"]["total"], 148);
  EXPECT_EQ(tile["by_warp"]["total"], 196);
  EXPECT_EQ(tile["by_warpgroup"]["accumulators"], 128);
  auto const two = occupancy({"--tile", "128x256x64", "--warpgroups", "2", "--json"}).json();
  EXPECT_EQ(two["tile"]["by_warpgroup"]["accumulators"], 128);
  EXPECT_EQ(two["launches"].size(), 0U);
  auto const large = occupancy({"--tile", "256x256x64", "--warpgroups", "2"});
  EXPECT_NE(large.out.find("They do not fit"), std::string::npos) << large.out;
}

TEST(OccupancyCommand, ATileIsMultipliedByTheDevicesInstruction) {
  std::vector<std::string> words{"--tile", "128x256x64", "--device", "b200"};
  std::string const b200 = occupancy(words).out;
  EXPECT_NE(b200.find("tcgen05.mma"), std::string::npos) << b200;
  EXPECT_NE(b200.find("256 of\n512 columns"), std::string::npos) << b200;
  EXPECT_EQ(b200.find("wgmma"), std::string::npos) << b200;
  words.back() = "a100";
  std::string const a100 = occupancy(words).out;
  EXPECT_NE(a100.find("mma.sync takes A and B from registers"), std::string::npos) << a100;
  EXPECT_EQ(a100.find("wgmma"), std::string::npos) << a100;
  words.emplace_back("--json");
  EXPECT_TRUE(occupancy(words).json()["tile"]["tensor_columns"].is_null());
  words[3] = "b200";
  EXPECT_EQ(occupancy(words).json()["tile"]["tensor_columns"], 256);
}

TEST(OccupancyCommand, TensorMemoryLimits) {
  auto const of = [](std::string const& columns, std::string const& device) {
    return launches(
        {"--regs", "32", "--threads", "128", "--tensor-columns", columns, "--device", device})[0];
  };
  EXPECT_EQ(of("256", "b200")["ctas"], 2);
  EXPECT_EQ(of("256", "b200")["limits"][0], "tensor memory");
  EXPECT_EQ(of("512", "gb300")["ctas_by"]["tensor_memory"], 1);
  EXPECT_EQ(of("32", "h200")["ctas"], 0);
  EXPECT_EQ(
      code({"--regs", "32", "--threads", "128", "--tensor-columns", "96", "--device", "b200"}),
      "TW0650");
}

TEST(OccupancyCommand, DevicesDiffer) {
  auto const ctas = [](std::string const& device, std::string const& smem) {
    return launches(
               {"--regs", "32", "--threads", "128", "--smem", smem, "--device", device})[0]["ctas"]
        .get<int>();
  };
  EXPECT_EQ(ctas("a100", "80000"), 2);  // 164 KiB
  EXPECT_EQ(ctas("h100", "75000"), 3);  // 228 KiB
  EXPECT_EQ(ctas("b200", "75000"), 3);
  EXPECT_EQ(ctas("sm_89", "98304"), 1);
  EXPECT_EQ(ctas("sm_89", "102400"), 0);
}

TEST(OccupancyCommand, Refusals) {
  EXPECT_EQ(code({}), "TW0650");
  EXPECT_EQ(code({"--regs", "64"}), "TW0650");
  EXPECT_EQ(code({"--threads", "64"}), "TW0650");
  EXPECT_EQ(code({"--tile", "64x256"}), "TW0650");
  EXPECT_EQ(code({"--tile", "96x256x16"}), "TW0650");
  EXPECT_EQ(code({"--tile", "64x256x16x"}), "TW0650");
  EXPECT_EQ(code({"--regs", "64", "--threads", "64", "--cluster", "2", "--device", "a100"}),
            "TW0650");
  EXPECT_EQ(code({"--regs", "64", "--threads", "64", "--device", "h300"}), "TW0434");
  EXPECT_EQ(code({"--kernel", "sm90_none"}), "TW0652");
  EXPECT_EQ(code({"--regs", "257", "--threads", "64"}), "TW0615");
  EXPECT_EQ(code({"--regs", "64", "--threads", "1025"}), "TW0615");
  EXPECT_EQ(code({"--cubin", "no-such-file.cubin", "--threads", "64"}), "TW0601");
  EXPECT_EQ(code({"--cubin", TW_COMMAND, "--threads", "64"}), "TW0651");
}

/// A cubin with one kernel, by hand, as ptxas 13.0 lays it out: 10 registers, bounds of 256
/// threads, 4096 bytes of shared memory beside 1024 that are reserved, clusters of 4, 6 barriers.
std::string cubin_of_one_kernel() {
  std::string data(64, '\0');
  auto const put = [&data](std::size_t at, auto value) {
    if (data.size() < at + sizeof value) data.resize(at + sizeof value);
    std::memcpy(&data[at], &value, sizeof value);
  };
  struct section {
    std::string name, content;
    std::uint32_t type, link;
    std::uint64_t size;
  };
  auto const words = [](std::vector<std::uint32_t> const& list) {
    std::string s;
    for (std::uint32_t w : list) s.append(reinterpret_cast<char const*>(&w), 4);
    return s;
  };
  std::string const symbols = std::string(24, '\0') + words({1, 0, 0, 0, 0, 0});
  std::vector<section> sections = {
      {"", "", 0, 0, 0},
      {".shstrtab", "", 3, 0, 0},
      {".strtab", std::string("\0_Z4axpyPf\0", 11), 3, 0, 0},
      {".symtab", symbols, 2, 2, 0},
      {".nv.info", words({0x00082F04, 1, 10}), 0x70000000, 3, 0},
      {".nv.info._Z4axpyPf", words({0x000C0504, 256, 1, 1, 0x000C3D04, 4, 1, 1, 0x00064C02}),
       0x70000000, 3, 0},
      {".text._Z4axpyPf", std::string(128, '\0'), 1, 3, 0},
      {".nv.shared._Z4axpyPf", "", 8, 0, 5120},
      {".nv.shared.reserved.0", "", 8, 0, 0}};
  std::vector<std::uint32_t> names;
  for (section const& s : sections) {
    names.push_back(static_cast<std::uint32_t>(sections[1].content.size()));
    sections[1].content += s.name + '\0';
  }
  std::vector<std::uint64_t> offsets;
  for (section const& s : sections) {
    offsets.push_back(data.size());
    data += s.content;
  }
  data.resize((data.size() + 7) / 8 * 8);
  std::uint64_t const table = data.size();
  for (std::size_t i = 0; i < sections.size(); ++i) {
    std::size_t const at = table + 64 * i;
    section const& s = sections[i];
    data.resize(at + 64);
    put(at, names[i]), put(at + 4, s.type), put(at + 24, offsets[i]);
    put(at + 32, s.size != 0 ? s.size : static_cast<std::uint64_t>(s.content.size()));
    put(at + 40, s.link);
  }
  std::memcpy(data.data(), "\177ELF\2\1\1\x41\x08", 9);
  put(18, std::uint16_t{190}), put(40, table), put(48, std::uint32_t{0x06005A04});
  put(58, std::uint16_t{64}), put(60, static_cast<std::uint16_t>(sections.size()));
  put(62, std::uint16_t{1});
  return data;
}

TEST(OccupancyCommand, ACubin) {
  scratch const folder;
  std::string const path = folder / "one.cubin", data = cubin_of_one_kernel();
  write_file(path, data);
  auto const r = launches({"--cubin", path})[0];
  EXPECT_EQ(r["kernel"], "_Z4axpyPf");
  EXPECT_EQ(r["registers"], 10);
  EXPECT_EQ(r["threads"], 256);
  EXPECT_EQ(r["smem_bytes"], 4096);
  EXPECT_EQ(r["cluster"], 4);
  EXPECT_EQ(r["barriers"], 6);
  EXPECT_EQ(r["ctas"], 8);
  auto const dynamic = launches({"--cubin", path, "--smem", "65536", "--threads", "512"})[0];
  EXPECT_EQ(dynamic["smem_bytes"], 4096 + 65536);
  EXPECT_EQ(dynamic["threads"], 512);
  EXPECT_EQ(code({"--cubin", path, "--device", "a100"}), "TW0650");
  EXPECT_EQ(code({"--cubin", path, "--function", "axpy"}), "TW0652");
  for (std::size_t size = 1; size < data.size(); size += 29) {  // cut off anywhere
    write_file(path, data.substr(0, size));
    EXPECT_THROW(tw::read_cubin(path), tw::rejected) << size;
  }
  write_file(path, data.substr(0, data.size() - 1));
  EXPECT_EQ(code({"--cubin", path}), "TW0651");
}

}  // namespace
