// SPDX-License-Identifier: GPL-3.0-or-later
// The demo's child process, played by shell scripts that print what `fp8scope run --progress json` prints.
#include "app/gui/demo_runner.h"

#include "tests/app/gui/gui_fixture.h"

#include <QFile>
#include <QTemporaryDir>

#include <gtest/gtest.h>

namespace fp8scope::gui {
namespace {

using test::waitFor;
using namespace Qt::StringLiterals;

class DemoRunnerTest : public ::testing::Test {
protected:
    /// A program of these shell lines; "$5" is the output file (run --preset demo -o FILE --progress json).
    QString script(const QByteArray& lines)
    {
        QFile file(folder.filePath(u"fp8scope"_s));
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write("#!/bin/sh\n" + lines + "\n");
        file.close();
        file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        return file.fileName();
    }
    void follow(DemoRunner& runner)
    {
        QObject::connect(&runner, &DemoRunner::progressed, [this](const DemoProgress& p) { progress.append(p); });
        QObject::connect(&runner, &DemoRunner::finished, [this](const QString& path) { end = u"finished "_s + path; });
        QObject::connect(&runner, &DemoRunner::failed, [this](const QString& reason) { end = u"failed "_s + reason; });
    }
    QTemporaryDir folder;
    QString output = folder.filePath(u"sub/demo.fp8trace"_s);
    QList<DemoProgress> progress;
    QString end;
};

TEST_F(DemoRunnerTest, FollowsProgressAndNamesTheTrace)
{
    DemoRunner runner(script(R"(
echo '{"event":"step","mode":"bf16","mode_index":0,"mode_count":2,"step":5,"steps":10,"loss":0.5,"seconds_left":null}'
echo '{"event":"step","mode":"fp8","mode_index":1,"mode_count":2,"step":10,"steps":10,"loss":0.25,"seconds_left":1.5}'
echo trace > "$5")"));
    follow(runner);
    runner.start(output);
    ASSERT_TRUE(waitFor([&] { return !end.isEmpty(); }));
    EXPECT_EQ(end, u"finished "_s + output);
    ASSERT_EQ(progress.size(), 2);
    EXPECT_EQ(progress[0].percent(), 25);
    EXPECT_EQ(progress[0].secondsLeft, -1);
    EXPECT_EQ(progress[1].mode, u"fp8"_s);
    EXPECT_EQ(progress[1].percent(), 100);
    EXPECT_EQ(progress[1].secondsLeft, 1.5);
}

TEST_F(DemoRunnerTest, AFailureIsTheChildsLastMessage)
{
    DemoRunner runner(script("echo 'fp8scope: not enough memory: needs 3 GB; lower batch' >&2; exit 1"));
    follow(runner);
    runner.start(output);
    ASSERT_TRUE(waitFor([&] { return !end.isEmpty(); }));
    EXPECT_EQ(end, u"failed fp8scope: not enough memory: needs 3 GB; lower batch"_s);
}

TEST_F(DemoRunnerTest, StoppingInterruptsAndKeepsWhatWasRecorded)
{
    DemoRunner runner(script(R"(
trap 'echo trace > "$5"; exit 130' INT
echo '{"mode":"bf16","mode_index":0,"mode_count":1,"step":1,"steps":10}'
while :; do sleep 0.02; done)"));
    follow(runner);
    runner.start(output);
    ASSERT_TRUE(waitFor([&] { return !progress.isEmpty(); }));
    runner.cancel();
    ASSERT_TRUE(waitFor([&] { return !end.isEmpty(); }));
    EXPECT_EQ(end, u"finished "_s + output);
}

TEST_F(DemoRunnerTest, ReplacesTheLastDemo)
{
    DemoRunner runner(script("test -e \"$5\" && exit 1; echo trace > \"$5\""));
    follow(runner);
    for (int turn = 0; turn < 2; ++turn) {
        end.clear();
        runner.start(output);
        ASSERT_TRUE(waitFor([&] { return !end.isEmpty(); }));
        EXPECT_EQ(end, u"finished "_s + output);
    }
}

TEST_F(DemoRunnerTest, AProgramThatCannotBeStartedFailsInWords)
{
    DemoRunner runner(folder.filePath(u"missing"_s));
    follow(runner);
    runner.start(output);
    ASSERT_TRUE(waitFor([&] { return !end.isEmpty(); }));
    EXPECT_TRUE(end.startsWith(u"failed "_s + folder.filePath(u"missing"_s) + u" could not be started"_s))
        << end.toStdString();
}

TEST(DemoProgressTest, OtherLinesAreNoProgress)
{
    EXPECT_FALSE(parseDemoProgress("hello"));
    EXPECT_FALSE(parseDemoProgress("{\"event\":\"done\"}"));
    EXPECT_FALSE(parseDemoProgress("{\"mode\":"));
}

}  // namespace
}  // namespace fp8scope::gui
