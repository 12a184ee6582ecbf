"""Tables of results as LaTeX, in the manner of booktabs."""

from collections.abc import Iterable

from delibsim.analysis.pages.cells import Reading, reading
from delibsim.analysis.result import Result
from delibsim.domain.text import safe

PREAMBLE = """% Tables of the study {study}, written by delibsim.
% The preamble needs \\usepackage{{booktabs,longtable}}; pdflatex also needs utf8 as inputenc.
"""
SIGNS = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "−": "$-$",
    "–": "--",
    "²": r"$^2$",
    "∞": r"$\infty$",
}
TABLE = str.maketrans(SIGNS)
MANY = 30
"""Rows above which a table may run over pages."""


def latex(study: str, results: Iterable[Result]) -> str:
    """The tables that are given, each with caption, label and notes; every sign is escaped."""
    parts = [PREAMBLE.format(study=escaped(study))]
    for result in results:
        if result.given and len(result.rows):
            parts.append(_table(result))
    return "\n".join(parts)


def escaped(text: str) -> str:
    r"""Text without a meaning to LaTeX.

    >>> print(escaped(r"50 % of \input{x} & $y_1$"))
    50 \% of \textbackslash{}input\{x\} \& \$y\_1\$
    """
    return " ".join(safe(text).split()).translate(TABLE)


def _table(result: Result) -> str:
    read = reading(result)
    caption = f"{escaped(result.title)}. {escaped(read.in_words)}".rstrip()
    label = f"\\label{{tab:{result.name.replace('_', '-')}}}"
    columns = "".join("l" if head.text else "r" for head in read.heads)
    footnotes = [f"{letter}: {text}." for letter, text in read.footnotes.items()]
    notes = [*footnotes, *result.notes, result.definition]
    if read.left_out:
        notes.insert(0, f"{len(read.rows)} of {len(result.rows)} rows are shown.")
    note = " ".join(map(escaped, notes))
    heads = " & ".join(escaped(head.name) for head in read.heads) + r" \\"
    rows = _rows(read)
    if len(read.rows) > MANY:
        opening = [
            rf"\begin{{longtable}}{{{columns}}}",
            rf"\caption{{{caption}}}{label} \\",
            rf"\toprule {heads} \midrule \endhead",
        ]
        closing = [r"\bottomrule", r"\end{longtable}", rf"{{\footnotesize {note}\par}}"]
        return "\n".join([*opening, *rows, *closing, ""])
    opening = [
        r"\begin{table}[htbp]",
        r"\centering",
        rf"\caption{{{caption}}}{label}",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        heads,
        r"\midrule",
    ]
    closing = [
        r"\bottomrule",
        r"\end{tabular}",
        rf"\par\smallskip{{\footnotesize {note}\par}}",
        r"\end{table}",
    ]
    return "\n".join([*opening, *rows, *closing, ""])


def _rows(read: Reading) -> list[str]:
    rows = []
    for row in read.rows:
        cells = map(escaped, row)
        # LaTeX would take a bracket behind \\ for a length.
        rows.append("{}" + " & ".join(cells) + r" \\")
    return rows
