// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/timeline/details_panel.h"

#include "app/gui/theme.h"
#include "app/gui/timeline/timeline_text.h"

#include <QEvent>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace fp8scope::gui {

DetailsPanel::DetailsPanel(Context* context, QWidget* parent)
    : Panel(parent), m_context(context), m_text(new QTextBrowser(this))
{
    setTitle(tr("Selected"));
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setOpenLinks(false);
    m_text->setAccessibleName(tr("Details of the selection"));
    m_text->document()->setDocumentMargin(0);
    m_text->viewport()->setAutoFillBackground(false);
    body()->addWidget(m_text);
    connect(context, &Context::selectionChanged, this, &DetailsPanel::refresh);
    connect(context, &Context::loadedChanged, this, &DetailsPanel::refresh);
    refresh();
}

QString DetailsPanel::text() const { return m_text->toPlainText(); }

void DetailsPanel::refresh()
{
    const auto& loaded = m_context->loaded();
    const Selection& selection = m_context->selection();
    QString html;
    if (loaded && selection.slice.valid())
        html = sliceDetails(*loaded, selection.slice, static_cast<double>(loaded->trace.timeRange().startNs));
    else if (loaded)
        html = selectionDetails(*loaded, selection);
    if (html.isEmpty())
        html = QStringLiteral("<span style=\"color:%1\">%2</span>")
                   .arg(currentTheme().dim.name(),
                        tr("Click a slice to see what it is. Drag over the timeline to measure a range."));
    m_text->setHtml(html);
}

void DetailsPanel::changeEvent(QEvent* event)
{
    Panel::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        refresh();
}

}  // namespace fp8scope::gui
