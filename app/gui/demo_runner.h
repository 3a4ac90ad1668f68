// SPDX-License-Identifier: GPL-3.0-or-later
// "Try the demo": runs `fp8scope run --preset demo` as a child and follows its progress lines. The app itself never
// trains.
#pragma once

#include <QObject>
#include <QProcess>
#include <QString>

#include <optional>

namespace fp8scope::gui {

/// One line of `fp8scope run --progress json`.
struct DemoProgress {
    QString mode;
    int modeIndex = 0, modeCount = 0;
    int step = 0, steps = 0;
    double loss = 0;
    double secondsLeft = -1;  ///< -1: not known yet
    /// Of the whole run, all modes.
    [[nodiscard]] int percent() const;
};

/// nullopt for a line that is not a progress object.
[[nodiscard]] std::optional<DemoProgress> parseDemoProgress(const QByteArray& line);

class DemoRunner : public QObject {
    Q_OBJECT
public:
    /// `program`: the fp8scope command; empty when it was not found (start() then fails in words).
    explicit DemoRunner(QString program, QObject* parent = nullptr);
    ~DemoRunner() override;

    /// Writes to `output`, replacing what is there.
    void start(const QString& output);
    /// As Ctrl-C: the run stops after its step and keeps what was recorded.
    void cancel();
    [[nodiscard]] bool running() const { return m_process.state() != QProcess::NotRunning; }

    /// The fp8scope command beside this program, else on the PATH, else empty.
    [[nodiscard]] static QString findProgram();

signals:
    void progressed(const fp8scope::gui::DemoProgress& progress);
    void finished(const QString& output);
    /// `reason` and what to do, in one sentence.
    void failed(const QString& reason);

private:
    void readLines();
    void readLine(const QByteArray& line);
    void onFinished(int exitCode, QProcess::ExitStatus status);

    QString m_program;
    QString m_output;
    QString m_lastMessage;  ///< the last line that is not progress: an error's words
    QByteArray m_partial;
    bool m_cancelled = false;
    QProcess m_process;
};

}  // namespace fp8scope::gui
