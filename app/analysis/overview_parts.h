// SPDX-License-Identifier: Apache-2.0
// The parts of the overview, one file each; used by overview() only.
#pragma once

#include "app/analysis/overview.h"

#include <string>
#include <utility>
#include <vector>

namespace fp8scope::analysis {

/// Builds a sentence of spans.
class Sentence {
public:
    Sentence& add(std::string text, Tone tone = Tone::Plain)
    {
        m_spans.push_back({std::move(text), tone});
        return *this;
    }
    [[nodiscard]] std::vector<TextSpan> spans() && { return std::move(m_spans); }

private:
    std::vector<TextSpan> m_spans;
};

[[nodiscard]] std::vector<TextSpan> headline(const Trace&, const std::vector<Breakdown>&,
                                             const std::vector<SpeedupAccount>&);
/// "This CPU has no FP8 units: ..." where an fp8 mode ran on such a device; else empty.
[[nodiscard]] std::vector<TextSpan> deviceNote(const Trace&, const std::vector<Breakdown>&);
[[nodiscard]] std::vector<Figure> figures(const Trace&, const std::vector<Breakdown>&,
                                          const std::vector<SpeedupAccount>&);
[[nodiscard]] Honesty honesty(const Trace&, const std::vector<Breakdown>&);

}  // namespace fp8scope::analysis
