// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/frame/notice_area.h"

#include "app/gui/panel.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QProgressBar>
#include <QStyle>
#include <QVBoxLayout>

namespace fp8scope::gui {

using namespace Qt::StringLiterals;

NoticeArea::NoticeArea(QWidget* parent)
    : QFrame(parent), m_title(makeLabel({}, u"title"_s, this)), m_text(makeLabel({}, u"dim"_s, this)),
      m_bar(new QProgressBar(this)), m_button(makeButton({}, u"link"_s, this))
{
    auto* notice = new QFrame(this);
    notice->setObjectName(u"notice"_s);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(kPageMargin, 12, kPageMargin, 0);
    outer->addWidget(notice);

    m_text->setWordWrap(true);
    m_text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_bar->setRange(0, 100);
    m_bar->setTextVisible(false);
    auto* words = new QVBoxLayout;
    words->setSpacing(3);
    words->addWidget(m_title);
    words->addWidget(m_text);
    words->addWidget(m_bar);
    auto* row = new QHBoxLayout(notice);
    row->setContentsMargins(12, 9, 12, 9);
    row->setSpacing(12);
    row->addLayout(words, 1);
    row->addWidget(m_button, 0, Qt::AlignVCenter);
    connect(m_button, &QPushButton::clicked, this, [this] {
        if (m_kind == Kind::Loading)
            emit cancelRequested();
        else
            clear();
    });
    clear();
}

void NoticeArea::present(Kind kind, const QString& title, const QString& text)
{
    m_kind = kind;
    m_title->setText(title);
    m_text->setText(text);
    m_bar->setVisible(kind == Kind::Loading);
    m_button->setText(kind == Kind::Loading ? tr("Cancel") : tr("Close"));
    auto* notice = findChild<QFrame*>(u"notice"_s);
    notice->setProperty("kind", kind == Kind::Error ? u"error"_s : QString());
    notice->style()->unpolish(notice);
    notice->style()->polish(notice);
    setVisible(kind != Kind::None);
}

void NoticeArea::showLoading(const QString& path)
{
    m_bar->setValue(0);
    present(Kind::Loading, tr("Opening %1").arg(QFileInfo(path).fileName()), tr("Reading"));
}

void NoticeArea::setProgress(const QString& stage, int percent)
{
    m_bar->setValue(percent);
    m_text->setText(tr("%1, %2%").arg(stage).arg(percent));
}

void NoticeArea::showFailure(const LoadFailure& failure)
{
    QString text = failure.problem;
    if (!failure.where.isEmpty() && failure.where != failure.path)
        text += u" ("_s + failure.where + u')';
    if (!failure.mend.isEmpty())
        text += u". "_s + failure.mend.left(1).toUpper() + failure.mend.mid(1) + u'.';
    present(Kind::Error, tr("%1 could not be opened").arg(QFileInfo(failure.path).fileName()),
            failure.path + u'\n' + text);
}

void NoticeArea::showError(const QString& title, const QString& text) { present(Kind::Error, title, text); }

void NoticeArea::showMessage(const QString& title, const QString& text) { present(Kind::Message, title, text); }

void NoticeArea::clear() { present(Kind::None, {}, {}); }

QString NoticeArea::title() const { return m_title->text(); }

QString NoticeArea::text() const { return m_text->text(); }

}  // namespace fp8scope::gui
