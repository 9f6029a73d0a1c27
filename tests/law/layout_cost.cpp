// SPDX-License-Identifier: Apache-2.0
// layout_cost.cpp  Nanoseconds of each operation of the layout algebra at run time, as JSON lines.
//
// layout_cost FILE: rows of the conformance data (op, args). A call is timed as the command line
// makes it: the arguments are parsed, the result is printed. So each figure is an upper bound of
// the operation itself. Built and run by tests/law/cost.py.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tilewright/atom/call.hpp"
#include "tilewright/base/check.hpp"

namespace {

/// Processor time of this process in nanoseconds: other programs do not count.
double now() { return static_cast<double>(std::clock()) * (1e9 / CLOCKS_PER_SEC); }

struct question {
  std::vector<std::string> arguments;
  int leaves = 0;
};

/// Leaves of the arguments: numbers of their shapes.
int count_leaves(std::vector<std::string> const& arguments) {
  int leaves = 0;
  for (std::string const& a : arguments) {
    int commas = 1;
    for (char const c : a.substr(0, a.find(':'))) commas += c == ',' ? 1 : 0;
    leaves += commas;
  }
  return leaves;
}

template <class Work>
double nanoseconds(std::vector<question> const& all, Work const& work) {
  double best = 1e30;
  for (int attempt = 0; attempt < 5; ++attempt) {
    long calls = 0;
    double const start = now();
    double ns = 0;
    do {
      for (question const& q : all) work(q);
      calls += static_cast<long>(all.size());
      ns = now() - start;
    } while (ns < 1e7);
    best = std::min(best, ns / static_cast<double>(calls));
  }
  return best;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  std::map<std::string, std::vector<question>> by_name;
  std::ifstream file(arguments[1]);
  for (std::string line; std::getline(file, line);) {
    auto const row = nlohmann::json::parse(line);
    if (!row.contains("op") || !row.contains("args")) continue;
    question q{row["args"].get<std::vector<std::string>>()};
    q.leaves = count_leaves(q.arguments);
    try {
      tw::call(row["op"].get<std::string>(), q.arguments);
    } catch (tw::rejected const&) {
      continue;
    }
    by_name[row["op"]].push_back(q);
  }
  for (auto const& [op, all] : by_name) {
    double leaves = 0;
    for (question const& q : all) leaves += q.leaves;
    leaves /= static_cast<double>(all.size());
    std::size_t sink = 0;
    double const ns =
        nanoseconds(all, [&](question const& q) { sink += tw::call(op, q.arguments).res.size(); });
    nlohmann::json const result{{"op", op},
                                {"rows", all.size()},
                                {"leaves", leaves},
                                {"ns", ns},
                                {"ns_per_leaf", ns / leaves}};
    std::cout << result.dump() << "\n";
    if (sink == 1) return 1;
  }
  return 0;
}
