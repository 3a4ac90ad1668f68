// SPDX-License-Identifier: Apache-2.0
// The answer in a sentence: is fp8 faster here, what did it save, and what took it back.
#include "app/analysis/overview_parts.h"
#include "app/analysis/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace fp8scope::analysis {
namespace {

/// "fp8" beside "fp8-fused" reads as plain and fused fp8; other modes keep their names.
std::string spoken(const std::string& mode, const std::vector<SpeedupAccount>& accounts)
{
    if (mode == "fp8-fused")
        return "fused fp8";
    const bool isPlain = mode == "fp8" && std::any_of(accounts.begin(), accounts.end(), [](const SpeedupAccount& a) {
                             return a.toMode != "fp8" && a.toMode.starts_with("fp8");
                         });
    return isPlain ? "plain fp8" : mode;
}

std::string atSentenceStart(std::string text)
{
    if (text.starts_with("plain") || text.starts_with("fused"))  // a mode's own name keeps its spelling
        text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text;
}

std::string_view costPhrase(std::string_view bar)
{
    if (bar == bars::kBias)
        return "separate bias kernels";
    if (bar == bars::kBiasGradient)
        return "bias gradients";
    if (bar == bars::kUnknown)
        return "unknown kernels";
    return bar;
}

struct Costs {
    std::string what;
    std::int64_t ns = 0;
    int count = 0;
};

/// The two largest costs outside the GEMMs; the second only where it is at least a tenth of the first.
Costs largestCosts(const SpeedupAccount& account)
{
    std::vector<const AccountBar*> found;
    for (const AccountBar& bar : account.bars) {
        const bool ofGemms =
            bar.name == bars::kIdealGemms || bar.name == bars::kGemmEfficiency || bar.name == bars::kLeftInSixteenBit;
        if (!ofGemms && bar.deltaNs > 0)
            found.push_back(&bar);
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const AccountBar* a, const AccountBar* b) { return a->deltaNs > b->deltaNs; });
    Costs costs;
    for (const AccountBar* bar : found) {
        if (costs.count == 2 || (costs.count == 1 && bar->deltaNs * 10 < costs.ns))
            break;
        costs.what += (costs.count == 0 ? "" : " and ") + std::string(costPhrase(bar->name));
        costs.ns += bar->deltaNs;
        ++costs.count;
    }
    return costs;
}

void sayWhy(const SpeedupAccount& account, Sentence& sentence)
{
    const std::int64_t gemms = account.gemmDeltaNs();
    const Costs costs = largestCosts(account);
    const bool slower = account.toNs > account.fromNs && !account.withinNoise;
    std::string before;
    if (gemms < 0)
        before = fmt::format(": its GEMMs save {}", formatTime(-gemms));
    else if (gemms > 0)
        before = fmt::format(": its GEMMs take {} more", formatTime(gemms));
    if (costs.count == 0) {
        sentence.add(before + ". ");
        return;
    }
    sentence.add(before.empty() ? ": " : before + (slower && gemms < 0 ? ", but " : ", and "));
    const bool plural = costs.count > 1 || costs.what.ends_with("s");
    const std::string_view verb = gemms >= 0 || slower ? (plural ? "cost" : "costs") : (plural ? "give" : "gives");
    sentence.add(
        fmt::format("{} {} {}{}", costs.what, verb, formatTime(costs.ns), verb.starts_with("give") ? " back" : ""),
        Tone::Cost);
    sentence.add(". ");
}

/// "Plain fp8 is no faster than bf16 here (100 ms a step each): its GEMMs save 32 ms, and quantization gives 26 ms
/// back."
void sayFirst(const SpeedupAccount& account, const std::vector<SpeedupAccount>& all, Sentence& sentence)
{
    sentence.add(fmt::format("{} is ", atSentenceStart(spoken(account.toMode, all))));
    if (account.withinNoise) {
        sentence.add("no faster", Tone::Bad);
        sentence.add(fmt::format(" than {} here ({} against {} a step, within noise)", account.fromMode,
                                 formatTime(account.toNs), formatTime(account.fromNs)));
    } else if (account.toNs >= account.fromNs) {
        sentence.add(fmt::format("{:.2f}× slower", 1 / account.speedup), Tone::Bad);
        sentence.add(fmt::format(" than {} here ({} against {} a step)", account.fromMode, formatTime(account.toNs),
                                 formatTime(account.fromNs)));
    } else {
        sentence.add(fmt::format("{:.2f}× faster", account.speedup), Tone::Good);
        sentence.add(fmt::format(" than {} ({} against {} a step)", account.fromMode, formatTime(account.toNs),
                                 formatTime(account.fromNs)));
    }
    sayWhy(account, sentence);
}

/// "Fused fp8 takes 64.5 ms, 1.55× faster."
void sayBest(const SpeedupAccount& best, const SpeedupAccount& first, const std::vector<SpeedupAccount>& all,
             Sentence& sentence)
{
    sentence.add(fmt::format("{} takes {}, ", atSentenceStart(spoken(best.toMode, all)), formatTime(best.toNs)));
    if (best.withinNoise)
        sentence.add(fmt::format("as long as {}", best.fromMode));
    else if (best.speedup > 1)
        sentence.add(fmt::format("{:.2f}× faster", best.speedup), Tone::Good);
    else
        sentence.add(fmt::format("{:.2f}× slower", 1 / best.speedup), Tone::Bad);
    if (best.speedup <= 1 && best.toNs < first.toNs) {
        sentence.add(": fusion saves ");
        sentence.add(formatTime(first.toNs - best.toNs), Tone::Good);
    }
    sentence.add(".");
}

/// "A bf16 step takes 64.5 ms: 73% GEMM 16-bit, 12% Optimizer, 8% Bias."
void sayOneRun(const Breakdown& run, Sentence& sentence)
{
    std::vector<Family> families;
    for (int f = 0; f < kFamilyCount; ++f) {
        if (run[static_cast<Family>(f)].exposedNs > 0)
            families.push_back(static_cast<Family>(f));
    }
    std::stable_sort(families.begin(), families.end(),
                     [&](Family a, Family b) { return run[a].exposedNs > run[b].exposedNs; });
    families.resize(std::min<std::size_t>(families.size(), 3));
    sentence.add(run.origin == Origin::Imported
                     ? fmt::format("A step of {} takes {}: ", run.mode, formatTime(run.stepNs))
                     : fmt::format("A {} step takes {}: ", run.mode, formatTime(run.stepNs)));
    for (std::size_t i = 0; i < families.size(); ++i) {
        const double share = static_cast<double>(run[families[i]].exposedNs) / static_cast<double>(run.stepNs);
        sentence.add(fmt::format("{}{:.0f}% {}", i == 0 ? "" : ", ", 100 * share, toString(families[i])),
                     families[i] == Family::Quantization ? Tone::Cost : Tone::Plain);
    }
    sentence.add(".");
}

bool hasDeviceWork(const Trace& trace)
{
    return std::any_of(trace.tracks.begin(), trace.tracks.end(), [](const Track& track) {
        return track.kind == TrackKind::DeviceQueue && track.slices.size() > 0;
    });
}

/// Why an imported trace shows nothing on a device, as far as the profiler told.
void sayNothingRan(const Trace& trace, Sentence& sentence)
{
    sentence.add("Nothing ran on a GPU in this trace");
    std::string reason = ": only CPU work was recorded.";
    const auto explained = std::find_if(trace.diagnostics.begin(), trace.diagnostics.end(),
                                        [](const Diagnostic& d) { return d.name == "no_gpu_work"; });
    if (explained != trace.diagnostics.end()) {
        sentence.add(": " + explained->text);
        return;
    }
    for (const Diagnostic& d : trace.diagnostics) {
        const bool told = d.severity != Severity::Info || d.name == "profiler_log";
        if (told && !d.text.empty()) {
            reason = ". The profiler says: " + d.text.substr(0, d.text.find('\n'));
            break;
        }
    }
    sentence.add(reason);
}

const SpeedupAccount& plainAccount(const std::vector<SpeedupAccount>& accounts)
{
    const auto plain =
        std::find_if(accounts.begin(), accounts.end(), [](const SpeedupAccount& a) { return a.toMode == "fp8"; });
    return plain == accounts.end() ? accounts.front() : *plain;
}

}  // namespace

std::vector<TextSpan> headline(const Trace& trace, const std::vector<Breakdown>& runs,
                               const std::vector<SpeedupAccount>& accounts)
{
    Sentence sentence;
    const Breakdown* focus = focusRun(runs);
    const bool imported = !trace.runs.empty() && trace.runs.front().origin == Origin::Imported;
    if (imported && !hasDeviceWork(trace)) {
        sayNothingRan(trace, sentence);
        return std::move(sentence).spans();
    }
    if (focus == nullptr) {
        sentence.add(trace.runs.empty() ? "This trace holds no run."
                                        : "No step after warm-up was finished, so no time can be given.");
        return std::move(sentence).spans();
    }
    if (accounts.empty()) {
        sayOneRun(*focus, sentence);
        if (areRanks(runs))
            sentence.add(" " + compareRanks(trace, runs).verdict);
        return std::move(sentence).spans();
    }
    const SpeedupAccount& first = plainAccount(accounts);
    const auto best =
        std::min_element(accounts.begin(), accounts.end(),
                         [](const SpeedupAccount& a, const SpeedupAccount& b) { return a.toNs < b.toNs; });
    sayFirst(first, accounts, sentence);
    if (best->to != first.to)
        sayBest(*best, first, accounts, sentence);
    return std::move(sentence).spans();
}

std::vector<TextSpan> deviceNote(const Trace& trace, const std::vector<Breakdown>& runs)
{
    for (const Breakdown& run : runs) {
        const Device* device = deviceOf(trace, run.run);
        if (isSixteenBit(run) || run.stepNs == 0 || device == nullptr || device->hasFp8)
            continue;
        return {{fmt::format("This {} has no FP8 units: fp8 cannot be faster here; shown is what quantization costs "
                             "and what fusion "
                             "saves.",
                             device->kind == "cpu" ? "CPU" : "GPU"),
                 Tone::Plain}};
    }
    return {};
}

}  // namespace fp8scope::analysis
