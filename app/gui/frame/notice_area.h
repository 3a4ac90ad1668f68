// SPDX-License-Identifier: GPL-3.0-or-later
// Above the page: what is being opened, with progress and Cancel; or why something failed, with what to do about it.
#pragma once

#include "app/gui/trace_loader.h"

#include <QFrame>

class QLabel;
class QProgressBar;
class QPushButton;

namespace fp8scope::gui {

class NoticeArea : public QFrame {
    Q_OBJECT
public:
    enum class Kind { None, Loading, Message, Error };

    explicit NoticeArea(QWidget* parent = nullptr);
    void showLoading(const QString& path);
    void setProgress(const QString& stage, int percent);
    void showFailure(const LoadFailure& failure);
    void showError(const QString& title, const QString& text);
    void showMessage(const QString& title, const QString& text);
    void clear();
    [[nodiscard]] Kind kind() const { return m_kind; }
    [[nodiscard]] QString title() const;
    [[nodiscard]] QString text() const;

signals:
    void cancelRequested();

private:
    void present(Kind kind, const QString& title, const QString& text);

    Kind m_kind = Kind::None;
    QLabel* m_title;
    QLabel* m_text;
    QProgressBar* m_bar;
    QPushButton* m_button;
};

}  // namespace fp8scope::gui
