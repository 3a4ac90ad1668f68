// SPDX-License-Identifier: Apache-2.0
#include "app/open/open_trace.h"

#include "app/analysis/attribute.h"
#include "app/analysis/classify/classify.h"
#include "app/open/rule_files.h"
#include "collector/import/import.h"

#include <system_error>

namespace fp8scope::open {
namespace {

/// By content; a file that says by its name that it is ours is read as ours, so that its damage is explained.
bool isOwnTrace(const std::filesystem::path& file)
{
    std::error_code error;
    if (!std::filesystem::exists(file, error))
        return true;
    if (std::filesystem::is_directory(file, error))
        return false;
    return file.extension() == ".fp8trace" || import::recognize(file).kind == import::FileKind::Fp8scopeTrace;
}

Trace importTrace(std::span<const std::filesystem::path> files, const OpenOptions& options)
{
    import::ImportOptions importing{.stop = options.stop, .threads = options.threads};
    if (options.onProgress) {
        importing.onProgress = [&](const import::ImportProgress& p) { options.onProgress({p.stage, p.done, p.total}); };
    }
    const analysis::KernelClassifier classifier = classifierOf(options.rules);  // a broken rule file is told at once
    try {
        Trace trace = import::importFiles(files, importing);
        if (options.onProgress)
            options.onProgress({"classifying", 0, 0});
        analysis::classify(trace, classifier);
        analysis::attribute(trace);
        if (options.stop.stop_requested())
            throw LoadCancelled{};
        return trace;
    } catch (const import::ImportCancelled&) {
        throw LoadCancelled{};
    }
}

}  // namespace

Trace openTrace(std::span<const std::filesystem::path> files, const OpenOptions& options)
{
    if (files.size() == 1 && isOwnTrace(files[0]))
        return loadTrace(files[0], options);
    return importTrace(files, options);
}

Trace openTrace(const std::filesystem::path& file, const OpenOptions& options)
{
    return openTrace(std::span(&file, 1), options);
}

}  // namespace fp8scope::open
