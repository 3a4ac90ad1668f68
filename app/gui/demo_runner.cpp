// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/demo_runner.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStandardPaths>

#include <csignal>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

namespace {

constexpr int kMillisecondsToStop = 3000;

}  // namespace

int DemoProgress::percent() const
{
    if (modeCount <= 0 || steps <= 0)
        return 0;
    const double done = modeIndex + std::min(1.0, static_cast<double>(step) / steps);
    return static_cast<int>(100.0 * done / modeCount);
}

std::optional<DemoProgress> parseDemoProgress(const QByteArray& line)
{
    const QJsonObject object = QJsonDocument::fromJson(line).object();
    if (!object.contains("mode"_L1) || !object.contains("step"_L1))
        return std::nullopt;
    DemoProgress progress;
    progress.mode = object["mode"_L1].toString();
    progress.modeIndex = object["mode_index"_L1].toInt();
    progress.modeCount = object["mode_count"_L1].toInt(1);
    progress.step = object["step"_L1].toInt();
    progress.steps = object["steps"_L1].toInt();
    progress.loss = object["loss"_L1].toDouble();
    progress.secondsLeft = object["seconds_left"_L1].toDouble(-1);
    return progress;
}

DemoRunner::DemoRunner(QString program, QObject* parent) : QObject(parent), m_program(std::move(program))
{
    m_process.setProcessChannelMode(QProcess::MergedChannels);
    // An app started in the background of a script inherits an ignored SIGINT; the run must hear the one that stops it.
    m_process.setChildProcessModifier([] { ::signal(SIGINT, SIG_DFL); });
    connect(&m_process, &QProcess::readyReadStandardOutput, this, &DemoRunner::readLines);
    connect(&m_process, &QProcess::finished, this, &DemoRunner::onFinished);
    connect(&m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            emit failed(tr("%1 could not be started: %2").arg(m_program, m_process.errorString()));
    });
}

DemoRunner::~DemoRunner()
{
    m_process.disconnect(this);
    if (!running())
        return;
    m_process.terminate();
    if (!m_process.waitForFinished(kMillisecondsToStop))
        m_process.kill();
}

QString DemoRunner::findProgram()
{
    const QString name = u"fp8scope"_s;
    const QString beside = QStandardPaths::findExecutable(name, {QCoreApplication::applicationDirPath()});
    return beside.isEmpty() ? QStandardPaths::findExecutable(name) : beside;
}

void DemoRunner::start(const QString& output)
{
    if (running())
        return;
    if (m_program.isEmpty()) {
        emit failed(tr("The command fp8scope was not found beside this program or on the PATH; build or install it, "
                       "then try again."));
        return;
    }
    m_output = output;
    m_lastMessage.clear();
    m_partial.clear();
    m_cancelled = false;
    QDir().mkpath(QFileInfo(output).absolutePath());
    QFile::remove(output);
    m_process.start(m_program, {u"run"_s, u"--preset"_s, u"demo"_s, u"-o"_s, output, u"--progress"_s, u"json"_s});
}

void DemoRunner::cancel()
{
    if (!running())
        return;
    m_cancelled = true;
    ::kill(static_cast<pid_t>(m_process.processId()), SIGINT);
}

void DemoRunner::readLines()
{
    m_partial += m_process.readAllStandardOutput();
    for (qsizetype end = m_partial.indexOf('\n'); end >= 0; end = m_partial.indexOf('\n')) {
        readLine(m_partial.left(end));
        m_partial.remove(0, end + 1);
    }
}

void DemoRunner::readLine(const QByteArray& line)
{
    if (const auto progress = parseDemoProgress(line))
        emit progressed(*progress);
    else if (!line.trimmed().isEmpty() && !line.startsWith('{'))
        m_lastMessage = QString::fromUtf8(line.trimmed());
}

void DemoRunner::onFinished(int exitCode, QProcess::ExitStatus status)
{
    readLines();
    readLine(m_partial);
    const bool wroteTrace = QFileInfo(m_output).size() > 0;
    if ((status == QProcess::NormalExit && exitCode == 0) || (m_cancelled && wroteTrace)) {
        emit finished(m_output);
        return;
    }
    if (m_cancelled)
        emit failed(tr("The demo was stopped before its first step was recorded."));
    else if (!m_lastMessage.isEmpty())
        emit failed(m_lastMessage);
    else
        emit failed(tr("The demo ended with exit code %1 and no message.").arg(exitCode));
}

}  // namespace fp8scope::gui
