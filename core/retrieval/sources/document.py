"""Documents of the site (.pdf .html .docx .md .txt): each a local guideline with its headings and pages.

Foreign bytes are not opened here: `read_document` is handed in and asks the decode child. Front matter may name title,
edition, licence and publisher. It must not know a store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from core.errors import UserError
from core.readers.paper import Paper, PaperSection
from core.retrieval.sources.files import Files
from core.retrieval.sources.material import About, Options, Reading, Skipped, section, slug, summary
from core.store.knowledge_values import Doc, Item, Section

NAME, VERSION = "document", "1"
SUFFIXES: tuple[str, ...] = (".pdf", ".docx", ".html", ".htm", ".md", ".txt")
MOST_BYTES = 50_000_000
WHOLE = "Text"  # path of what stands under no heading
# A name and the bytes to the paper; raises UserError with its sentence (scan without text, password, damaged).
ReadDocument = Callable[[str, bytes], Paper]


def read(files: Files, options: Options, read_document: ReadDocument) -> Reading:
    """A document a file; the first one that can be read describes the pack."""
    papers = _papers(files, read_document)
    before: list[Item | Skipped] = []
    for name, paper in papers:
        if isinstance(paper, Paper):
            return Reading(_about(name, paper), _records(before, name, paper, papers, options))
        before.append(paper)
    return Reading(About(slug="documents", title="Documents", kind="local", licence="own"), iter(before))


def _papers(files: Files, read_document: ReadDocument) -> Iterator[tuple[str, Paper | Skipped]]:
    for file in files:
        if not file.name.lower().endswith(SUFFIXES):
            yield file.name, Skipped(file.name, "no document of a form that is read", failed=False)
            continue
        try:
            data = file.stream.read(MOST_BYTES + 1)
            if len(data) > MOST_BYTES:
                raise UserError(f"The document is larger than {MOST_BYTES // 1_000_000} MB.", code="size")
            yield file.name, read_document(file.name, data)
        except UserError as error:
            yield file.name, Skipped(file.name, error.text)


def _about(name: str, paper: Paper) -> About:
    title = paper.title or _stem(name)
    return About(
        slug=slug(title),
        title=title,
        kind="local",
        edition=paper.fact("edition"),
        publisher=paper.fact("publisher"),
        licence=paper.fact("licence") or paper.fact("license") or "unknown",
        issued_on=paper.fact("date") or paper.fact("issued_on"),
    )


def _records(
    before: list[Item | Skipped],
    name: str,
    paper: Paper,
    others: Iterator[tuple[str, Paper | Skipped]],
    options: Options,
) -> Iterator[Item | Skipped]:
    yield from before
    yield from _document(name, paper, options)
    for other, read in others:
        if isinstance(read, Skipped):
            yield read
        else:
            yield from _document(other, read, options)


def _document(name: str, paper: Paper, options: Options) -> Iterator[Item | Skipped]:
    yield from (Skipped(name, remark, failed=False) for remark in paper.remarks)
    sections = tuple(_section(part) for part in paper.sections if part.text.strip())
    if not sections:
        yield Skipped(name, "The document holds no text.")
        return
    yield Doc(
        source_key=name,
        title=paper.title or _stem(name),
        sections=sections,
        lang=paper.fact("lang") or options.lang,
        published_on=paper.fact("date"),
        summary=summary(sections[0].text),
        page_count=paper.pages or None,
    )


def _section(part: PaperSection) -> Section:
    pages = (part.page_from, part.page_to) if part.page_from else None
    return section(part.path or WHOLE, part.text, pages=pages)


def _stem(name: str) -> str:
    return name.rsplit("/", 1)[-1].rsplit(".", 1)[0]
