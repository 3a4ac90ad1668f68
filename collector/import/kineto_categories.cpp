// SPDX-License-Identifier: Apache-2.0
#include "collector/import/kineto_categories.h"

#include "collector/import/key_table.h"

namespace fp8scope::import {
namespace {

constexpr std::pair<std::string_view, SpanKind> kSpans[] = {
    {"kernel", SpanKind::Kernel},
    {"Kernel", SpanKind::Kernel},
    {"hpu_op", SpanKind::Kernel},
    {"mtia_ccp_events", SpanKind::Kernel},
    {"collective_comm", SpanKind::Kernel},
    {"gpu_memcpy", SpanKind::Memcpy},
    {"Memcpy", SpanKind::Memcpy},
    {"gpu_memset", SpanKind::Memset},
    {"Memset", SpanKind::Memset},
    {"cuda_sync", SpanKind::DeviceWait},
    {"xpu_sync", SpanKind::DeviceWait},
    {"cuda_event", SpanKind::DeviceWait},
    {"gpu_user_annotation", SpanKind::DeviceRange},
    {"cuda_profiler_range", SpanKind::DeviceRange},
    {"xpu_scope_profiler", SpanKind::DeviceRange},
    {"cpu_op", SpanKind::Op},
    {"Operator", SpanKind::Op},
    {"cuda_runtime", SpanKind::Api},
    {"Runtime", SpanKind::Api},
    {"cuda_driver", SpanKind::Api},
    {"xpu_runtime", SpanKind::Api},
    {"xpu_driver", SpanKind::Api},
    {"mtia_runtime", SpanKind::Api},
    {"glow_runtime", SpanKind::Api},
    {"privateuse1_runtime", SpanKind::Api},
    {"privateuse1_driver", SpanKind::Api},
    {"user_annotation", SpanKind::Range},
    {"mtia_insight", SpanKind::Range},
    {"python_function", SpanKind::Frame},
    {"overhead", SpanKind::Overhead},
    {"Trace", SpanKind::ProfilerSpan},
};
constexpr KeyTable<SpanKind, 128> kSpanTable(kSpans);

constexpr std::pair<std::string_view, FlowKind> kFlows[] = {
    {"ac2g", FlowKind::Launch},
    {"async_cpu_to_gpu", FlowKind::Launch},  // 2022
    {"async_gpu", FlowKind::Launch},         // 2022
    {"async", FlowKind::Launch},             // 2021
    {"fwdbwd", FlowKind::ForwardBackward},
    {"forward_backward", FlowKind::ForwardBackward},
};
constexpr KeyTable<FlowKind, 16> kFlowTable(kFlows);

}  // namespace

SpanKind spanKindOf(std::string_view category) { return kSpanTable.find(category, SpanKind::Unknown); }

FlowKind flowKindOf(std::string_view category) { return kFlowTable.find(category, FlowKind::Unknown); }

}  // namespace fp8scope::import
