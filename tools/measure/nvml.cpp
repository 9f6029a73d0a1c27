// SPDX-License-Identifier: Apache-2.0
// nvml.cpp  The part of NVML's C interface that a benchmark needs, declared here and found at run
// time. Source: NVML API reference, "Device Queries" (signatures and enumeration values).
#include "tools/measure/nvml.hpp"

#include <dlfcn.h>

#include <chrono>

namespace tw::bench {
namespace {

using nvml_device = void*;
constexpr int success = 0;          // NVML_SUCCESS
constexpr unsigned clock_sm = 1;    // NVML_CLOCK_SM
constexpr unsigned sensor_gpu = 0;  // NVML_TEMPERATURE_GPU

class loaded_nvml final : public nvml {
 public:
  explicit loaded_nvml(void* library) : library_(library) {}
  loaded_nvml(loaded_nvml const&) = delete;
  loaded_nvml& operator=(loaded_nvml const&) = delete;
  ~loaded_nvml() override {
    if (initialised_) call<int()>("nvmlShutdown");
    dlclose(library_);
  }

  bool find_device(std::string const& pci_bus_id) {
    initialised_ = call<int()>("nvmlInit_v2") == success;
    return initialised_ &&
           call<int(char const*, nvml_device*)>("nvmlDeviceGetHandleByPciBusId_v2",
                                                pci_bus_id.c_str(), &device_) == success;
  }

  power_reading read() const override {
    power_reading r;
    unsigned long long energy_mj = 0, reasons = 0;
    if (call<int(nvml_device, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption", device_,
                                                    &energy_mj) == success)
      r.energy_j = static_cast<double>(energy_mj) * 1e-3;
    r.time_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    r.power_w = figure("nvmlDeviceGetPowerUsage") * 1e-3;
    r.sm_mhz = figure("nvmlDeviceGetClockInfo", clock_sm);
    r.temperature_c = figure("nvmlDeviceGetTemperature", sensor_gpu);
    if (call<int(nvml_device, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons",
                                                    device_, &reasons) == success)
      r.throttle_reasons = reasons;
    return r;
  }

  std::string driver() const override {
    char text[81] = {};  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE is 80
    bool const known =
        call<int(char*, unsigned)>("nvmlSystemGetDriverVersion", text, 80U) == success;
    return known ? text : "";
  }
  double power_limit_w() const override { return figure("nvmlDeviceGetEnforcedPowerLimit") * 1e-3; }
  double max_sm_mhz() const override { return figure("nvmlDeviceGetMaxClockInfo", clock_sm); }

 private:
  /// Calls the library's function; -1 when this version of the library lacks it.
  template <class Signature, class... Arguments>
  int call(char const* name, Arguments... arguments) const {
    auto* const function = reinterpret_cast<Signature*>(dlsym(library_, name));
    return function == nullptr ? -1 : function(arguments...);
  }

  double figure(char const* name) const {
    unsigned value = 0;
    return call<int(nvml_device, unsigned*)>(name, device_, &value) == success ? value
                                                                               : not_measured;
  }
  double figure(char const* name, unsigned which) const {
    unsigned value = 0;
    return call<int(nvml_device, unsigned, unsigned*)>(name, device_, which, &value) == success
               ? value
               : not_measured;
  }

  void* library_;
  nvml_device device_ = nullptr;
  bool initialised_ = false;
};

}  // namespace

std::unique_ptr<nvml> nvml::open(std::string const& pci_bus_id) {
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  auto found = std::make_unique<loaded_nvml>(library);
  if (!found->find_device(pci_bus_id)) return nullptr;
  return found;
}

}  // namespace tw::bench
