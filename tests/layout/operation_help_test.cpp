// SPDX-License-Identifier: Apache-2.0
// operation_help_test.cpp  Every operation has arguments, a law and an example; examples are run.
#include <gtest/gtest.h>

#include <algorithm>

#include "atom/signatures.hpp"
#include "tilewright/atom/call.hpp"

namespace tw {
namespace {

int brackets(std::string_view text) {
  int open = 0;
  for (char const c : text) open += (c == '(' || c == '[') - (c == ')' || c == ']');
  return open;
}

TEST(OperationHelp, NothingIsMissing) {
  EXPECT_GT(std::ssize(operations()), 100);
  for (std::string_view const name : operations()) {
    signature const s = signature_of(name);
    EXPECT_EQ(s.operation, name);
    EXPECT_FALSE(s.arguments.empty()) << name;
    EXPECT_FALSE(s.law.empty()) << name;
    EXPECT_EQ(brackets(s.arguments), 0) << name;
    EXPECT_TRUE(s.example.starts_with(std::string(name) + "(")) << name << ": " << s.example;
    EXPECT_NO_THROW(evaluate(s.example)) << s.example;
  }
}

TEST(OperationHelp, NoRowIsOfAnUnknownOperation) {
  std::vector<std::string_view> const names = operations();
  for (signature const& s : signatures()) {
    EXPECT_TRUE(std::ranges::binary_search(names, s.operation)) << s.operation;
    bool const of_algebra = law_of(s.operation) != nullptr;
    EXPECT_EQ(s.law.empty(), of_algebra) << s.operation << " has two laws or none";
  }
  for (law_text const& l : laws()) {
    EXPECT_TRUE(std::ranges::binary_search(names, l.operation)) << l.operation;
  }
}

TEST(OperationHelp, ExamplesHaveTheAnswersOfTheirLaws) {
  for (law_text const& l : laws()) EXPECT_EQ(evaluate(l.example).res, l.answer) << l.example;
}

/// The arguments that are described are as many as the operation takes, optional ones aside.
TEST(OperationHelp, AsManyArgumentsAreDescribedAsTheExampleHas) {
  for (std::string_view const name : operations()) {
    signature const s = signature_of(name);
    int described = 1, optional = 0, given = 1, level = 0;
    for (char const c : s.arguments) {
      level += (c == '(') - (c == ')');
      optional += c == '[';
      described += c == ',' && level == 0;
    }
    level = -1;
    for (char const c : s.example) {
      level += (c == '(' || c == '<') - (c == ')' || c == '>');
      given += c == ',' && level == 0;
    }
    EXPECT_LE(given, described) << s.example << " and " << s.arguments;
    EXPECT_GE(given, described - optional) << s.example << " and " << s.arguments;
  }
}

}  // namespace
}  // namespace tw
