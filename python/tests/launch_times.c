/* SPDX-License-Identifier: Apache-2.0
   launch_times.c  Nanoseconds that the driver spends in kernel launches, by callbacks of CUPTI.

       cc -O2 -shared -fPIC -I/usr/local/cuda/include launch_times.c -o launch_times.so -lcupti

   host_times.py --launches launch_times.so subtracts them from the time of a call: what remains is
   the own time of the host. The callback itself costs about 0.1 us, which counts as own time. */
#include <cupti.h>
#include <time.h>

static CUpti_SubscriberHandle subscriber;
static long long begin_ns, total_ns, launches;

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void CUPTIAPI called(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                            const void *data) {
  (void)user, (void)domain, (void)id;
  if (((const CUpti_CallbackData *)data)->callbackSite == CUPTI_API_ENTER) {
    begin_ns = now();
  } else {
    total_ns += now() - begin_ns;
    ++launches;
  }
}

/* 0, or an error of CUPTI. */
int start(void) {
  static const CUpti_CallbackId ids[] = {
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
      CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz};
  int e = cuptiSubscribe(&subscriber, called, 0);
  for (unsigned i = 0; e == 0 && i < sizeof ids / sizeof *ids; ++i)
    e = cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, ids[i]);
  total_ns = launches = 0;
  return e;
}

void stop(void) { cuptiUnsubscribe(subscriber); }
long long ns(void) { return total_ns; }
long long count(void) { return launches; }
