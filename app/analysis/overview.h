// SPDX-License-Identifier: Apache-2.0
// The answer first: what a trace says, in a sentence, in figures and in notes on its honesty. Used by command, app and
// report.
#pragma once

#include "app/analysis/ablation.h"
#include "app/analysis/account.h"
#include "app/analysis/advise.h"
#include "app/analysis/breakdown.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fp8scope::analysis {

enum class Tone : std::uint8_t { Plain, Good, Bad, Cost };

/// A piece of a sentence; the tone decides its colour where there are colours.
struct TextSpan {
    std::string text;
    Tone tone = Tone::Plain;
};
[[nodiscard]] std::string plainText(const std::vector<TextSpan>&);

/// A card: "Step, fp8-fused", "64.5 ms", "64.1 to 64.9 ms; bf16 100.0 ms".
struct Figure {
    std::string label, value, detail;
    std::string howComputed;  ///< the tooltip
};

/// Per run: origin, steps used and dropped, share classified, losses: what a reader must know to trust the figures.
struct Honesty {
    Origin origin = Origin::MeasuredCpu;
    std::string steps;       ///< "steps 4 to 40 of 40, first 3 warm-up"
    std::string statistic;   ///< "median, 95% interval"
    std::string classified;  ///< "classified 100% (engine ops)"
    std::string framework;   ///< "Transformer Engine, delayed scaling (certain)"; empty for the engine's own runs
    std::string losses;      ///< "no records lost"
    bool lossy = false;
};

struct Overview {
    std::vector<TextSpan> headline;
    std::vector<TextSpan>
        note;  ///< a second sentence where one is due ("this CPU has no FP8 units: ..."); may be empty
    std::vector<Figure> figures;
    Honesty honesty;
    std::vector<Breakdown> runs;
    std::vector<SpeedupAccount> accounts;
    std::optional<Ablation> ablation;               ///< of a file that holds one
    std::optional<SpeedupAccount> ablationAccount;  ///< the same as a waterfall
    std::vector<Finding> findings;
};

/// "61.0% by op, 20.2% by operand types, 11.9% by name, 6.9% unknown": shares of a step's busy device time.
[[nodiscard]] std::string classifiedBy(const Breakdown&);

/// Everything that the first page shows, computed once.
[[nodiscard]] Overview overview(const Trace&, StepLimit = {});

/// Times, rates and bytes as people read them: "64.5 ms", "1.21 TFLOP/s", "1.9 GB". One place for all programs.
[[nodiscard]] std::string formatTime(std::int64_t ns);
/// In a fixed unit ("ns", "us", "ms", "s"; "auto" as formatTime).
[[nodiscard]] std::string formatTime(std::int64_t ns, std::string_view unit);
[[nodiscard]] std::string formatFlops(double flopsPerSecond);
[[nodiscard]] std::string formatBandwidth(double bytesPerSecond);
[[nodiscard]] std::string formatBytes(std::uint64_t bytes);
[[nodiscard]] std::string formatPercent(double share);

}  // namespace fp8scope::analysis
