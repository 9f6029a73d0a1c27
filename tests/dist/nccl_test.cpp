// SPDX-License-Identifier: Apache-2.0
// nccl_test.cpp  NCCL's functions and arenas with a libnccl of the tests: addresses of peers for
//                each version, each function failing in turn, libraries that are old or absent.
#include "dist/nccl.hpp"

#include <dlfcn.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "dist/membership.hpp"
#include "dist/nccl_collectives.hpp"
#include "tests/dist/fake_nccl/fake_nccl.hpp"
#include "tests/dist/ranks.hpp"
#include "tilewright/base/check.hpp"

namespace tw::dist {
namespace {

constexpr char const* fake_file = TW_BINARY_DIR "/plugins/libfake_nccl.so";

/// The state of the library, as at first.
fake_nccl_state& fresh() {
  static void* const library = dlopen(fake_file, RTLD_NOW | RTLD_LOCAL);
  static auto* const state =
      reinterpret_cast<fake_nccl_state* (*)()>(dlsym(library, "fake_nccl"))();
  *state = {};
  return *state;
}

/// Host memory that stands for a device's.
device_memory memory_of(bool windows_are_device_memory) {
  auto const kind = windows_are_device_memory ? memory_kind::device : memory_kind::host;
  return {[=](void const*) {
            return memory_place{kind, 0};
          },
          [](void* to, std::int64_t bytes) { std::memset(to, 0, static_cast<std::size_t>(bytes)); },
          [](void* to, void const* from, std::int64_t bytes) {
            std::memcpy(to, from, static_cast<std::size_t>(bytes));
          }};
}

/// The arena or the refusal of a rank's thread.
struct outcome_of_rank {
  std::unique_ptr<nccl_arena> arena;
  rejection why;
};
std::vector<outcome_of_rank> make_arenas(fake_world& world, std::vector<group_options> const& of,
                                         bool windows_are_device_memory = true) {
  std::vector<outcome_of_rank> list(of.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < of.size(); ++r)
    threads.emplace_back([&, r] {
      try {
        list[r].arena = std::make_unique<nccl_arena>(find_nccl(fake_file), &world.comms[r], of[r],
                                                     memory_of(windows_are_device_memory));
      } catch (rejected const& e) {
        list[r].why = e.why();
      }
    });
  for (std::thread& t : threads) t.join();
  return list;
}

std::vector<group_options> equal_options(std::size_t ranks) {
  return std::vector<group_options>(ranks, {.gathered_bytes = 1 << 20});
}

TEST(Nccl, EachRankWritesTheArenasOfAllRanks) {
  for (int const version : {22803, 22809, 22907, 23206}) {
    fresh().version = version;
    fake_world world(3);
    auto const ranks = make_arenas(world, equal_options(3));
    for (std::size_t r = 0; r < 3; ++r) {
      ASSERT_EQ(to_string(ranks[r].why), to_string(rejection{})) << version;
      for (std::size_t peer = 0; peer < 3; ++peer)
        static_cast<gpu_arena_head*>(ranks[r].arena->addresses()[peer])->flags[0][r].value =
            10 * r + peer;
    }
    for (std::size_t r = 0; r < 3; ++r) {
      auto const& own = *static_cast<gpu_arena_head*>(ranks[r].arena->addresses()[r]);
      for (std::size_t peer = 0; peer < 3; ++peer)
        EXPECT_EQ(own.flags[0][peer].value, 10 * peer + r) << version;
    }
  }
}

TEST(Nccl, AFunctionThatFailsIsNamedAndNothingIsLeft) {
  struct failing {
    char const* function;
    int version;
  };
  for (failing const f : {failing{"ncclGetVersion", 22809}, failing{"ncclCommCount", 22809},
                          failing{"ncclCommUserRank", 22809}, failing{"ncclCommCuDevice", 22809},
                          failing{"ncclMemAlloc", 22809}, failing{"ncclCommWindowRegister", 22809},
                          failing{"ncclGetPeerDevicePointer", 22907}}) {
    fake_nccl_state& state = fresh();
    state.version = f.version, state.failing = f.function;
    fake_world world(2);
    for (outcome_of_rank const& r : make_arenas(world, equal_options(2))) {
      EXPECT_EQ(r.why.code, "TW0908") << f.function;
      EXPECT_NE(to_string(r.why).find(f.function), std::string::npos) << to_string(r.why);
    }
    EXPECT_EQ(state.live_allocations, 0) << f.function;
    EXPECT_EQ(state.live_windows, 0) << f.function;
  }
}

TEST(Nccl, TheLastWordsOfNcclAreReported) {
  fresh().failing = "ncclMemAlloc";
  fake_world world(1);
  std::string const text = to_string(make_arenas(world, equal_options(1))[0].why);
  EXPECT_NE(text.find("internal error (ncclResult_t 3; the last words)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("NCCL 2.28.9"), std::string::npos) << text;
}

TEST(Nccl, RanksWithoutAddressesOfEachOtherHaveTheirOwnAlone) {
  for (int const version : {22809, 22907}) {
    fake_nccl_state& state = fresh();
    state.version = version, state.far_ranks = true;
    fake_world world(2);
    // 2.28 without symmetric memory gives a window in host memory.
    auto const ranks = make_arenas(world, equal_options(2), false);
    for (std::size_t r = 0; r < 2; ++r) {
      ASSERT_NE(ranks[r].arena, nullptr) << to_string(ranks[r].why);
      EXPECT_NE(ranks[r].arena->addresses()[r], nullptr);
      EXPECT_EQ(ranks[r].arena->addresses()[1 - r], nullptr) << version;
    }
  }
}

/// Equal parts take one collective; unequal ones a call for each part that is not empty.
TEST(Nccl, CollectivesOfUnequalPartsAreOneGroupOfCalls) {
  fake_nccl_state& state = fresh();
  fake_world world(1);
  auto const ranks = make_arenas(world, equal_options(1));
  ASSERT_NE(ranks[0].arena, nullptr);
  cudaStream_t const stream = nullptr;
  nccl_collectives collectives(*ranks[0].arena, &stream);
  std::byte memory[64] = {};
  auto const calls_of = [&](std::vector<range> const& parts, bool gathers) {
    state.calls.clear();
    if (gathers)
      collectives.gather(memory, memory, parts);
    else
      collectives.reduce_scatter(memory, memory, parts, elem::bf16);
    return state.calls;
  };
  EXPECT_EQ(calls_of({{0, 8}, {8, 8}}, true), "ncclAllGather ");
  EXPECT_EQ(calls_of({{0, 8}, {8, 8}}, false), "ncclReduceScatter ");
  EXPECT_EQ(calls_of({{0, 8}, {8, 0}, {8, 4}}, true),
            "ncclGroupStart ncclBroadcast ncclBroadcast ncclGroupEnd ");
  EXPECT_EQ(calls_of({{0, 8}, {8, 0}, {8, 4}}, false),
            "ncclGroupStart ncclReduce ncclReduce ncclGroupEnd ");
}

/// Each collective fails in turn; a group of calls is closed.
TEST(Nccl, ACollectiveThatFailsIsNamed) {
  fake_nccl_state& state = fresh();
  fake_world world(1);
  auto const ranks = make_arenas(world, equal_options(1));
  ASSERT_NE(ranks[0].arena, nullptr);
  cudaStream_t const stream = nullptr;
  nccl_collectives of(*ranks[0].arena, &stream);
  std::byte memory[64] = {};
  std::vector<range> const even = {{0, 8}, {8, 8}}, uneven = {{0, 8}, {8, 4}};
  auto const gather = [&](auto const& parts) { of.gather(memory, memory, parts); };
  auto const scatter = [&](auto const& parts) {
    of.reduce_scatter(memory, memory, parts, elem::bf16);
  };
  struct failing {
    char const* function;
    std::function<void()> call;
  };
  for (failing const& f :
       {failing{"ncclAllGather", [&] { gather(even); }},
        failing{"ncclBroadcast", [&] { gather(uneven); }},
        failing{"ncclGroupStart", [&] { gather(uneven); }},
        failing{"ncclGroupEnd", [&] { gather(uneven); }},
        failing{"ncclReduceScatter", [&] { scatter(even); }},
        failing{"ncclReduce", [&] { scatter(uneven); }},
        failing{"ncclAllReduce", [&] { of.all_reduce(memory, memory, 8, elem::bf16); }}}) {
    state.failing = f.function, state.calls.clear();
    try {
      f.call();
      ADD_FAILURE() << f.function;
    } catch (rejected const& e) {
      EXPECT_EQ(e.why().code, "TW0908");
      EXPECT_NE(to_string(e.why()).find(f.function), std::string::npos) << e.what();
      bool const grouped =
          state.calls.starts_with("ncclGroupStart ") && state.failing != "ncclGroupStart";
      EXPECT_EQ(state.calls.ends_with("ncclGroupEnd "), grouped) << state.calls;
    }
  }
}

/// Which of two loaded libraries made a communicator cannot be known: both are named.
TEST(Nccl, TwoLoadedLibrariesAreRefusedUnlessOneIsNamed) {
  std::string const folder = testing::TempDir();
  std::vector<std::string> files;
  std::vector<void*> loaded;
  for (char const* const name : {"libnccl.so.2", "libnccl.so.2.28"}) {
    files.push_back(folder + name);
    std::filesystem::copy_file(fake_file, files.back(),
                               std::filesystem::copy_options::overwrite_existing);
    loaded.push_back(dlopen(files.back().c_str(), RTLD_NOW | RTLD_LOCAL));
    ASSERT_NE(loaded.back(), nullptr) << dlerror();
  }
  try {
    find_nccl("");
    ADD_FAILURE();
  } catch (rejected const& e) {
    EXPECT_EQ(e.why().code, "TW0908");
    for (std::string const& file : files)
      EXPECT_NE(e.why().got.find(file), std::string::npos) << e.why().got;
  }
  EXPECT_EQ(find_nccl(files[1]).file, files[1]);
  for (void* const library : loaded) dlclose(library);
  for (std::string const& file : files) std::filesystem::remove(file);
}

TEST(Nccl, AWindowOfAnotherLayoutIsFound) {
  fake_nccl_state& state = fresh();
  state.wrong_stride = true;
  fake_world world(2);
  for (outcome_of_rank const& r : make_arenas(world, equal_options(2))) {
    EXPECT_EQ(r.why.code, "TW0908");
    EXPECT_NE(to_string(r.why).find("address of the arena of rank"), std::string::npos)
        << to_string(r.why);
  }
  EXPECT_EQ(state.live_allocations, 0);
}

TEST(Nccl, RanksWithOtherOptionsAreRefused) {
  fresh();
  fake_world world(2);
  auto options = equal_options(2);
  options[1].gathered_bytes = 1 << 21;
  for (outcome_of_rank const& r : make_arenas(world, options)) EXPECT_EQ(r.why.code, "TW0903");
  options = equal_options(2);
  options[0].epoch = 7;
  fake_world again(2);
  for (outcome_of_rank const& r : make_arenas(again, options)) EXPECT_EQ(r.why.code, "TW0903");
}

TEST(Nccl, LibrariesThatCannotServeAreRefused) {
  auto const why = [](char const* file) {
    try {
      find_nccl(file);
    } catch (rejected const& e) {
      return e.why();
    }
    return rejection{};
  };
  fake_nccl_state& state = fresh();
  state.version = 22707;
  EXPECT_EQ(why(fake_file).code, "TW0908");
  EXPECT_EQ(why(fake_file).got, "NCCL 2.27.7");
  EXPECT_EQ(why("/nowhere/libnccl.so.2").code, "TW0908");
  EXPECT_EQ(why("libm.so.6").got, "no function ncclGetVersion");
}

}  // namespace
}  // namespace tw::dist
