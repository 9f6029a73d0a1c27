// SPDX-License-Identifier: Apache-2.0
// errors.hpp  Exceptions become a status and the error of the thread.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "base/float_environment.hpp"
#include "tilewright.h"
#include "tilewright/arch/emu/options.hpp"
#include "tilewright/base/check.hpp"

namespace tw::capi {

/// Remembers a refusal for tw_last_error(), with the arguments of the C library in its words.
tw_status remember(rejection const& r) noexcept;
tw_status remember(emu::fault const& f) noexcept;
tw_status remember_interrupted() noexcept;
tw_status remember_no_memory() noexcept;
tw_status remember_internal(char const* what) noexcept;

/// f() in the usual floating-point environment, and the status of its exception. `emu::interrupted`
/// is one of its exceptions.
template <class F>
tw_status guarded(F const& f) noexcept {
  float_environment const usual;
  try {
    f();
    return TW_OK;
  } catch (rejected const& e) {
    return remember(e.why());
  } catch (emu::fault const& e) {
    return remember(e);
  } catch (emu::interrupted const&) {
    return remember_interrupted();
  } catch (std::bad_alloc const&) {
    return remember_no_memory();
  } catch (std::exception const& e) {
    return remember_internal(e.what());
  } catch (...) {
    return remember_internal("an exception without a text");
  }
}

}  // namespace tw::capi
