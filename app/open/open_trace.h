// SPDX-License-Identifier: Apache-2.0
// A file, whatever it is, as a trace ready for questions: what every subcommand and the app open files with.
#pragma once

#include "collector/trace/trace_reader.h"

#include <filesystem>
#include <span>
#include <vector>

namespace fp8scope::open {

/// Progress stages are loadTrace's, and of files of other tools "reading" (in bytes), "exporting with nsys",
/// "attributing" and "classifying".
struct OpenOptions : LoadOptions {
    std::vector<std::filesystem::path> rules;  ///< of a user, tried before the usual ones (open::classifierOf)
};

/// A trace of fp8scope, or anything that import::importFiles takes: one file, a folder, an archive, or several files as
/// the ranks of one job. Kernels of other tools' files get their roles by the rules, and steps and layers that the file
/// does not say by analysis::attribute; so do kernels of our own traces that were recorded without a role. Throws
/// Error, naming file, place and mend; LoadCancelled once `stop` is requested.
[[nodiscard]] Trace openTrace(std::span<const std::filesystem::path> files, const OpenOptions& options = {});
[[nodiscard]] Trace openTrace(const std::filesystem::path& file, const OpenOptions& options = {});

}  // namespace fp8scope::open
