// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/trace_loader.h"

#include "app/gui/text.h"
#include "app/open/open_trace.h"
#include "collector/trace/error.h"

#include <QFile>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <new>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

namespace {

constexpr auto kProgressPeriod = std::chrono::milliseconds(40);
constexpr int kPercentRead = 85;  // the rest is the questions that the overview asks

/// The stage's words and where it ends, in percent of the whole.
struct Stage {
    const char* name;
    const char* words;
    int from, to;
};
constexpr Stage kStages[] = {
    {"reading", QT_TRANSLATE_NOOP("fp8scope::gui::TraceLoader", "Reading the file"), 0, 65},
    {"exporting with nsys", QT_TRANSLATE_NOOP("fp8scope::gui::TraceLoader", "Having nsys export the report"), 0, 5},
    {"attributing", QT_TRANSLATE_NOOP("fp8scope::gui::TraceLoader", "Finding what launched each kernel"), 65, 75},
    {"classifying", QT_TRANSLATE_NOOP("fp8scope::gui::TraceLoader", "Finding what each kernel does"), 75, kPercentRead},
    {"tables", QT_TRANSLATE_NOOP("fp8scope::gui::TraceLoader", "Reading the tables"), 0, 5},
    {"slices", QT_TRANSLATE_NOOP("fp8scope::gui::TraceLoader", "Reading the slices"), 5, 75},
    {"lanes", QT_TRANSLATE_NOOP("fp8scope::gui::TraceLoader", "Laying out overlapping slices"), 75, kPercentRead},
    {"questions", QT_TRANSLATE_NOOP("fp8scope::gui::TraceLoader", "Asking where the time went"), kPercentRead, 100},
};

LoadFailure failureFrom(const QString& path, const Error& error)
{
    return {path, toQt(error.problem()), toQt(error.where()), toQt(error.mend())};
}

}  // namespace

std::shared_ptr<const LoadedTrace> readAndAnalyse(const QString& path, const LoadOptions& options)
{
    auto loaded = std::make_shared<LoadedTrace>();
    loaded->path = path;
    open::OpenOptions opening;
    static_cast<LoadOptions&>(opening) = options;
    loaded->trace = open::openTrace(std::filesystem::path(QFile::encodeName(path).toStdString()), opening);
    if (options.onProgress)
        options.onProgress({"questions", 0, 1});
    loaded->overview = analysis::overview(loaded->trace);
    if (options.stop.stop_requested())
        throw LoadCancelled{};
    return loaded;
}

TraceLoader::TraceLoader(QObject* parent) : TraceLoader(readAndAnalyse, parent) {}

TraceLoader::TraceLoader(LoadFunction load, QObject* parent) : QObject(parent), m_load(std::move(load)) {}

TraceLoader::~TraceLoader() { retireCurrent(); }

void TraceLoader::open(const QString& path)
{
    retireCurrent();
    const std::uint64_t generation = ++m_generation;
    m_busy = true;
    m_percent = 0;
    m_path = path;
    emit started(path);
    m_worker = std::jthread([this, generation, path](std::stop_token stop) {
        run(generation, path, stop);
        QMetaObject::invokeMethod(
            this, [this, id = std::this_thread::get_id()] { joinRetired(id); }, Qt::QueuedConnection);
    });
}

void TraceLoader::cancel()
{
    if (!m_busy)
        return;
    retireCurrent();
    ++m_generation;
    m_busy = false;
    emit cancelled(m_path);
}

void TraceLoader::retireCurrent()
{
    if (!m_worker.joinable())
        return;
    m_worker.request_stop();
    if (m_busy)
        m_retired.push_back(std::move(m_worker));  // joining here would freeze the window until it notices
    else
        m_worker.join();
}

void TraceLoader::joinRetired(std::thread::id id)
{
    std::erase_if(m_retired, [id](const std::jthread& thread) { return thread.get_id() == id; });
}

void TraceLoader::run(std::uint64_t generation, const QString& path, std::stop_token stop)
{
    LoadOptions options;
    options.stop = stop;
    auto lastReport = std::chrono::steady_clock::time_point{};
    std::string lastStage;
    options.onProgress = [&, generation](const LoadProgress& progress) {
        const auto now = std::chrono::steady_clock::now();
        if (progress.stage == lastStage && now - lastReport < kProgressPeriod)
            return;
        lastReport = now;
        lastStage = progress.stage;
        post(generation, [this, progress] { reportProgress(progress); });
    };
    const auto fail = [&](LoadFailure failure) {
        post(generation, [this, failure = std::move(failure)] {
            m_busy = false;
            emit failed(failure);
        });
    };
    try {
        auto result = m_load(path, options);
        post(generation, [this, result = std::move(result)] {
            m_busy = false;
            emit loaded(result);
        });
    } catch (const LoadCancelled&) {
        // cancel() or the next open() has told the window already
    } catch (const Error& error) {
        fail(failureFrom(path, error));
    } catch (const std::bad_alloc&) {
        fail({path, tr("not enough memory for this trace"), path, tr("close other programs, or record fewer steps")});
    } catch (const std::exception& error) {
        fail({path, QString::fromUtf8(error.what()), path, tr("please report this file as a bug of fp8scope")});
    }
}

void TraceLoader::post(std::uint64_t generation, std::function<void()> then)
{
    QMetaObject::invokeMethod(
        this,
        [this, generation, then = std::move(then)] {
            if (generation == m_generation)
                then();
        },
        Qt::QueuedConnection);
}

void TraceLoader::reportProgress(const LoadProgress& progress)
{
    const auto stage =
        std::find_if(std::begin(kStages), std::end(kStages), [&](const Stage& s) { return progress.stage == s.name; });
    if (stage == std::end(kStages))
        return;
    const double share = progress.total > 0
                             ? std::min(1.0, static_cast<double>(progress.done) / static_cast<double>(progress.total))
                             : 0.0;
    m_percent = std::max(m_percent, stage->from + static_cast<int>(share * (stage->to - stage->from)));
    emit progressed(tr(stage->words), m_percent);
}

}  // namespace fp8scope::gui
