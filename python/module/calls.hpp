// SPDX-License-Identifier: Apache-2.0
// calls.hpp  Parts of all calls of tilewright.h: errors as exceptions, runs without the GIL, words
//            and numbers.
#pragma once

#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <type_traits>

#include "tensors.hpp"

namespace tw_python {

// ---- Errors ------------------------------------------------------------------------------------

inline nb::handle
    make_error;  // tilewright._errors.error_of(status, code, what, got, need, hint, text)

[[noreturn]] inline void raise(int status, char const* code, char const* what, char const* got,
                               char const* need, char const* hint, char const* text) {
  nb::object const x = make_error(status, code, what, got, need, hint, text);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(x.ptr())), x.ptr());
  throw nb::python_error();
}

inline void check(tw_status status) {
  if (status == TW_OK) return;
  if (status == TW_INTERRUPTED && PyErr_Occurred() != nullptr) throw nb::python_error();
  tw_error const* const e = tw_last_error();
  raise(status, e->code, e->what, e->got, e->need, e->hint, e->text);
}

[[noreturn]] inline void raise(bad_argument const& x) {
  raise(TW_REFUSED, x.code, x.what.c_str(), x.got.c_str(), x.need, x.hint, "");
}

// ---- Runs without the GIL ----------------------------------------------------------------------

// Set when the interpreter ends. From then on a thread other than the main one must not take the
// GIL: Python would end the thread within this library, whose frames cannot be unwound.
inline std::atomic<bool> at_exit{false};
inline std::atomic<int> taking{0};     // threads that wait for the GIL, or are about to
inline unsigned long main_thread = 0;  // by PyThread_get_thread_ident()

inline bool in_main_thread() { return PyThread_get_thread_ident() == main_thread; }

template <class F>
tw_status without_gil(F const& f) {
  PyThreadState* const state = PyEval_SaveThread();
  tw_status const status = f();
  ++taking;
  if (at_exit && !in_main_thread()) {
    --taking;
    for (;;) pause();
  }
  PyEval_RestoreThread(state);
  --taking;
  return status;
}

inline char const* word(nb::handle h, char const* name) {
  if (h.is_none()) return nullptr;
  if (PyUnicode_Check(h.ptr()) == 0) throw bad_argument{"TW0486", name, type_text(h), "a word"};
  char const* const text = PyUnicode_AsUTF8AndSize(h.ptr(), nullptr);
  if (text == nullptr) throw nb::python_error();
  return text;
}

template <class T>
T number(nb::handle h, char const* name) {
  T value{};
  if (nb::try_cast(h, value)) return value;
  PyErr_Clear();
  throw bad_argument{"TW0486", name, type_text(h),
                     std::is_floating_point_v<T> ? "a number" : "an integer of 32 bits"};
}

/// The text of a JSON function or of a picture.
inline nb::str owned(char* text) {
  std::unique_ptr<char, decltype(&tw_free)> const p(text, &tw_free);
  return nb::str(p.get());
}

/// No element of d, or no group: a GEMM without a plan.
inline bool computes_nothing(tw_gemm_args const& x) {
  for (DLTensor const* t : {static_cast<DLTensor const*>(x.d), x.groups})
    for (int i = 0; t != nullptr && i < t->ndim; ++i)
      if (t->shape[i] == 0) return true;
  return false;
}

}  // namespace tw_python
