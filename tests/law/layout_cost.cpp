// SPDX-License-Identifier: Apache-2.0
// layout_cost.cpp  Nanoseconds of each operation of the layout algebra at run time, as JSON lines.
//
// layout_cost FILE: rows of the conformance data (op, args). A call is timed as the command line
// makes it: the arguments are parsed, the result is printed. So each figure is an upper bound of
// the operation itself. Built and run by tests/law/cost.py.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tilewright/atom/call.hpp"
#include "tilewright/base/check.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

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
    auto const start = clock_type::now();
    auto end = start;
    do {
      for (question const& q : all) work(q);
      calls += static_cast<long>(all.size());
      end = clock_type::now();
    } while (end - start < std::chrono::milliseconds(10));
    double const ns = std::chrono::duration<double, std::nano>(end - start).count();
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
