// SPDX-License-Identifier: Apache-2.0
#include "collector/export/export.h"

#include "collector/export/chrome_json.h"
#include "collector/export/csv.h"
#include "collector/export/nsys_sqlite.h"

namespace fp8scope::exporter {

void exportTrace(const Trace& trace, Format format, const std::filesystem::path& path, const ExportOptions& options)
{
    std::vector<bool> wanted(trace.runs.size(), options.runs.empty());
    for (const RunId run : options.runs)
        wanted[run.value] = true;
    ExportOptions decided = options;
    if (!decided.kindOf)
        decided.kindOf = [&trace](OpId, NameId id) {
            const Name& name = trace.name(id);
            return WorkKind{name.role, familyOf(name.role, name.precision)};
        };
    if (format == Format::NsysSqlite)
        return writeNsysSqlite(trace, wanted, options.writer, path);
    OutputFile out(path);
    if (format == Format::ChromeJson)
        writeChromeJson(trace, wanted, decided, out);
    else
        writeCsv(trace, wanted, decided, out);
    out.close();
}

}  // namespace fp8scope::exporter
