"""The page as one file: modules, style and engine written into the HTML."""

import base64
import html
import re
from pathlib import Path

WEB = Path(__file__).parent / "web"
IMPORT = re.compile(r'^import\s+\{([^}]*)\}\s+from\s+"\./([\w-]+)\.js";\n?', re.MULTILINE)
EXPORT = re.compile(
    r"^export (?=(?:async )?(?:function\*?|class|const|let) +([\w$]+))", re.MULTILINE
)
COMMENT = re.compile(r"^[ \t]*(?://.*|/\*\*.*\*/)\n", re.MULTILINE)


def build_page(address: str = "") -> str:
    """Return the page as one HTML file that starts with the state of an address.

    Browsers load modules from servers only. In one file, each module is a function that returns
    what it exports, without lines of comment; ``bundle`` of web/save.js does the same in the page.
    """
    page = (WEB / "index.html").read_text(encoding="utf-8")
    page = re.sub(r'\s*<p id="unloaded".*?</script>', "", page, count=1, flags=re.DOTALL)
    style = (WEB / "style.css").read_text(encoding="utf-8")
    engine = base64.b64encode((WEB / "engine.wasm").read_bytes()).decode()
    parts = {
        r'<link rel="stylesheet"[^>]*>': f"<style>\n{style}</style>",
        r'<script type="module" src="main.js"></script>': (
            f'<script type="application/wasm" id="wasm">{engine}</script>\n'
            f'<script type="module">\n{bundle("main")}</script>'
        ),
        r'(?<=<meta name="lab-state" content=")': html.escape(address),
    }
    for pattern, text in parts.items():
        page = re.sub(pattern, text.replace("\\", r"\\"), page, count=1)
    return page


def bundle(main: str) -> str:
    """Return a module and all that it imports as one script."""
    sources: dict[str, str] = {}
    order: list[str] = []

    def add(name: str) -> None:
        if name in sources:
            return
        sources[name] = (WEB / f"{name}.js").read_text(encoding="utf-8")
        for found in IMPORT.finditer(sources[name]):
            add(found[2])
        order.append(name)

    add(main)
    return "\n".join(wrap_module(name, sources[name]) for name in order)


def wrap_module(name: str, source: str) -> str:
    """Return a module as a function that returns what it exports."""
    exported = ", ".join(found[1] for found in EXPORT.finditer(source))

    def assign(found: re.Match[str]) -> str:
        names = found[1].replace(" as ", ": ")
        return f"const {{{names}}} = {module_name(found[2])};\n"

    body = COMMENT.sub("", EXPORT.sub("", IMPORT.sub(assign, source)))
    return (
        f"// {name}.js\nconst {module_name(name)} = (() => {{\n"
        f"{body}\nreturn {{ {exported} }};\n}})();\n"
    )


def module_name(name: str) -> str:
    """The variable that holds what a module exports."""
    return f"module_{name.replace('-', '_')}"
