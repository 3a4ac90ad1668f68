// SPDX-License-Identifier: Apache-2.0
#include "app/analysis/attribute/found_steps.h"

#include "app/analysis/attribute/kernel_sequence.h"
#include "app/analysis/slice_families.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace fp8scope::analysis {
namespace {

constexpr double kAsSimilar = 0.02;  ///< periods that differ by no more explain a sequence equally well

using Cut = std::vector<std::size_t>;

struct Candidate {
    Cut starts;
    double confidence = 0;
};

bool endsStep(const Trace& trace, NameId name)
{
    const Role role = trace.name(name).role;
    return role == Role::Optimizer || role == Role::Loss;
}

/// Whether all repetitions hold a slice of that kind.
template <typename Predicate>
bool inEach(const SliceColumns& slices, const Cut& starts, Predicate&& holds)
{
    for (std::size_t s = 0; s + 1 < starts.size(); ++s) {
        bool found = false;
        for (std::size_t i = starts[s]; i < starts[s + 1] && !found; ++i)
            found = holds(slices.name[i]);
        if (!found)
            return false;
    }
    return true;
}

/// The matrix products among `count` slices from `first`.
std::vector<std::uint32_t> products(const SliceFamilies& families, const SliceColumns& slices, std::size_t first,
                                    std::size_t count)
{
    std::vector<std::uint32_t> names;
    for (std::size_t i = first; i < first + count; ++i) {
        if (families.of(slices, i).role == Role::Gemm)
            names.push_back(slices.name[i].value);
    }
    return names;
}

/// How sure it is that repetitions are steps and not layers; 0: they are not.
double confidenceOf(const Trace& trace, const SliceColumns& slices, const Period& period)
{
    const SliceFamilies families(trace);
    const Cut& any = period.cuts.front();
    if (inEach(slices, any, [&](NameId name) { return endsStep(trace, name); }))
        return period.similarity;
    if (repeatsInside(products(families, slices, any[0], any[1] - any[0])))
        return 0.9 * period.similarity;
    return products(families, slices, 0, slices.size()).empty() ? 0.7 * period.similarity : 0;
}

/// How well a slice begins a step: after the weights' update, else after a pause.
double beginning(const Trace& trace, const SliceColumns& slices, const Cut& starts)
{
    double rating = 0;
    for (const std::size_t i : starts) {
        if (i == 0)
            continue;
        const bool afterUpdate = trace.name(slices.name[i - 1]).role == Role::Optimizer &&
                                 trace.name(slices.name[i]).role != Role::Optimizer;
        const auto pause = static_cast<double>(std::max<std::int64_t>(slices.startNs[i] - slices.endNs(i - 1), 0));
        rating += afterUpdate ? 1e12 : pause;
    }
    return rating / static_cast<double>(starts.size());
}

std::optional<Candidate> bestPeriod(const Trace& trace, const SliceColumns& slices)
{
    std::vector<std::uint32_t> tokens;
    tokens.reserve(slices.size());
    for (std::size_t i = 0; i < slices.size(); ++i)
        tokens.push_back(slices.name[i].value);
    const std::vector<Period> periods = findPeriods(tokens);
    std::optional<Candidate> best;
    for (const Period& period : periods) {
        if (period.similarity + kAsSimilar < periods.front().similarity)
            break;
        const double confidence = confidenceOf(trace, slices, period);
        if (confidence == 0 || (best && best->starts.size() >= period.repetitions))
            continue;
        const auto cut = std::max_element(period.cuts.begin(), period.cuts.end(), [&](const Cut& a, const Cut& b) {
            return beginning(trace, slices, a) < beginning(trace, slices, b);
        });
        best = Candidate{*cut, confidence};
    }
    return best;
}

Step makeStep(RunId run, std::size_t index, std::int64_t startNs, std::int64_t endNs)
{
    return {run,   static_cast<std::uint32_t>(index),       startNs, endNs - startNs,
            false, std::numeric_limits<double>::quiet_NaN()};
}

/// What follows the last beginning is a step if it is about as many kernels long as the one before.
std::vector<Step> stepsAt(RunId run, const SliceColumns& slices, const Cut& starts)
{
    std::vector<Step> steps;
    for (std::size_t s = 0; s + 1 < starts.size(); ++s)
        steps.push_back(makeStep(run, s, slices.startNs[starts[s]], slices.startNs[starts[s + 1]]));
    const std::size_t length = starts.back() - starts[starts.size() - 2];
    const std::size_t rest = slices.size() - starts.back();
    if (rest * 10 < length * 9)
        return steps;
    const std::size_t last = starts.back() + std::min(rest, length) - 1;
    const std::int64_t endNs = rest > length ? slices.startNs[last + 1] : slices.endNs(last);
    steps.push_back(makeStep(run, starts.size() - 1, slices.startNs[starts.back()], endNs));
    return steps;
}

std::optional<Step> wholeCapture(const Trace& trace, RunId run)
{
    std::int64_t startNs = INT64_MAX;
    std::int64_t endNs = INT64_MIN;
    for (const Track& track : trace.tracks) {
        if (track.run != run || track.kind != TrackKind::DeviceQueue)
            continue;
        for (std::size_t i = 0; i < track.slices.size(); ++i) {
            startNs = std::min(startNs, track.slices.startNs[i]);
            endNs = std::max(endNs, track.slices.endNs(i));
        }
    }
    if (startNs >= endNs)
        return std::nullopt;
    return makeStep(run, 0, startNs, endNs);
}

}  // namespace

void findSteps(Trace& trace, RunId run)
{
    const TrackId queue = busiestQueue(trace, run);
    if (!queue.valid())
        return;
    const SliceColumns& slices = trace.track(queue).slices;
    std::vector<Step> steps;
    std::string how;
    if (const std::optional<Candidate> period = bestPeriod(trace, slices)) {
        steps = stepsAt(run, slices, period->starts);
        how = fmt::format("{} steps by the period of the kernel sequence, {:.0f}% sure; the file marks none",
                          steps.size(), 100 * period->confidence);
    } else if (const std::optional<Step> whole = wholeCapture(trace, run)) {
        steps = {*whole};
        how = "the whole capture taken as one step: the file marks no steps and the kernel sequence has no period";
    }
    if (steps.empty())
        return;
    const auto place = std::find_if(trace.steps.begin(), trace.steps.end(), [&](const Step& s) { return s.run > run; });
    trace.steps.insert(place, steps.begin(), steps.end());
    trace.diagnostics.push_back({run, "steps", Severity::Info, steps.size(), std::move(how)});
}

}  // namespace fp8scope::analysis
