// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/trace_loader.h"

#include "collector/trace/error.h"
#include "tests/app/gui/gui_fixture.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>

#include <gtest/gtest.h>

#include <mutex>
#include <semaphore>
#include <thread>

namespace fp8scope::gui {
namespace {

using test::waitFor;
using namespace Qt::StringLiterals;

/// Counts what a loader says, in the order that it says it.
struct Log {
    explicit Log(TraceLoader& loader)
    {
        QObject::connect(&loader, &TraceLoader::started, [this](const QString& p) { lines.append(u"started "_s + p); });
        QObject::connect(&loader, &TraceLoader::cancelled,
                         [this](const QString& p) { lines.append(u"cancelled "_s + p); });
        QObject::connect(&loader, &TraceLoader::failed,
                         [this](const LoadFailure& f) { lines.append(u"failed "_s + f.path + u": "_s + f.problem); });
        QObject::connect(&loader, &TraceLoader::loaded,
                         [this](const std::shared_ptr<const LoadedTrace>& t) { lines.append(u"loaded "_s + t->path); });
        QObject::connect(&loader, &TraceLoader::progressed, [this](const QString&, int p) { percents.append(p); });
    }
    QStringList lines;
    QList<int> percents;
};

std::shared_ptr<const LoadedTrace> emptyTrace(const QString& path)
{
    auto loaded = std::make_shared<LoadedTrace>();
    loaded->path = path;
    return loaded;
}

/// A load that reports `at` percent of the slices, then waits until it is let go or stopped.
struct HeldLoad {
    std::binary_semaphore go{0};
    std::uint64_t at = 0;
    TraceLoader::LoadFunction function()
    {
        return [this](const QString& path, const LoadOptions& options) {
            options.onProgress({"slices", at, 100});
            while (!go.try_acquire_for(std::chrono::milliseconds(1)))
                if (options.stop.stop_requested())
                    throw LoadCancelled{};
            return emptyTrace(path);
        };
    }
};

class CancelAt : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(CancelAt, TellsAtOnceAndNothingComesAfter)
{
    HeldLoad held;
    held.at = GetParam();
    TraceLoader loader(held.function(), nullptr);
    Log log(loader);
    loader.open(u"a"_s);
    ASSERT_TRUE(waitFor([&] { return !log.percents.isEmpty(); }));
    loader.cancel();
    EXPECT_FALSE(loader.busy());
    EXPECT_EQ(log.lines, (QStringList{u"started a"_s, u"cancelled a"_s}));
    held.go.release();
    loader.open(u"b"_s);
    held.go.release();
    ASSERT_TRUE(waitFor([&] { return !loader.busy(); }));
    EXPECT_EQ(log.lines.mid(2), (QStringList{u"started b"_s, u"loaded b"_s}));
}

INSTANTIATE_TEST_SUITE_P(Percent, CancelAt, ::testing::Values(0, 50, 99));

TEST(TraceLoaderTest, ASecondOpenSupersedesTheFirstAlthoughItEndsLater)
{
    std::binary_semaphore slow{0};
    TraceLoader loader(
        [&](const QString& path, const LoadOptions&) {
            if (path == u"slow"_s)
                slow.acquire();  // deaf to the stop, as a long question is
            return emptyTrace(path);
        },
        nullptr);
    Log log(loader);
    loader.open(u"slow"_s);
    loader.open(u"quick"_s);
    ASSERT_TRUE(waitFor([&] { return !loader.busy(); }));
    slow.release();
    QCoreApplication::processEvents();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    QCoreApplication::processEvents();
    EXPECT_EQ(log.lines, (QStringList{u"started slow"_s, u"started quick"_s, u"loaded quick"_s}));
}

TEST(TraceLoaderTest, ProgressNeverFallsAndNamesTheStage)
{
    TraceLoader loader(
        [](const QString& path, const LoadOptions& options) {
            options.onProgress({"tables", 0, 10});
            options.onProgress({"slices", 0, 10});
            options.onProgress({"lanes", 0, 10});
            options.onProgress({"slices", 1, 10});
            options.onProgress({"questions", 0, 1});
            return emptyTrace(path);
        },
        nullptr);
    Log log(loader);
    QStringList stages;
    QObject::connect(&loader, &TraceLoader::progressed, [&](const QString& stage, int) { stages.append(stage); });
    loader.open(u"a"_s);
    ASSERT_TRUE(waitFor([&] { return !loader.busy(); }));
    EXPECT_TRUE(std::is_sorted(log.percents.begin(), log.percents.end()));
    EXPECT_EQ(stages.first(), u"Reading the tables"_s);
    EXPECT_EQ(stages.last(), u"Asking where the time went"_s);
}

TEST(TraceLoaderTest, AnErrorArrivesInItsThreeParts)
{
    TraceLoader loader(
        [](const QString&, const LoadOptions&) -> std::shared_ptr<const LoadedTrace> {
            throw Error("is newer", "a.fp8trace", "update fp8scope");
        },
        nullptr);
    QString problem, where, mend;
    QObject::connect(&loader, &TraceLoader::failed, [&](const LoadFailure& failure) {
        problem = failure.problem;
        where = failure.where;
        mend = failure.mend;
    });
    loader.open(u"a.fp8trace"_s);
    ASSERT_TRUE(waitFor([&] { return !loader.busy(); }));
    EXPECT_EQ(problem, u"is newer"_s);
    EXPECT_EQ(where, u"a.fp8trace"_s);
    EXPECT_EQ(mend, u"update fp8scope"_s);
}

TEST(TraceLoaderTest, AnUnforeseenExceptionAndLackOfMemoryAreToldToo)
{
    int turn = 0;
    TraceLoader loader(
        [&](const QString&, const LoadOptions&) -> std::shared_ptr<const LoadedTrace> {
            if (turn++ == 0)
                throw std::bad_alloc();
            throw std::logic_error("odd");
        },
        nullptr);
    Log log(loader);
    loader.open(u"a"_s);
    ASSERT_TRUE(waitFor([&] { return !loader.busy(); }));
    loader.open(u"a"_s);
    ASSERT_TRUE(waitFor([&] { return !loader.busy(); }));
    EXPECT_EQ(log.lines.value(1), u"failed a: not enough memory for this trace"_s);
    EXPECT_EQ(log.lines.value(3), u"failed a: odd"_s);
}

TEST(TraceLoaderTest, AFileThatIsNoTraceFailsInWords)
{
    QTemporaryDir folder;
    const QString path = folder.filePath(u"broken.fp8trace"_s);
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("this is no trace");
    file.close();
    TraceLoader loader;
    Log log(loader);
    loader.open(path);
    ASSERT_TRUE(waitFor([&] { return !loader.busy(); }));
    ASSERT_EQ(log.lines.size(), 2);
    EXPECT_TRUE(log.lines.at(1).startsWith(u"failed "_s + path)) << log.lines.at(1).toStdString();
}

TEST(TraceLoaderTest, DestroyingItWhileItLoadsWaitsForTheWorker)
{
    HeldLoad held;
    auto loader = std::make_unique<TraceLoader>(held.function(), nullptr);
    loader->open(u"a"_s);
    loader.reset();  // the worker sees the stop and ends; a crash or a hang here would be the failure
    SUCCEED();
}

}  // namespace
}  // namespace fp8scope::gui
