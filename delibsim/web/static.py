"""The pages of the reader as files of a folder: they need no server and no network."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from delibsim.domain.errors import WrongInput
from delibsim.models.clients.faults import scrub, secrets
from delibsim.store.files import json_text, staged
from delibsim.store.own_folder import MANIFEST, refuse_others
from delibsim.store.study_texts import StudyTexts
from delibsim.web.comparison import comparison_pages
from delibsim.web.conversation import call_pages, calls_page, conversation_page
from delibsim.web.pages import models_csv, models_page, runs_page, studies_page, study_page
from delibsim.web.render import ASSETS, asset, page_name
from delibsim.web.site import Site, address_of, on_comparisons

WRITER = "reader"
OPTION = "--static"
NOT_SERVED = ("htmx.min.js",)
"""Files that pages without a server do not load."""

File = tuple[str, bytes]
Watch = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Written:
    """How many files there are, what is to be known of them, in sentences, and which studies, or
    files and runs of them, are left out because they are no plain files, not such as delibsim
    writes, damaged, or were changed.
    """

    files: int
    notes: Sequence[str]
    left_out: Sequence[str] = ()


def write_static(site: Site, folder: Path, watch: Watch) -> Written:
    """Write every page into a folder, which takes its place as a whole.

    A folder of this name is replaced if it holds nothing but such pages; else WrongInput. Known
    keys are taken out of every text. A study that cannot be read is left out beside others.
    """
    refuse_others(folder, WRITER, OPTION)
    left_out = []
    for study in [] if site.alone else site.folders():
        try:
            left_out += [f"{study}: {line}" for line in site.not_shown(study)]
        except WrongInput as error:
            if site.only is not None:
                raise
            left_out.append(f"{study} is left out: {error}")
    hidden = secrets()
    written = []
    with staged(folder) as stage:
        for name, content in _files(site, watch):
            path = stage / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(scrub(content.decode("utf-8"), hidden).encode("utf-8"))
            written.append(name)
        manifest = {"written_by": "delibsim", "files": written}
        (stage / MANIFEST).write_text(json_text(manifest, indent=1) + "\n", encoding="utf-8")
        left_out += [f"left out: {why}" for why in site.damaged.values()]
    notes = []
    for study in [] if site.alone else site.readable():
        notes += [f"{study}: {line}" for line in on_comparisons(site, study)]
    return Written(len(written), notes, left_out)


def _files(site: Site, watch: Watch) -> Iterator[File]:
    for name in ASSETS:
        if name not in NOT_SERVED:
            yield f"~assets/{name}", asset(name)
    if site.alone and site.only is not None:
        yield from _session(site, address_of(site.only), site.alone, "")
        return
    yield "index.html", studies_page(site).encode()
    yield "models.html", models_page(site).encode()
    yield "models.csv", models_csv(site) or b""
    for folder in site.readable():
        yield from _study(site, folder, watch)


def _study(site: Site, folder: str, watch: Watch) -> Iterator[File]:
    yield f"{folder}/index.html", study_page(site, folder).encode()
    runs = site.runs(folder)
    if StudyTexts(runs).held():
        return
    yield f"{folder}/runs.html", runs_page(site, folder, {}).encode()
    for name in site.figures(folder):
        figure = site.figure(folder, name)
        if figure is not None:
            yield f"{folder}/~figures/{name}.svg", figure
    for name in site.analysis_pages(folder):
        content = site.analysis_page(folder, name)
        if content is not None:
            yield f"{folder}/~analysis/{name}.html", content
    sessions = runs.sessions()
    for n, session in enumerate(sessions):
        watch(f"writing the pages of {runs.study}", n, len(sessions))
        yield from _session(site, folder, session, f"{folder}/{session}/")
    for name, page in comparison_pages(site, folder):
        yield f"{folder}/{name}", page.encode()


def _session(site: Site, folder: str, session: str, at: str) -> Iterator[File]:
    first, pages = conversation_page(site, folder, session)
    yield f"{at}index.html", first.encode()
    for number in range(1, pages):
        page, _ = conversation_page(site, folder, session, number)
        yield f"{at}{page_name(number)}", page.encode()
    yield f"{at}calls/index.html", calls_page(site, folder, session).encode()
    for number, page in call_pages(site, folder, session):
        yield f"{at}calls/{number}.html", page.encode()
