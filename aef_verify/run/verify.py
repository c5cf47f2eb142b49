"""The run verifier (03 §3.9, 04 §4.5): the one place that joins the documents' rules with the seal's.

Order: list the folder [RUN-3]; read `run.json`, `metrics.json`, `summary.json`; hash blobs and every other file; read
`evidence.ndjson`, `results.ndjson`, `gates.ndjson`, the traces and logs; then the rules that need all of them, only
where no file or line has `encoding`, `limit` or `schema`; then the seal, the outcome, the signers, the anchor.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from aef_verify import limits
from aef_verify.encoding.paths import path_problems
from aef_verify.folder import Folder
from aef_verify.integrity.check import Integrity
from aef_verify.integrity.facts import result_bytes
from aef_verify.integrity.manifest import NEVER_SEALED, Sealed, blob_name, is_sealed
from aef_verify.layout import (
    EVIDENCE,
    GATES,
    KNOWN_FILES,
    LOGS,
    METRICS,
    RESULTS,
    RUN,
    SUMMARY,
    TRACES,
)
from aef_verify.problems import Problem, ordered
from aef_verify.run import evidence, gates, traces
from aef_verify.run.header import is_closed, metric_kinds, metric_problems, run_problems
from aef_verify.run.ranges import Judging, Ranges, Totals, judge_here
from aef_verify.run.reading import Document, Documents, JsonFile
from aef_verify.run.results import Part, Surroundings
from aef_verify.run.summary import Summary
from aef_verify.run.tree import Tree, split_ids

if TYPE_CHECKING:
    from aef_verify.integrity.policy import TrustPolicy

_STOPS = frozenset(("encoding", "limit", "schema"))


class Overlays(NamedTuple):
    """What the overlay chain of a run says, apart from its outcome [OVL-5].

    `problems` are ordered; `batches` verified; `events` in them that take effect; `unsealed` lines after them.
    """

    problems: tuple[Problem, ...]
    batches: int
    events: int
    unsealed: int


class RunReport(NamedTuple):
    """What the verifier found about one run (04 §4.5).

    Attributes:
        path: the folder as the caller named it.
        outcome: `intact`, `unsealed` or `invalid`.
        problems: every problem, ordered; `withheld` ones do not make a run invalid.
        signed_by: the identities that the run is signed by, in policy order; None without a policy.
        anchored: whether the run hash is in the caller's list; None without one.
        withheld: how many sealed blobs an authorized redaction withholds.
        run_hash: the run's run hash [SEAL-4].
        run: `run.json` where it reads, valid or not.
        summary: `summary.json` where it is valid.
        lines: the number of lines in `results.ndjson` that were given to the rules.
        overlays: what the overlay chain says; None where it was not asked for.
        digests: the SHA-256 in hex of each document of [RUN-2] that there is, as it was judged, by path.
    """

    path: str
    outcome: str
    problems: tuple[Problem, ...]
    signed_by: tuple[str, ...] | None
    anchored: bool | None
    withheld: int
    run_hash: str
    run: Document | None
    summary: Document | None
    lines: int
    overlays: Overlays | None
    digests: dict[str, str]

    @property
    def run_id(self) -> str | None:
        """The `runId`, where `run.json` reads and has one."""
        found = self.run.get("runId") if self.run is not None else None
        return found if isinstance(found, str) else None

    @property
    def sealed(self) -> bool:
        """Whether the run verifies against a seal."""
        return self.outcome == "intact"


def verify_run(
    path: str,
    *,
    policy: TrustPolicy | None = None,
    anchors: Collection[str] | None = None,
    overlays: bool = False,
    details: bool = False,
    watch: Callable[[int], object] | None = None,
    ranges: Ranges = judge_here,
) -> RunReport:
    """Verify one run folder.

    Args:
        path: the folder that holds `run.json`.
        policy: the caller's trust policy; without one nobody signed, and no redaction is authorized [SIG-4].
        anchors: the run hashes that the caller trusts, lower-case hex.
        overlays: also check the overlay chain and report it apart.
        details: find the reason behind each `schema` problem, for people.
        watch: called with the number of bytes of every block read.
        ranges: has the ranges of `results.ndjson` judged; the report is the same wherever that is.

    Raises:
        InputError: the folder or one of its files cannot be read, or changed meanwhile.
    """
    with Folder(path) as folder:
        folder.watch = watch
        return _Verification(folder, policy, ranges, details=details).report(path, anchors, overlays)


class _Verification:
    """One run's verification, step by step."""

    def __init__(self, folder: Folder, policy: TrustPolicy | None, ranges: Ranges, *, details: bool) -> None:
        self.folder = folder
        self.policy = policy
        self.details = details
        self.documents = Documents(folder, details=details)
        self.ranges = ranges
        self.result_ids: Container[bytes] = ()
        self.results_whole = False
        self.lines = 0

    def report(self, path: str, anchors: Collection[str] | None, overlays: bool) -> RunReport:
        """Run every step and say what came out."""
        folder, documents = self.folder, self.documents
        problems = path_problems([entry.path for entry in (*folder.files, *folder.irregular)])
        problems += (Problem(entry.path, "path", "neither a file nor a folder") for entry in folder.irregular)
        header = documents.json(RUN, "run", required=True)
        metrics = documents.json(METRICS, "metrics", required=True)
        summary = documents.json(SUMMARY, "summary", required=is_closed(header.document))
        integrity = Integrity(folder, header.document, self.policy, details=self.details)
        problems += self._judge(integrity, header.document, metrics.document, summary, self._hash_files())
        integrity.files = [
            Sealed(entry.path, *documents.digest(entry)) for entry in folder.files if is_sealed(entry.path)
        ]
        problems += integrity.problems()
        found = tuple(ordered([*documents.problems, *problems]))
        outcome = self._outcome(found, integrity)
        return RunReport(
            path,
            outcome,
            found,
            None if self.policy is None else integrity.signed_by() if outcome == "intact" else (),
            None if anchors is None else outcome == "intact" and integrity.run_hash in anchors,
            sum(problem.code == "withheld" for problem in found),
            integrity.run_hash,
            header.document,
            summary.document if summary.valid else None,
            self.lines,
            self._overlays(integrity) if overlays else None,
            {file.path: file.sha256 for file in integrity.files if file.path in KNOWN_FILES},
        )

    @staticmethod
    def _outcome(problems: tuple[Problem, ...], integrity: Integrity) -> str:
        if any(problem.code != "withheld" for problem in problems):
            return "invalid"
        return "intact" if integrity.seal.present else "unsealed"

    def _hash_files(self) -> _Files:
        """Hash every file that no rule parses, and judge what its name and size decide."""
        files = _Files({}, [], [])
        problems = self.documents.problems
        count = 0
        for entry in self.folder.files:
            path = entry.path
            if path in NEVER_SEALED:
                continue
            count += 1
            if path in KNOWN_FILES:
                continue
            sha256, size = self.documents.digest(entry)
            blob = blob_name(path)
            if not blob:
                files.others.append(path)
                continue
            files.blobs[blob] = size
            if sha256 != blob:
                detail = f"the blob's bytes hash to {sha256}, which is not its name"
                files.problems.append(Problem(path, "blob-digest", detail))
            if size > limits.BLOB_BYTES:
                problems.append(Problem(path, "limit", f"{size:,} bytes; at most {limits.BLOB_BYTES:,} are allowed"))
        if count > limits.FILES:
            problems.append(Problem(".", "limit", f"{count:,} files; at most {limits.FILES:,} are allowed"))
        return files

    def _judge(
        self,
        integrity: Integrity,
        run: Document | None,
        metrics: Document | None,
        summary: JsonFile,
        files: _Files,
    ) -> list[Problem]:
        """Read the NDJSON files, and return group B's problems where group A left it to be judged."""
        documents = self.documents
        sound = not documents.problems and run is not None and metrics is not None
        around = (
            _Around(run, metrics, files.blobs, integrity.withheld)
            if sound and run is not None and metrics is not None
            else _Around({}, {"metrics": []}, files.blobs, frozenset())
        )
        cited = evidence.EvidenceRules(files.blobs, around.withheld, around.capture_off)
        documents.ndjson(EVIDENCE, "evidence", cited.take if sound else _ignore)
        tree = Tree(closed=is_closed(around.run))
        judging, totals = Judging(None, None, self.details), None
        if sound and not documents.problems:
            given = None
            if summary.document is not None and summary.valid:
                given = Totals(summary.document, around.run.get("runId"), around.kinds)
                totals = Summary(*given)
            judging = Judging(around.surroundings(cited.ids), given, self.details)
        self._read_results(judging, tree, totals)
        decisions = gates.GateRules(tree.ids)
        documents.ndjson(GATES, "gate-decision", decisions.take if not documents.problems else _ignore)
        links: list[traces.Link] = []
        if self.folder.get(TRACES) is not None:
            links += ((EVIDENCE, *link) for link in cited.links)
            links += ((RESULTS, *link) for link in tree.links)
        spans = traces.TraceRules(links, around.capture_off)
        for file in (TRACES, LOGS):
            documents.ndjson(file, None, partial(spans.take, file))
        if any(problem.code in _STOPS for problem in documents.problems) or not sound:
            return []
        return [
            *run_problems(around.run),
            *metric_problems(around.metrics),
            *cited.problems,
            *tree.finish(),
            *(totals.problems() if totals is not None else ()),
            *decisions.problems,
            *spans.finish(),
            *files.problems,
            *files.unexpected(integrity.seal.subjects),
        ]

    def _read_results(self, judging: Judging, tree: Tree, totals: Summary | None) -> None:
        documents = self.documents
        if self.folder.get(RESULTS) is None:
            documents.problems.append(Problem(RESULTS, "schema", "the file is required, and it is not there"))
            return
        before = len(documents.problems)
        others: set[bytes] = set()
        sound = judging.around is not None

        def join(part: Part) -> None:
            nonlocal sound
            if sound:
                tree.add(part)
                if totals is not None:
                    totals.add(part.counted)
            else:
                others.update(split_ids(part.ids))
            sound = sound and not part.faults
            others.update(filter(None, map(result_bytes, part.unread)))

        framed = documents.results(RESULTS, partial(self.ranges, judging), join)
        self.results_whole = all(problem.code == "schema" for problem in documents.problems[before:])
        self.lines = tree.taken if framed else 0
        self.result_ids = others.union(tree.ids) if others else tree.ids

    def _overlays(self, integrity: Integrity) -> Overlays | None:
        if not self.folder.overlays and not self.folder.irregular_overlays:
            return None
        chain = integrity.chain
        ids = self.result_ids if self.results_whole else None
        effective = chain.effective(ids)
        return Overlays(tuple(ordered(chain.problems(ids))), len(chain.ends), len(effective), chain.unsealed)


def _ignore(number: int, line: Document) -> None:
    """Take a line that nothing judges."""


class _Files(NamedTuple):
    """The files that no rule parses: the size of each blob by hex name, group B's problems, the others' paths."""

    blobs: dict[str, int]
    problems: list[Problem]
    others: list[str]

    def unexpected(self, listed: Collection[str]) -> Iterator[Problem]:
        """Yield the files that a seal lists and no run has [RUN-2]."""
        names = frozenset(listed)
        for path in self.others:
            if path in names and not path.startswith("ext/"):
                yield Problem(path, "unexpected-file", "sealed, and no kind of file that a run has")


class _Around(NamedTuple):
    """The documents that the lines are judged against."""

    run: Document
    metrics: Document
    blobs: dict[str, int]
    withheld: frozenset[str]

    @property
    def capture_off(self) -> bool:
        return self.run.get("contentCapture") == "off"

    @property
    def kinds(self) -> dict[str, str]:
        return metric_kinds(self.metrics)

    def surroundings(self, cited: set[str]) -> Surroundings:
        return Surroundings(
            str(self.run.get("runId")),
            is_closed(self.run),
            self.capture_off,
            frozenset(self.kinds),
            cited,
            self.blobs,
            self.withheld,
        )
