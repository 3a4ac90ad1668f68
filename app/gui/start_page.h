// SPDX-License-Identifier: GPL-3.0-or-later
// What the window shows without a trace: how to get one. Runs the demo with live progress.
#pragma once

#include "app/gui/demo_runner.h"

#include <QWidget>

class QLabel;
class QProgressBar;
class QPushButton;
class QVBoxLayout;

namespace fp8scope::gui {

class StartPage : public QWidget {
    Q_OBJECT
public:
    /// `demoProgram`: the fp8scope command, as DemoRunner takes it; `demoOutput`: where the demo's trace goes.
    StartPage(const QString& demoProgram, QString demoOutput, QWidget* parent = nullptr);
    void setRecentFiles(const QStringList& files);
    [[nodiscard]] DemoRunner* demo() const { return m_demo; }

signals:
    void openRequested();
    void fileChosen(const QString& path);
    void demoFinished(const QString& path);
    void demoFailed(const QString& reason);

private:
    void buildIntroduction(QVBoxLayout* column);
    void buildDemo(QVBoxLayout* column);
    void startOrStopDemo();
    void showProgress(const DemoProgress& progress);
    void showIdle();

    QString m_demoOutput;
    DemoRunner* m_demo;
    QPushButton* m_demoButton = nullptr;
    QProgressBar* m_progress = nullptr;
    QLabel* m_state = nullptr;
    QLabel* m_recentTitle = nullptr;
    QVBoxLayout* m_recent = nullptr;
};

}  // namespace fp8scope::gui
