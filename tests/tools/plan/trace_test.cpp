// SPDX-License-Identifier: Apache-2.0
// trace_test.cpp  tilewright gemm --trace and --timeline: files that other programs can read, the
//                 same bytes each time, and a refusal if nothing is recorded.
#include <map>
#include <set>

#include "tests/tools/command.hpp"
#include "tools/io/npy.hpp"
#include "tools/trace/write_timeline.hpp"

namespace {

using namespace tw;
using namespace tw_test;

class gemm_trace : public testing::Test {
 protected:
  static constexpr std::int64_t m = 256, n = 304, k = 200;
  scratch const folder;
  std::string const a = folder / "a.npy", b = folder / "b.npy", d = folder / "d.npy",
                    chrome = folder / "t.json", svg = folder / "t.svg";

  void SetUp() override {
    write_file(a, npy_header(elem::bf16, m, k) +
                      encode(small_values(m, k, 1), m, k, elem::bf16, order::row_major));
    write_file(b, npy_header(elem::bf16, k, n) +
                      encode(small_values(k, n, 2), k, n, elem::bf16, order::row_major));
  }

  command_result run(std::vector<std::string> const& more) const {
    std::vector<std::string> arguments{"gemm", a, b, "-o", d};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_command(arguments);
  }
};

/// The fields and types that the Chrome trace format requires of an event.
void expect_event(nlohmann::json const& e, std::set<std::pair<int, int>> const& rows) {
  std::string const ph = e.at("ph");
  EXPECT_TRUE(e.at("name").is_string());
  EXPECT_TRUE(e.at("pid").is_number_integer());
  EXPECT_TRUE(e.at("tid").is_number_integer());
  if (ph == "M") {
    EXPECT_TRUE(e.at("args").is_object());
    return;
  }
  EXPECT_GE(e.at("ts").get<std::int64_t>(), 0);
  EXPECT_TRUE(rows.contains({e.at("pid"), e.at("tid")})) << e;
  if (ph == "X") {
    EXPECT_GT(e.at("dur").get<std::int64_t>(), 0) << e;
  } else if (ph == "s" || ph == "f") {
    EXPECT_TRUE(e.at("id").is_number_integer());
  } else {
    EXPECT_EQ(ph, "i");
  }
}

/// `gemm --hazards` runs the checks in the emulator and the report says so. On a GPU it is refused.
TEST_F(gemm_trace, hazards_are_checked_on_request) {
  for (char const* arch : {"sm90", "sm100"}) {
    auto const with = run({"--device", "emu", "--arch", arch, "--hazards", "--json"});
    ASSERT_EQ(with.status, 0) << with.err;
    EXPECT_TRUE(with.json()["hazards_checked"].get<bool>()) << arch;
  }
  auto const without = run({"--device", "emu", "--json"});
  ASSERT_EQ(without.status, 0) << without.err;
  EXPECT_FALSE(without.json()["hazards_checked"].get<bool>());
  EXPECT_NE(run({"--device", "emu", "--hazards"}).out.find("hazards  checked"), std::string::npos);
  fs::remove(d);
  auto const gpu = run({"--device", "gpu", "--hazards"});
  EXPECT_EQ(gpu.status, 2);
  EXPECT_NE(gpu.err.find("TW0658"), std::string::npos) << gpu.err;
  EXPECT_FALSE(fs::exists(d));
}

TEST_F(gemm_trace, chrome_events_have_their_fields_and_do_not_overlap) {
  auto const r = run({"--device", "emu", "--trace", chrome});
  ASSERT_EQ(r.status, 0) << r.err;
  EXPECT_NE(r.out.find("seed 1"), std::string::npos) << r.out;
  nlohmann::json const events = nlohmann::json::parse(read_file(chrome));
  ASSERT_TRUE(events.is_array());
  std::set<std::pair<int, int>> rows;
  std::set<std::string> names;
  for (nlohmann::json const& e : events) {
    if (e["ph"] != "M" || e["name"] != "thread_name") continue;
    rows.emplace(e["pid"], e["tid"]);
    names.insert(e["args"]["name"]);
  }
  for (char const* name :
       {"load (warp 0)", "math (warps 4-7)", "TMA loads", "tensor core, warpgroup 1"})
    EXPECT_TRUE(names.contains(name)) << name;
  std::map<std::pair<int, int>, std::vector<std::pair<std::int64_t, std::int64_t>>> slices;
  std::map<int, std::int64_t> flow_begins;
  int fills = 0, flows = 0;
  for (nlohmann::json const& e : events) {
    expect_event(e, rows);
    if (e["ph"] == "X")
      slices[{e["pid"], e["tid"]}].emplace_back(
          e["ts"], e["ts"].get<std::int64_t>() + e["dur"].get<std::int64_t>());
    fills += e["ph"] == "X" && e["cat"] == "stage fill";
    if (e["ph"] == "s") flow_begins[e["id"]] = e["ts"];
    if (e["ph"] != "f") continue;
    ++flows;
    ASSERT_TRUE(flow_begins.contains(e["id"]));
    EXPECT_LE(flow_begins[e["id"]], e["ts"].get<std::int64_t>());
    EXPECT_EQ(e["bp"], "e");
  }
  EXPECT_GE(fills, 4);  // K blocks of 64
  EXPECT_GE(flows, fills);
  for (auto const& [row, list] : slices)
    for (std::size_t i = 1; i < list.size(); ++i)
      EXPECT_LE(list[i - 1].second, list[i].first) << row.first << " " << row.second;
}

TEST_F(gemm_trace, the_same_options_give_the_same_bytes) {
  ASSERT_EQ(run({"--device", "emu", "--trace", chrome, "--timeline", svg}).status, 0);
  std::string const first = read_file(chrome), first_svg = read_file(svg);
  ASSERT_FALSE(first.empty());
  ASSERT_FALSE(first_svg.empty());
  ASSERT_EQ(run({"--device", "emu", "--trace", chrome, "--timeline", svg}).status, 0);
  EXPECT_EQ(read_file(chrome), first);
  EXPECT_EQ(read_file(svg), first_svg);
}

/// Every tag is closed in order, every attribute quoted, no bare & or <.
void expect_xml(std::string const& text) {
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    std::size_t const end = text.find('>', at);
    ASSERT_NE(end, std::string::npos);
    std::string const tag = text.substr(at + 1, end - at - 1);
    EXPECT_EQ(std::ranges::count(tag, '"') % 2, 0) << tag;
    std::string const name = tag.substr(0, tag.find_first_of(" />", 1));
    if (tag.front() == '/') {
      ASSERT_FALSE(open.empty()) << tag;
      EXPECT_EQ("/" + open.back(), tag);
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
  }
  EXPECT_TRUE(open.empty());
  for (std::size_t at = text.find('&'); at != std::string::npos; at = text.find('&', at + 1))
    EXPECT_LT(text.find(';', at), at + 7) << text.substr(at, 12);
}

TEST_F(gemm_trace, the_picture_is_xml_with_its_rows_legend_and_both_papers) {
  ASSERT_EQ(run({"--device", "emu", "--quiet", "--timeline", svg}).status, 0);
  std::string const text = read_file(svg);
  expect_xml(text);
  for (char const* part : {"CTA 0", "math (warps 4-7)", "TMA loads", ">tensor core<",
                           "no measurement", "prefers-color-scheme:dark", "ab_landed[0] phase 0"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST_F(gemm_trace, a_gpu_run_is_refused) {
  auto const r = run({"--device", "gpu", "--trace", chrome});
  EXPECT_EQ(r.status, 2);
  EXPECT_NE(r.err.find("TW0646"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("--device emu"), std::string::npos) << r.err;
}

TEST_F(gemm_trace, a_path_that_cannot_be_written_is_refused_before_the_work) {
  auto const r = run({"--device", "emu", "--timeline", folder / "none/t.svg"});
  EXPECT_EQ(r.status, 2);
  EXPECT_NE(r.err.find("TW0612"), std::string::npos) << r.err;
}

TEST_F(gemm_trace, each_result_has_a_separate_file) {
  auto const refused = [&](std::vector<std::string> const& options, std::string const& said) {
    std::vector<std::string> line{"--device", "emu"};
    line.insert(line.end(), options.begin(), options.end());
    auto const r = run(line);
    EXPECT_EQ(r.status, 2) << r.out;
    EXPECT_NE(r.err.find("TW0612"), std::string::npos) << r.err;
    EXPECT_NE(r.err.find(said), std::string::npos) << r.err;
    EXPECT_FALSE(fs::exists(d));
  };
  std::string const aux = folder / "x.npy";
  refused({"--trace", d}, "of --trace: got the file that D goes to");
  refused({"--timeline", folder / "./d.npy"}, "of --timeline: got the file that D goes to");
  refused({"--activation", "relu", "--aux", aux, "--trace", aux}, "that the auxiliary output goes");
  refused({"--trace", chrome, "--timeline", chrome}, "got the file of --trace");
}

TEST(timeline_svg, a_cap_and_odd_names_stay_readable) {
  emu::timeline t;
  t.rows.push_back({emu::row_kind::warps, 0, 0, false, "warp <0>"});
  t.slices.push_back({0, emu::slice_kind::stuck, 0, 500, "bar & \"x\" phase 0", "", 0});
  t.cycles = 500;
  t.run = "seed 3";
  t.cut_off = "the first 10 events";
  expect_xml(timeline_svg(t));
  nlohmann::json const events = nlohmann::json::parse(chrome_trace(t));
  EXPECT_EQ(events.back()["name"], "never released: bar & \"x\" phase 0");
  EXPECT_NE(chrome_trace(t).find("the first 10 events"), std::string::npos);
}

}  // namespace
