// SPDX-License-Identifier: Apache-2.0
#include "app/open/open_trace.h"

#include "app/analysis/attribute.h"
#include "app/analysis/classify/classify.h"
#include "app/open/rule_files.h"
#include "collector/import/import.h"

#include <algorithm>
#include <system_error>
#include <utility>

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

bool isDeviceWork(const Name& name)
{
    return name.kind == NameKind::Kernel || name.kind == NameKind::Memcpy || name.kind == NameKind::Memset ||
           name.kind == NameKind::Sync;
}

/// Roles for kernels that came without one; a user's rules also judge anew what was judged when the file was imported.
void classifyLoaded(Trace& trace, const OpenOptions& options)
{
    const bool imported = std::all_of(trace.runs.begin(), trace.runs.end(),
                                      [](const Run& run) { return run.origin == Origin::Imported; });
    bool unknown = false;
    for (Name& name : trace.names) {
        if (!isDeviceWork(name))
            continue;
        if (imported && !options.rules.empty())
            name = Name{.text = std::move(name.text), .kind = name.kind};
        unknown = unknown || name.role == Role::Other;
    }
    if (unknown || !options.rules.empty())
        analysis::classify(trace, classifierOf(options.rules));
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
    if (files.size() == 1 && isOwnTrace(files[0])) {
        Trace trace = loadTrace(files[0], options);
        classifyLoaded(trace, options);
        return trace;
    }
    return importTrace(files, options);
}

Trace openTrace(const std::filesystem::path& file, const OpenOptions& options)
{
    return openTrace(std::span(&file, 1), options);
}

}  // namespace fp8scope::open
