// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/start_page.h"

#include "app/gui/panel.h"

#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLocale>
#include <QProgressBar>
#include <QVBoxLayout>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

namespace {

constexpr int kColumnWidth = 620;
constexpr int kRecentShown = 5;

}  // namespace

StartPage::StartPage(const QString& demoProgram, QString demoOutput, QWidget* parent)
    : QWidget(parent), m_demoOutput(std::move(demoOutput)), m_demo(new DemoRunner(demoProgram, this))
{
    setObjectName(u"page"_s);
    auto* column = new QVBoxLayout;
    column->setSpacing(kPanelGap);
    buildIntroduction(column);
    buildDemo(column);
    m_recentTitle = makeLabel(tr("Opened lately"), u"title"_s, this);
    m_recent = new QVBoxLayout;
    m_recent->setSpacing(0);
    column->addSpacing(4);
    column->addWidget(m_recentTitle);
    column->addLayout(m_recent);
    column->addStretch(1);

    auto* holder = new QWidget(this);
    holder->setFixedWidth(kColumnWidth);
    column->setContentsMargins(0, 64, 0, 0);
    holder->setLayout(column);
    auto* layout = new QHBoxLayout(this);
    layout->addStretch(1);
    layout->addWidget(holder);
    layout->addStretch(1);

    connect(m_demo, &DemoRunner::progressed, this, &StartPage::showProgress);
    connect(m_demo, &DemoRunner::finished, this, [this](const QString& path) {
        showIdle();
        emit demoFinished(path);
    });
    connect(m_demo, &DemoRunner::failed, this, [this](const QString& reason) {
        showIdle();
        emit demoFailed(reason);
    });
    setRecentFiles({});
    showIdle();
}

void StartPage::buildIntroduction(QVBoxLayout* column)
{
    QLabel* headline = makeLabel(tr("Where did your 2\u00d7 go?"), u"headline"_s, this);
    QLabel* text =
        makeLabel(tr("Open a trace of FP8 training to see where each step's time goes, what quantization costs, "
                     "and what to change. Drop a .fp8trace file, or a trace of PyTorch's profiler or Nsight Systems, "
                     "anywhere on this window, or record one:"),
                  {}, this);
    text->setWordWrap(true);
    QLabel* command = makeLabel(u"fp8scope run --preset demo -o demo.fp8trace"_s, u"code"_s, this);
    command->setTextInteractionFlags(Qt::TextSelectableByMouse);
    QPushButton* openButton = makeButton(tr("Open a trace\u2026"), u"primary"_s, this);
    connect(openButton, &QPushButton::clicked, this, &StartPage::openRequested);
    auto* buttons = new QHBoxLayout;
    buttons->addWidget(openButton);
    buttons->addStretch(1);
    column->addWidget(headline);
    column->addWidget(text);
    column->addWidget(command);
    column->addLayout(buttons);
}

void StartPage::buildDemo(QVBoxLayout* column)
{
    auto* panel = new Panel(this);
    panel->setTitle(tr("Try the demo"), tr("trains a small network on this computer"));
    QLabel* text =
        makeLabel(tr("Trains the same network in bf16, in fp8 and in fused fp8, records every kernel, and opens the "
                     "result. It needs no GPU."),
                  u"dim"_s, panel);
    text->setWordWrap(true);
    m_demoButton = makeButton({}, {}, panel);
    m_progress = new QProgressBar(panel);
    m_progress->setTextVisible(false);
    m_state = makeLabel({}, u"dim"_s, panel);
    connect(m_demoButton, &QPushButton::clicked, this, &StartPage::startOrStopDemo);
    auto* row = new QHBoxLayout;
    row->setSpacing(12);
    row->addWidget(m_demoButton);
    row->addWidget(m_progress, 1);
    m_demoButton->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    row->setAlignment(m_demoButton, Qt::AlignLeft);
    panel->body()->addWidget(text);
    panel->body()->addLayout(row);
    panel->body()->addWidget(m_state);
    column->addWidget(panel);
}

void StartPage::setRecentFiles(const QStringList& files)
{
    clearLayout(m_recent);
    m_recentTitle->setVisible(!files.isEmpty());
    for (const QString& path : files.mid(0, kRecentShown)) {
        const QFileInfo file(path);
        QPushButton* button = makeButton(
            tr("%1  \u2013  %2").arg(file.fileName(), QDir::toNativeSeparators(file.absolutePath())), u"plain"_s);
        button->setToolTip(path);
        button->setEnabled(file.exists());
        connect(button, &QPushButton::clicked, this, [this, path] { emit fileChosen(path); });
        m_recent->addWidget(button);
    }
}

void StartPage::startOrStopDemo()
{
    if (m_demo->running()) {
        m_state->setText(tr("Stopping after this step\u2026"));
        m_demoButton->setEnabled(false);
        m_demo->cancel();
        return;
    }
    m_demoButton->setText(tr("Stop"));
    m_progress->setValue(0);
    m_progress->show();
    m_state->setText(tr("Starting\u2026"));
    m_state->show();
    m_demo->start(m_demoOutput);
}

void StartPage::showProgress(const DemoProgress& progress)
{
    if (!m_demoButton->isEnabled())
        return;  // being stopped
    m_progress->setValue(progress.percent());
    QString text = tr("%1 (run %2 of %3): step %4 of %5")
                       .arg(progress.mode)
                       .arg(progress.modeIndex + 1)
                       .arg(progress.modeCount)
                       .arg(progress.step)
                       .arg(progress.steps);
    if (progress.step > 0)
        text += tr(", loss %1").arg(QLocale().toString(progress.loss, 'g', 4));
    if (progress.secondsLeft >= 0)
        text += tr(", %1 s left").arg(std::max(1, static_cast<int>(progress.secondsLeft + 0.5)));
    m_state->setText(text);
}

void StartPage::showIdle()
{
    m_demoButton->setEnabled(true);
    m_demoButton->setText(tr("Run the demo"));
    m_progress->hide();
    m_state->hide();
}

}  // namespace fp8scope::gui
