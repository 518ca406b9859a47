"""Write the lab into the site, as one file at lab/, and embed it in pages."""

from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from rosenblatt.lab.bundle import build_page


class Lab(SphinxDirective):
    """Embed the lab: a title, and in the lines below it the state that it starts with."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Make the frame."""
        above, state = "../" * self.env.docname.count("/"), "".join(self.content)
        source = f"{above}lab/index.html?embed#{state}"
        frame = f'<iframe class="lab" title="{escape(self.arguments[0])}" loading="lazy" '
        return [nodes.raw("", f'{frame}src="{escape(source)}"></iframe>', format="html")]


def write_page(app: Any) -> None:
    """Write lab/index.html, which other pages embed."""
    if app.builder.format == "html":
        path = Path(app.outdir) / "lab" / "index.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(build_page(), encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Register both."""
    app.connect("builder-inited", write_page)
    app.add_directive("lab", Lab)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
