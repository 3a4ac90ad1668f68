// SPDX-License-Identifier: GPL-3.0-or-later
// Opens traces on a worker thread: progress, cancel, and a later open that supersedes an earlier one.
#pragma once

#include "app/gui/context.h"
#include "collector/trace/trace_reader.h"

#include <QObject>
#include <QString>

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace fp8scope::gui {

/// Why a file could not be opened, in the words of fp8scope::Error.
struct LoadFailure {
    QString path;
    QString problem;
    QString where;
    QString mend;
};

/// Lives on the GUI thread; its signals are emitted there. Each open() gets a generation number, and what an older
/// generation still reports is dropped, so a slow first file can never replace a quick second one.
class TraceLoader : public QObject {
    Q_OBJECT
public:
    /// Runs on the worker. Throws fp8scope::Error, or LoadCancelled once `options.stop` is requested.
    using LoadFunction =
        std::function<std::shared_ptr<const LoadedTrace>(const QString& path, const LoadOptions& options)>;

    explicit TraceLoader(QObject* parent = nullptr);
    /// With another load function than readAndAnalyse (tests).
    TraceLoader(LoadFunction load, QObject* parent);
    ~TraceLoader() override;  ///< Stops the workers and waits for them.

    void open(const QString& path);
    /// Stops the open under way, if any. cancelled() follows at once, also where the worker takes longer to stop.
    void cancel();
    [[nodiscard]] bool busy() const { return m_busy; }
    [[nodiscard]] const QString& path() const { return m_path; }

signals:
    void started(const QString& path);
    /// `stage` in words; `percent` of the whole, never falling.
    void progressed(const QString& stage, int percent);
    void loaded(const std::shared_ptr<const fp8scope::gui::LoadedTrace>& loaded);
    void failed(const fp8scope::gui::LoadFailure& failure);
    void cancelled(const QString& path);

private:
    void run(std::uint64_t generation, const QString& path, std::stop_token stop);
    void post(std::uint64_t generation, std::function<void()> then);
    void reportProgress(const LoadProgress& progress);
    void retireCurrent();
    void joinRetired(std::thread::id id);

    LoadFunction m_load;
    std::uint64_t m_generation = 0;
    bool m_busy = false;
    int m_percent = 0;
    QString m_path;
    std::jthread m_worker;
    std::vector<std::jthread> m_retired;  ///< asked to stop, perhaps still running; joined as they end
};

/// What the app does with a path, of a trace of any tool: open::openTrace, then the overview.
[[nodiscard]] std::shared_ptr<const LoadedTrace> readAndAnalyse(const QString& path, const LoadOptions& options);

}  // namespace fp8scope::gui
