// SPDX-License-Identifier: Apache-2.0
// refusal_test.cpp  Bad input: one message with a code, the right status, and no output file.
#include "tests/tools/command.hpp"
#include "tools/io/npy.hpp"
#include "tools/report/error_pages.hpp"

namespace {

using namespace tw;
using namespace tw_test;

class refusal : public testing::Test {
 protected:
  scratch const folder;

  void SetUp() override {
    write("a.npy", 3, 5);
    write("b.npy", 5, 2);
  }
  void write(std::string const& file, std::int64_t rows, std::int64_t cols) const {
    auto const zeros = std::string(static_cast<std::size_t>(2 * rows * cols), '\0');
    write_file(folder / file, npy_header(elem::f16, rows, cols) + zeros);
  }
  /// A file that claims its data without using the disk for it.
  void write_sparse(std::string const& file, std::int64_t rows, std::int64_t cols) const {
    std::string const header = npy_header(elem::f16, rows, cols);
    write_file(folder / file, header);
    fs::resize_file(folder / file, header.size() + static_cast<std::size_t>(2 * rows * cols));
  }

  /// Runs gemm A B -o d.npy OPTIONS and expects `status`, one line on stderr that begins with the
  /// code and holds `text`, and a folder as it was.
  void expect_refused(std::string const& a, std::string const& b, std::vector<std::string> options,
                      std::string const& code, std::string const& text, int status = 2) const {
    auto const before = folder.listing();
    std::vector<std::string> arguments{"gemm", folder / a, folder / b, "-o", folder / "d.npy"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    auto const r = run_command(arguments);
    EXPECT_EQ(r.status, status) << r.err;
    EXPECT_EQ(r.err.rfind("tilewright: " + code + ": ", 0), 0U) << r.err;
    EXPECT_NE(r.err.find(text), std::string::npos) << text << " is not in: " << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
    EXPECT_EQ(r.out, "");
    EXPECT_EQ(folder.listing().size(), before.size());
  }
};

TEST_F(refusal, files_that_cannot_be_read) {
  expect_refused("absent.npy", "b.npy", {}, "TW0601", "No such file or directory");
  fs::create_directory(folder / "folder.npy");
  expect_refused("a.npy", "folder.npy", {}, "TW0601", "a folder");
  ASSERT_EQ(::mkfifo((folder / "pipe.npy").c_str(), 0600), 0);
  expect_refused("pipe.npy", "b.npy", {}, "TW0601", "something else than a file");
  expect_refused("a.txt", "b.npy", {}, "TW0611", "FILE.npy or FILE.safetensors:TENSOR");
}

TEST_F(refusal, files_that_are_corrupt) {
  write_file(folder / "empty.npy", "");
  expect_refused("empty.npy", "b.npy", {}, "TW0603", "got 0 bytes");
  write_file(folder / "text.npy", "this is no matrix, but long enough for one");
  expect_refused("text.npy", "b.npy", {}, "TW0602", "got \"this i\"");
  write_file(folder / "short.npy", read_file(folder / "a.npy").substr(0, 150));
  expect_refused("short.npy", "b.npy", {}, "TW0603", "got 22 bytes, need 30 bytes for 3x5 f16");
  write_file(folder / "head.npy", read_file(folder / "a.npy").substr(0, 60));
  expect_refused("head.npy", "b.npy", {}, "TW0603", "need 128 bytes for the header alone");
  write_file(folder / "w.safetensors", "garbage");
  expect_refused("a.npy", "w.safetensors:x", {}, "TW0603", "at least 8 bytes");
  write_file(folder / "w.safetensors", "\x02" + std::string(7, '\0') + "{}");
  expect_refused("a.npy", "w.safetensors:x", {}, "TW0610", "a file that holds tensors");
}

TEST_F(refusal, types_ranks_and_sizes_that_are_not_supported) {
  for (auto const& [file, code] :
       {std::pair{"int64.npy", "TW0604"}, {"big_endian.npy", "TW0604"}, {"cube.npy", "TW0605"}}) {
    fs::copy_file(data_file(file), folder / file);
    expect_refused(file, "b.npy", {}, code, "need");
  }
  write_file(folder / "huge.npy",
             npy_header(elem::f32, std::int64_t{1} << 40, std::int64_t{1} << 40));
  expect_refused("huge.npy", "b.npy", {}, "TW0606", "a size in bytes below 2^63");
}

TEST_F(refusal, shapes_that_do_not_fit) {
  expect_refused("a.npy", "a.npy", {}, "TW0616", "got A 3x5, B 3x5");
  write("c.npy", 2, 3);
  expect_refused("a.npy", "b.npy", {"-C", folder / "c.npy"}, "TW0616", "got 2x3, need 3x2");
}

TEST_F(refusal, alpha_and_beta_without_sense) {
  expect_refused("a.npy", "b.npy", {"--beta", "2"}, "TW0407", "2 without C");
  expect_refused("a.npy", "b.npy", {"--alpha", "inf"}, "TW0406", "finite");
}

TEST_F(refusal, a_command_line_that_is_wrong) {
  expect_refused("a.npy", "b.npy", {"--dtype", "f8"}, "TW0615", "f8 is none of bf16, f16");
  expect_refused("a.npy", "b.npy", {"--out-dtype", "e4m4"}, "TW0615", "e4m4 is none of");
  expect_refused("a.npy", "b.npy", {"--device", "tpu"}, "TW0615", "tpu is none of");
  expect_refused("a.npy", "b.npy", {"--threads", "-1"}, "TW0615", "--threads");
  expect_refused("a.npy", "b.npy", {"--alpha", "two"}, "TW0615", "--alpha");
  expect_refused("a.npy", "b.npy", {"--colour"}, "TW0615", "--colour");
  EXPECT_EQ(run_command({"gemm", folder / "a.npy"}).status, 2);
  EXPECT_EQ(run_command({}).status, 2);
  EXPECT_EQ(run_command({"dance"}).status, 2);
}

TEST_F(refusal, the_word_that_is_wrong_is_named) {
  auto const said = [](std::vector<std::string> const& words) {
    auto const r = run_command(words);
    EXPECT_EQ(r.status, 2);
    return r.err;
  };
  EXPECT_NE(said({"dance"}).find("got \"dance\", which is unknown, need a verb"),
            std::string::npos);
  EXPECT_NE(said({}).find("got no verb"), std::string::npos);
  EXPECT_NE(said({"timeline"}).find("it is an option: tilewright gemm --timeline, "),
            std::string::npos)
      << said({"timeline"});
  EXPECT_NE(said({"timeline"}).find("tilewright check --timeline"), std::string::npos);
  EXPECT_NE(said({"gem"}).find("did you mean gemm?"), std::string::npos);
  EXPECT_NE(said({"gemm", "--foo"}).find("got \"--foo\", which is unknown"), std::string::npos);
  EXPECT_NE(said({"gemm", "a.npy"}).find("got no B, no -o,--output, need B ("), std::string::npos);
  EXPECT_NE(said({"plan", "64", "64", "64", "--batch", "0"}).find("need a positive number, got 0,"),
            std::string::npos);
  for (std::vector<std::string> const& words :
       {std::vector<std::string>{"plan", "64", "64", "64", "--top", "-1"},
        {"plan", "64", "64", "64", "--workspace", "-1"},
        {"tune", "64", "64", "64", "--minutes", "-1"}})
    EXPECT_NE(said(words).find("need a number that is not negative, got -1"), std::string::npos)
        << said(words);
  // An output without -o, a typo of a verb, an option and a word, words of other libraries.
  auto const hint = [&](std::vector<std::string> const& words, std::string const& text) {
    EXPECT_NE(said(words).find(text), std::string::npos) << said(words);
  };
  hint({"gemm", "x.npy", "w.npy", "d.npy"}, "write -o d.npy");
  hint({"gme"}, "did you mean gemm?");
  hint({"help", "plann"}, "did you mean plan?");
  hint({"bench", "gem"}, "did you mean gemm?");
  hint({"gemm", "a", "b", "-o", "d", "--ouput", "x"}, "did you mean --output?");
  hint({"gemm", "a", "b", "-o", "d", "--activation", "gelu_xyz"}, "gelu_xyz is none of none,");
  hint({"gemm", "a", "b", "-o", "d", "--activation", "silo"}, "did you mean silu?");
  for (std::string const word : {"gelu_tanh", "GELU", "swish", "gelu_erf", "gelu-erf"})
    EXPECT_NE(
        said({"gemm", "absent.npy", "b.npy", "-o", "d.npy", "--activation", word}).find("TW0601"),
        std::string::npos)
        << word;
  for (char const* number : {"+4", "0x4", "4"})
    EXPECT_EQ(run_command({"plan", "64", "64", "64", "--batch", number}).status, 0) << number;
  EXPECT_NE(said({"plan", "64", "64", "64", "--batch", "4x"}).find("number, got 4x,"),
            std::string::npos);
}

TEST_F(refusal, problems_that_do_not_fit_the_memory) {
  write_sparse("tall.npy", 1 << 20, 1);
  write_sparse("wide.npy", 1, 1 << 20);
  expect_refused("tall.npy", "wide.npy", {"--device", "emu"}, "TW0613", "need 2048.00 GiB");
}

TEST_F(refusal, outputs_that_cannot_be_written) {
  std::vector<std::string> const head{"gemm", folder / "a.npy", folder / "b.npy", "-o"};
  for (auto const& [out, code] :
       {std::pair{"absent/d.npy", "TW0612"}, {"d.csv", "TW0611"}, {"d.safetensors:", "TW0608"}}) {
    auto arguments = head;
    arguments.push_back(folder / out);
    if (std::string(out).ends_with(":")) arguments.back() += "__metadata__";
    auto const r = run_command(arguments);
    EXPECT_EQ(r.status, 2);
    EXPECT_EQ(r.err.rfind(std::string("tilewright: ") + code, 0), 0U) << r.err;
    EXPECT_EQ(folder.listing().size(), 2U);
  }
}

TEST_F(refusal, the_gpu_on_a_machine_without_one) {
  if (run_command({"info", "--json"}).json()["gpu"].is_object()) GTEST_SKIP() << "there is a GPU";
  auto const before = folder.listing();
  auto const r = run_command(
      {"gemm", folder / "a.npy", folder / "b.npy", "-o", folder / "d.npy", "--device", "gpu"});
  EXPECT_EQ(r.status, 77);
  EXPECT_EQ(r.err.rfind("tilewright: TW050", 0), 0U) << r.err;
  EXPECT_NE(r.err.find("--device emu"), std::string::npos) << r.err;
  EXPECT_EQ(folder.listing(), before);
}

TEST_F(refusal, is_a_record_too_with_json) {
  auto const r =
      run_command({"gemm", folder / "a.npy", folder / "a.npy", "-o", folder / "d.npy", "--json"});
  EXPECT_EQ(r.status, 2);
  EXPECT_EQ(r.json()["error"]["code"], "TW0616");
  EXPECT_EQ(r.json()["error"]["got"], "A 3x5, B 3x5");
  auto const line = run_command({"gemm", folder / "a.npy", "--json", "--colour"});
  EXPECT_EQ(line.status, 2);
  EXPECT_EQ(line.json()["error"]["code"], "TW0615");
  EXPECT_EQ(line.err.rfind("tilewright: TW0615", 0), 0U) << line.err;
  EXPECT_EQ(
      run_command({"plan", "64", "64", "64", "--batch", "0", "--json"}).json()["error"]["code"],
      "TW0615");
  // Of `bench` --json names a file: nothing goes to stdout.
  EXPECT_EQ(run_command({"bench", "gemm", "--json", folder / "r.json"}).out, "");
}

TEST_F(refusal, a_report_that_finds_no_room) {
  std::string const command = std::string(TW_COMMAND) + " info > /dev/full 2> " + (folder / "err");
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2);
  EXPECT_EQ(read_file(folder / "err").rfind("tilewright: TW0612: standard output", 0), 0U);
}

TEST(explain, holds_every_page_and_prints_one) {
  std::size_t sections = 0;
  for (auto const& entry : fs::directory_iterator(std::string(TW_SOURCE_DIR) + "/docs/errors")) {
    std::string const text = read_file(entry.path());
    for (std::size_t at = 0; (at = text.find("\n## ", at)) != std::string::npos; ++at) ++sections;
  }
  EXPECT_EQ(error_pages().size(), sections);
  for (error_page const& page : error_pages()) {
    std::string const code(page.code), folder = std::string(TW_SOURCE_DIR) + "/docs/errors/";
    std::string const text = read_file(folder + code.substr(0, code.size() - 2) + ".md");
    std::string const name(page.text.substr(0, page.text.find('\n')));
    EXPECT_EQ(name.rfind("# " + code + ": ", 0), 0U) << name;
    EXPECT_NE(text.find("\n## " + code + "\n**" + name.substr(code.size() + 4) + "**\n"),
              std::string::npos);
    std::string const meaning = "\n\n## Meaning\n\n", example = "\n## Example\n";
    std::size_t const begin = page.text.find(meaning) + meaning.size();
    EXPECT_LT(begin, page.text.find(example)) << code;
    EXPECT_LT(page.text.find(example), page.text.find("\n## What to do\n")) << code;
  }
  std::string const page = run_command({"explain", "TW0601"}).out;
  EXPECT_EQ(page, error_page_of("TW0601", "").text);
  EXPECT_EQ(page.rfind("# TW0601: file cannot be read\n\n## Meaning\n\n", 0), 0U) << page;
  EXPECT_EQ(run_command({"explain", "tw0601"}).status, 0);
  EXPECT_NE(run_command({"explain"}).out.find("TW0601: file cannot be read\n"), std::string::npos);
  auto const r = run_command({"explain", "TW9999"});
  EXPECT_EQ(r.status, 2);
  EXPECT_EQ(r.err.rfind("tilewright: TW0617", 0), 0U);
}

TEST(info, says_what_there_is_to_run_on) {
  auto const text = run_command({"info"});
  EXPECT_EQ(text.status, 0);
  for (char const* part : {"tilewright ", "build ", "emulator ", "GPU "}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part;
  }
  auto const record = run_command({"info", "--json"}).json();
  EXPECT_EQ(record["gpu"].is_null(), record.contains("why_no_gpu"));
}

}  // namespace
