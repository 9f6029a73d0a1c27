// SPDX-License-Identifier: Apache-2.0
// precompiled.cpp  A program that does nothing: it owns the precompiled headers of the tests.
int main() {}
