"""The page for the ethics board as one HTML file, which fetches nothing."""

from markupsafe import escape

from delibsim.web.people.markdown import html_of

STYLE = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}"
    "h2,h3{line-height:1.25;margin-top:2rem}li{margin:.25rem 0}"
    "strong{background:#ffe9a8;color:#222;padding:0 .2rem}"
    "@media print{body{max-width:none;margin:0}}"
)


def protection_page(page: str, language: str) -> str:
    """The Markdown of the page as a whole HTML file in this language."""
    title = page.split("\n", 1)[0].removeprefix("# ")
    return (
        f'<!doctype html>\n<html lang="{escape(language)}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"{html_of(page)}\n</body>\n</html>\n"
    )
