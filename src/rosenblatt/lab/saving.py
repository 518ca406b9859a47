"""A run as one page that needs no server: the figures and scripts of the lab, and the arrays."""

from typing import Any

try:
    from bokeh.document import Document
    from bokeh.embed import file_html
    from bokeh.models import ColumnDataSource
    from bokeh.resources import INLINE
except ImportError as missing:
    raise ImportError("The lab needs bokeh: pip install 'rosenblatt[lab]'.") from missing

from .figures import SIDES, Pane
from .geometry import View
from .layout import Exchange, Parts, lay_out
from .trace import Trace


def saved_page(
    points: dict[str, Any], traces: list[Trace | None], view: View, told: dict[str, Any]
) -> str:
    """The page, complete in itself; ``told`` is what the lab last told the browser."""
    source = ColumnDataSource(points, name="points")
    panes = [Pane(side, source) for side in SIDES]
    for pane, trace in zip(panes, traces, strict=True):
        pane.show(trace, view)
        pane.freeze()
    doc = Document()
    lay_out(doc, Parts(Exchange(name="exchange"), source, panes), {"saved": told})
    variables = {**doc.template_variables, "saved": True}
    html: str = file_html(
        doc, INLINE, "The perceptron learns", template=doc.template, template_variables=variables
    )
    return html
