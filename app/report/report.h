// SPDX-License-Identifier: Apache-2.0
// A report as plain data, made once and written by several writers: the PDF (app), Markdown and HTML, and the app's
// page.
#pragma once

#include "app/analysis/overview.h"

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace fp8scope::report {

struct Heading {
    std::string text;
};
struct Paragraph {
    std::vector<analysis::TextSpan> spans;
};
struct Figures {
    std::vector<analysis::Figure> figures;
};
struct Table {
    std::string title;
    std::vector<std::string> columns;
    std::vector<bool> numeric;  ///< right-aligned
    std::vector<std::vector<std::string>> rows;
};
/// One horizontal stacked bar a run; nanoseconds by family.
struct FamilyBars {
    struct Bar {
        std::string mode;
        std::array<std::int64_t, kFamilyCount> ns{};
    };
    std::vector<Bar> bars;
};
struct Waterfall {
    analysis::SpeedupAccount account;
};
struct Advice {
    std::vector<analysis::Finding> findings;
};

using Block = std::variant<Heading, Paragraph, Figures, Table, FamilyBars, Waterfall, Advice>;

struct Report {
    std::string title;
    std::vector<std::pair<std::string, std::string>> facts;  ///< file, machine, origin, date, tool, steps
    std::string originLine;                                  ///< stands on every page: "times measured on a CPU"
    std::vector<Block> blocks;
};

/// `fileName` and `madeAt` (ISO date) are passed in: this part reads no clock and no file.
[[nodiscard]] Report buildReport(const Trace&, const analysis::Overview&, std::string fileName, std::string madeAt);

[[nodiscard]] std::string toMarkdown(const Report&);
[[nodiscard]] std::string toHtml(const Report&);

}  // namespace fp8scope::report
