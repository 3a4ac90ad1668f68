// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/doors.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <string>

namespace fp8scope::gui {

namespace {

using analysis::Breakdown;

const Step* typicalStep(const Breakdown& run)
{
    const auto distance = [&](const Step& s) { return std::abs(s.durNs - run.steps.medianNs); };
    const auto nearest = std::min_element(run.steps.used.begin(), run.steps.used.end(),
                                          [&](const Step& a, const Step& b) { return distance(a) < distance(b); });
    return nearest == run.steps.used.end() ? nullptr : &*nearest;
}

/// Calls visit(track id, slice index) for the slices of the run's queues that start inside the step.
template <typename Visit>
void forEachSliceOf(const Trace& trace, const Step& step, Visit visit)
{
    for (std::uint32_t t = 0; t < trace.tracks.size(); ++t) {
        const Track& track = trace.tracks[t];
        if (track.run != step.run || track.kind != TrackKind::DeviceQueue)
            continue;
        const auto& starts = track.slices.startNs;
        auto from = std::lower_bound(starts.begin(), starts.end(), step.startNs);
        for (; from != starts.end() && *from < step.startNs + step.durNs; ++from)
            visit(TrackId(t), static_cast<std::uint32_t>(from - starts.begin()));
    }
}

std::optional<TimeSpan> longestGap(const Trace& trace, const Step& step)
{
    std::vector<TimeSpan> busy;
    forEachSliceOf(trace, step, [&](TrackId t, std::uint32_t i) {
        const SliceColumns& slices = trace.track(t).slices;
        busy.push_back({slices.startNs[i], slices.endNs(i)});
    });
    std::sort(busy.begin(), busy.end(), [](const TimeSpan& a, const TimeSpan& b) { return a.startNs < b.startNs; });
    busy.push_back({step.startNs + step.durNs, step.startNs + step.durNs});
    TimeSpan longest;
    std::int64_t covered = step.startNs;
    for (const TimeSpan& span : busy) {
        if (span.startNs - covered > longest.endNs - longest.startNs)
            longest = {covered, span.startNs};
        covered = std::max(covered, span.endNs);
    }
    return longest.endNs > longest.startNs ? std::optional(longest) : std::nullopt;
}

std::string lowered(std::string_view text)
{
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return result;
}

/// The run that a label speaks of: the longest mode that it holds, else the last run that spends time in `family`.
RunId runOfLabel(const LoadedTrace& loaded, std::string_view label, Family family)
{
    const Breakdown* best = nullptr;
    for (const Breakdown& run : loaded.overview.runs)
        if (label.find(run.mode) != std::string_view::npos && (!best || run.mode.size() > best->mode.size()))
            best = &run;
    if (best)
        return best->run;
    for (const Breakdown& run : loaded.overview.runs)
        if (run[family].exposedNs > 0)
            best = &run;
    if (best)
        return best->run;
    return loaded.overview.runs.empty() ? RunId::none() : loaded.overview.runs.back().run;
}

Door doorToSlice(const Trace& trace, SliceRef ref)
{
    const Track& track = trace.track(ref.track);
    Door door;
    door.selection.run = track.run;
    door.selection.slice = ref;
    door.selection.name = track.slices.name[ref.index];
    door.selection.op = track.slices.op[ref.index];
    if (door.selection.op.valid())
        door.selection.layer = trace.op(door.selection.op).layer;
    return door;
}

}  // namespace

const Breakdown* breakdownOf(const analysis::Overview& overview, RunId run)
{
    const auto found =
        std::find_if(overview.runs.begin(), overview.runs.end(), [run](const Breakdown& b) { return b.run == run; });
    return found == overview.runs.end() ? nullptr : &*found;
}

Door doorToKernel(RunId run, const analysis::KernelTime& kernel)
{
    Door door;
    door.selection.run = run;
    door.selection.slice = kernel.slowest;
    door.selection.name = kernel.name;
    door.selection.op = kernel.op;
    door.selection.family = kernel.family;
    return door;
}

Door doorToFamily(const LoadedTrace& loaded, RunId run, Family family)
{
    const Breakdown* breakdown = breakdownOf(loaded.overview, run);
    if (!breakdown)
        return {};
    Door door;
    door.selection.run = run;
    door.selection.family = family;
    if (family == Family::Idle) {
        if (const Step* step = typicalStep(*breakdown))
            door.range = longestGap(loaded.trace, *step);
        return door;
    }
    const auto kernel = std::find_if(breakdown->kernels.begin(), breakdown->kernels.end(),
                                     [family](const analysis::KernelTime& k) { return k.family == family; });
    if (kernel == breakdown->kernels.end())
        return {};
    door.selection.slice = kernel->slowest;
    return door;
}

Door doorToTypicalStep(const LoadedTrace& loaded, RunId run)
{
    const Breakdown* breakdown = breakdownOf(loaded.overview, run);
    const Step* step = breakdown ? typicalStep(*breakdown) : nullptr;
    if (!step)
        return {};
    return {{.run = run}, TimeSpan{step->startNs, step->startNs + step->durNs}};
}

Door doorToLayer(const LoadedTrace& loaded, RunId run, LayerId layer)
{
    const Breakdown* breakdown = breakdownOf(loaded.overview, run);
    const Step* step = breakdown ? typicalStep(*breakdown) : nullptr;
    if (!step || !layer.valid())
        return {};
    SliceRef longest;
    std::int64_t longestNs = -1;
    forEachSliceOf(loaded.trace, *step, [&](TrackId t, std::uint32_t i) {
        const SliceColumns& slices = loaded.trace.track(t).slices;
        const OpId op = slices.op[i];
        if (op.valid() && loaded.trace.op(op).layer == layer && slices.durNs[i] > longestNs) {
            longestNs = slices.durNs[i];
            longest = {t, i};
        }
    });
    Door door;
    if (longest.valid())
        door = doorToSlice(loaded.trace, longest);
    door.selection.run = run;
    door.selection.layer = layer;
    return door;
}

Door doorToEvidence(const LoadedTrace& loaded, RunId run, const analysis::Evidence& evidence)
{
    if (!evidence.slices.empty())
        return doorToSlice(loaded.trace, evidence.slices.front());
    return evidence.layer.valid() ? doorToLayer(loaded, run, evidence.layer) : Door{};
}

Door doorToFinding(const LoadedTrace& loaded, const analysis::Finding& finding)
{
    for (const analysis::Evidence& evidence : finding.evidence) {
        const Door door = doorToEvidence(loaded, finding.run, evidence);
        if (!door.empty())
            return door;
    }
    return doorToTypicalStep(loaded, finding.run);
}

std::optional<Family> familyOfBar(std::string_view barName)
{
    struct Word {
        std::string_view word;
        Family family;
    };
    // The first that matches counts: "quantization" before "gemm", as in "quantization of the GEMMs' operands".
    static constexpr std::array<Word, 13> kWords{{{"quantization", Family::Quantization},
                                                  {"bias", Family::Bias},
                                                  {"activation", Family::ActivationNorm},
                                                  {"attention", Family::Attention},
                                                  {"optimizer", Family::Optimizer},
                                                  {"communication", Family::Communication},
                                                  {"memory op", Family::MemoryOps},
                                                  {"gap", Family::Idle},
                                                  {"idle", Family::Idle},
                                                  {"16 bit", Family::Gemm16},
                                                  {"16-bit", Family::Gemm16},
                                                  {"gemm", Family::GemmFp8},
                                                  {"other compute", Family::OtherCompute}}};
    const std::string name = lowered(barName);
    for (const Word& word : kWords)
        if (name.find(word.word) != std::string::npos)
            return word.family;
    return std::nullopt;
}

Door doorToFigure(const LoadedTrace& loaded, const analysis::Figure& figure)
{
    const std::optional<Family> family = familyOfBar(figure.label);
    const RunId run = runOfLabel(loaded, figure.label, family.value_or(Family::GemmFp8));
    if (!family)
        return doorToTypicalStep(loaded, run);
    Door door = doorToFamily(loaded, run, *family);
    if (door.empty() && *family == Family::GemmFp8)  // a trace of 16-bit runs only
        door = doorToFamily(loaded, run, Family::Gemm16);
    return door.empty() ? doorToTypicalStep(loaded, run) : door;
}

void open(Context& context, const Door& door)
{
    if (door.empty())
        return;
    if (door.range)
        context.setRange(door.range);
    context.setSelection(door.selection);
    context.requestPage(Page::Timeline, true);
}

}  // namespace fp8scope::gui
