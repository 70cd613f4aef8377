"""The grammar of the command line. Knows names and defaults, runs nothing; wrong usage ends here with exit code 2."""

from __future__ import annotations

import argparse
import os
import re
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

from core import paths
from desktop.i18n import tr

DEMO = "demo"
MODES = ("adaptive", "paper")
SEEDS = 2**32  # as many as the engine tells apart
TITLE = 200  # characters
_EMPTY = re.compile(r"(?:--[a-z-]+=)?")
CLASSES = ("overview", "symptoms", "causes", "tests", "criteria", "severity", "treatment", "prevention") + (
    "complications",
    "followup",
    "other",
)

FORMS = ("document", "medlineplus", "medquad", "pubmed", "icd10cm", "mesh", "obo", "openfda", "medrag", "table")


def profile_of(chosen: argparse.Namespace) -> Path:
    """The folder of the profile that was asked for: a path, the name "demo", or the person's own."""
    given = str(chosen.profile)
    if not given:
        return paths.profile_folder(make=False)
    return paths.profile_folder(DEMO, make=False) if given == DEMO else Path(given)


def parse(given: list[str]) -> argparse.Namespace:
    """The command line as a namespace; ends the process with 2 and a usage line when it is wrong."""
    parser = _parser()
    # An empty path would be the folder one stands in, an empty case a new one: another patient's files.
    if any(_EMPTY.fullmatch(part) for part in given):
        parser.error(tr("an argument is empty; is a variable not set?"))
    chosen = parser.parse_args(given)
    if chosen.version:
        print(f"wardround {version(paths.APP)}")
        parser.exit()
    if chosen.fault and os.environ.get("WARDROUND_TESTING") != "1":
        parser.error("--fault is for tests only")
    return chosen


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wardround",
        description=tr("An offline clinical case workbench. Without a command the window opens."),
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help=tr("print the version"))
    parser.add_argument("--json", action="store_true", help=tr("print values as JSON, for scripts"))
    parser.add_argument("--profile", default="", metavar="FOLDER", help=tr("another profile; `demo` is the demo's"))
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--fault", default="", help=argparse.SUPPRESS)
    parser.add_argument("--paint-only", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(command="")
    commands = parser.add_subparsers(metavar="COMMAND", dest="command")
    _add_work(commands)
    _add_reading(commands)
    _add_machine(commands)
    return parser


_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _command(commands: _Commands, name: str, text: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
    # SUPPRESS: given after the command it must not undo what was given before it.
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    parser.add_argument("--profile", default=argparse.SUPPRESS, metavar="FOLDER", help=argparse.SUPPRESS)
    return parser


def _add_work(commands: _Commands) -> None:
    demo = _command(commands, "demo", tr("import the example case, analyse it, print the assessment"))
    demo.add_argument("--workflow", default="direct")
    demo.add_argument("--backbone", default=None, metavar="PACK", help=tr("model pack, or `none`"))
    demo.add_argument("--fault", default="", help=argparse.SUPPRESS)

    intake = _command(commands, "import", tr("read files or folders into a case"))
    intake.add_argument("paths", nargs="+", metavar="PATH", type=Path)
    intake.add_argument("--case", default="", metavar="ID", help=tr("add to this case instead of making a new one"))
    intake.add_argument("--title", type=_title, default=None, help=tr("title of a new case"))

    run = _command(commands, "run", tr("analyse a case"))
    run.add_argument("--case", required=True, metavar="ID")
    run.add_argument("--question", default="", help=tr("your own question; default: the diagnostic work-up"))
    run.add_argument("--workflow", default="direct")
    run.add_argument("--mode", choices=MODES, default=None)
    run.add_argument("--backbone", default=None, metavar="PACK", help=tr("model pack, or `none`"))
    run.add_argument("--seed", type=_seed, default=0)
    _add_questions(run)
    run.add_argument("--fault", default="", help=argparse.SUPPRESS)

    resume = _command(commands, "resume", tr("continue a run, or every interrupted one"))
    resume.add_argument("run", nargs="?", default="", metavar="RUN")
    _add_questions(resume)
    resume.add_argument("--fault", default="", help=argparse.SUPPRESS)


def _add_questions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--on-question",
        default="",
        metavar="unavailable|wait|FILE",
        help=tr('what a question to the clinician meets: FILE is TOML or JSON, concept = "present" or "absent"'),
    )


def _seed(text: str) -> int:
    if not text.isdecimal() or len(text) > len(str(SEEDS)) or int(text) >= SEEDS:
        raise argparse.ArgumentTypeError(tr("a whole number from 0 to {most} is wanted", most=SEEDS - 1))
    return int(text)


def _title(text: str) -> str:
    title = " ".join(text.split())
    if len(title) > TITLE:
        raise argparse.ArgumentTypeError(tr("a title has at most {n} characters", n=TITLE))
    if not title:
        raise argparse.ArgumentTypeError(tr("a title needs a letter; without --title the files name the case"))
    return title


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(tr("a whole number of at least 1 is wanted, not {given}", given=text))
    return int(text)


def _add_reading(commands: _Commands) -> None:
    report = _command(commands, "report", tr("the report of a run"))
    report.add_argument("run", metavar="RUN")
    form = report.add_mutually_exclusive_group()
    form.add_argument("--html", dest="form", action="store_const", const="html")
    form.add_argument("--text", dest="form", action="store_const", const="text")
    form.add_argument("--pdf", type=Path, default=None, metavar="FILE", help=tr("write it there as PDF"))
    report.add_argument("--out", type=Path, default=None, metavar="FILE", help=tr("write it there"))
    report.add_argument("--compare", default="", metavar="OTHER", help=tr("what differs from another run instead"))
    report.add_argument("--full", action="store_true", help=tr("as text: list the published sources too"))

    cases = _command(commands, "cases", tr("the cases of the profile"))
    acts = cases.add_subparsers(metavar="ACTION", dest="action", required=True)
    _command(acts, "list", tr("all cases"))
    _command(acts, "show", tr("one case with its documents and runs")).add_argument("case", metavar="ID")
    _command(acts, "search", tr("cases by their text")).add_argument("text")

    knowledge = _command(commands, "knowledge", tr("the guidelines"))
    acts = knowledge.add_subparsers(metavar="ACTION", dest="action", required=True)
    listed = _command(acts, "list", tr("all packs with state, edition, licence and end"))
    listed.add_argument("--conditions", action="store_true", help=tr("the conditions that runs weigh instead"))
    _add_search(_command(acts, "search", tr("passages for a text")))
    _add_library(acts)
    reindex = _command(acts, "reindex", tr("make again what can be made from the knowledge itself"))
    reindex.add_argument("--vectors", action="store_true", help=tr("not the index of words: vectors that are missing"))
    judged = _command(acts, "eval", tr("how well the search finds, on public question sets"))
    judged.add_argument("--data", type=Path, required=True, metavar="DIR", help=tr("folder of public data sets"))
    judged.add_argument("--questions", type=Path, default=None, metavar="FILE", help=tr("questions of your own, TOML"))
    judged.add_argument("--corpus", type=_at_least_one, default=5000, help=tr("answers to search in"))


def _add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text")
    parser.add_argument("-k", type=_at_least_one, default=5, help=tr("how many"))
    classes = tr("only sections of this class; may be given several times")
    parser.add_argument("--class", dest="classes", action="append", default=[], choices=CLASSES, help=classes)
    packs = tr("only in this pack; may be given several times")
    parser.add_argument("--pack", dest="packs", action="append", default=[], metavar="PACK", help=packs)
    parser.add_argument("--also-superseded", action="store_true", help=tr("earlier and expired editions too, marked"))
    parser.add_argument("--words", action="store_true", help=tr("by words alone, without vectors"))
    parser.add_argument("--why", action="store_true", help=tr("the rank in each way to search"))


def _add_library(acts: _Commands) -> None:
    """What a site brings itself: guidelines, articles, vocabularies."""
    add = _command(acts, "add", tr("guidelines, articles or vocabularies from files; drafts until approved"))
    add.add_argument("paths", nargs="+", metavar="PATH", type=Path)
    add.add_argument("--as", dest="form", default="", choices=FORMS, help=tr("form of the files; else by content"))
    _add_no_vectors(add)
    for name, text in (
        ("title", "title of the pack"),
        ("edition", "edition, a date or a number"),
        ("publisher", "who published it"),
        ("licence", "its licence: CC-BY-4.0, public-domain, own …"),
        ("issued-on", "date of issue, as 2026-11-30"),
        ("review-by", "date by which it is to be reviewed"),
        ("expires-on", "date on which it expires"),
        ("effective-from", "date from which it holds"),
        ("jurisdiction", "where it holds"),
        ("replaces", "pack that it replaces once approved"),
        ("id", "name of the pack; else made of title and edition"),
        ("concept-of", "the disease that the documents are about, by name"),
    ):
        add.add_argument(f"--{name}", default="", metavar="TEXT", help=tr(text))
    add.add_argument("--licence-text", type=Path, default=None, metavar="FILE", help=tr("text of the licence"))
    add.add_argument(
        "--site-licensed",
        dest="licence",
        action="store_const",
        const="site-licensed",
        help=tr("this site has a licence of its own"),
    )
    add.add_argument("--map", type=Path, default=None, metavar="FILE", help=tr("for tables: which column is what"))
    approve = _command(acts, "approve", tr("put a pack into use, under your name"))
    approve.add_argument("pack", metavar="PACK")
    approve.add_argument("--reason", default="", metavar="TEXT", help=tr("a note for the record"))
    _add_no_vectors(approve)
    retire = _command(acts, "retire", tr("take a pack out of use"))
    retire.add_argument("pack", metavar="PACK")
    retire.add_argument("--reason", required=True, metavar="TEXT", help=tr("why"))
    show = _command(acts, "show", tr("a pack with its history; all packs without a name"))
    show.add_argument("pack", metavar="PACK", nargs="?", default="")
    show.add_argument("--used-by", action="store_true", help=tr("the finished runs that cite it"))
    verify = _command(acts, "verify", tr("whether every text is as it was imported"))
    verify.add_argument("pack", metavar="PACK", nargs="?", default="")
    export = _command(acts, "export", tr("write a pack into a file"))
    export.add_argument("pack", metavar="PACK")
    export.add_argument("--out", type=Path, default=None, metavar="FILE", help=tr("default: PACK.wrpack here"))
    export.add_argument("--within-site", action="store_true", help=tr("the file stays within this site"))
    lookup = _command(acts, "lookup", tr("a concept or drug by name, in the installed vocabularies"))
    lookup.add_argument("name", metavar="NAME")
    lookup.add_argument("--drug", action="store_true", help=tr("a drug"))


def _add_no_vectors(parser: argparse.ArgumentParser) -> None:
    text = tr("make no vectors now; `knowledge reindex --vectors` makes them later")
    parser.add_argument("--no-vectors", action="store_true", help=text)


def _add_licence(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--accept-licence", action="store_true", help=tr("you have read the terms and accept them"))


def _add_seal(parser: argparse.ArgumentParser) -> None:
    """What is left out comes from the catalogue or the file itself, or is asked at a terminal."""
    parser.add_argument("files", nargs="+", metavar="FILE", type=Path)
    parser.add_argument("--id", default="", help=tr("name of the pack"))
    parser.add_argument("--pack-version", dest="version_of_pack", default="1", metavar="VERSION")
    parser.add_argument("--role", choices=("text", "vision", "embed", "segment"), default=None)
    for name, text in (
        ("family", "model family: smollm2, gemma3, qwen3 …"),
        ("template", "prompt template: chatml, gemma, llama3, plain, qwen3"),
        ("quant", "quantisation"),
        ("licence", "its SPDX name"),
        ("uses", "pack of the language model that a projector belongs to"),
    ):
        parser.add_argument(f"--{name}", default="", help=tr(text))
    parser.add_argument("--params-b", type=float, default=0.0, help=tr("billions of parameters"))
    parser.add_argument("--licence-file", type=Path, default=None, metavar="FILE")
    parser.add_argument("--dim", type=int, default=0, help=tr("embedder: numbers in a vector"))
    parser.add_argument("--max-tokens", type=int, default=0, help=tr("embedder: longest text"))
    parser.add_argument("--inputs", default="input_ids,attention_mask", help=tr("embedder: names in its graph"))
    parser.add_argument("--output", default="embedding", help=tr("embedder: name in its graph"))
    _add_licence(parser)


def _add_machine(commands: _Commands) -> None:
    models = _command(commands, "models", tr("the model packs"))
    acts = models.add_subparsers(metavar="ACTION", dest="action", required=True)
    _command(acts, "list", tr("installed packs"))
    _command(acts, "verify", tr("check the hashes of every file")).add_argument("pack", nargs="?", default="")
    add = _command(acts, "add", tr("bring in a pack: a folder, or a ZIP of one"))
    add.add_argument("path", metavar="PATH", type=Path)
    _add_licence(add)
    _add_seal(_command(acts, "seal", tr("make a pack of model files of your own, and bring it in")))
    remove = _command(acts, "remove", tr("take a pack away"))
    remove.add_argument("pack", metavar="PACK")
    remove.add_argument("--yes", action="store_true", help=tr("do not ask"))

    _command(commands, "doctor", tr("what is installed, what works, what is missing"))

    bench = _command(commands, "bench", tr("measurements"))
    suites = bench.add_subparsers(metavar="SUITE", dest="action", required=True)
    speed = _command(suites, "speed", tr("ratios of the model engine, the search and the start"))
    speed.add_argument("--backbone", default=None, metavar="PACK")
    speed.add_argument(
        "--passages", type=_at_least_one, default=0, help=tr("instead: the search among so many passages")
    )
    speed.add_argument("--data", type=Path, default=None, metavar="DIR", help=tr("draw them from the public answers"))
