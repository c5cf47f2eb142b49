"""Verify the bundled evidence, sound and tampered, with the real command line, and check what it says.

Every command is shown as a reader can repeat it, and its output is its own. What must come out stands in
`fixtures/expected.json`; the exit code is 1 if anything else does. The last parts make evidence of their own, in a
temporary folder: a paired benchmark, answered over HTTP by a scripted provider on 127.0.0.1, and a release decision
over it. No network is used.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from aef_verify.layout import ATTESTATION, SEAL
from scripts.fixture_runs.checkpoints import LATER
from scripts.fixture_runs.red_team import VIEWED_AT

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
"""Where the commands are run, so that they are short enough to read."""

POLICY = ("--policy", "policy.json")
ANCHORS = ("--anchors", "anchors.json")
SOUND, TAMPERED = "evidence/sound", "evidence/tampered"
RELEASES, TAMPERED_RELEASES = "checkpoints/sound", "checkpoints/tampered"
CHECKPOINT = ("checkpoint", *POLICY, "--runs", SOUND)
BOLD, RED, GREEN = 1, 31, 32

Document = dict[str, Any]


class Step(NamedTuple):
    """One command of the demonstration: words before it, its arguments, and the exit code it must have."""

    words: str
    arguments: Sequence[str]
    exit_code: int


class Part(NamedTuple):
    """A heading, what to know about it, and its steps."""

    heading: str
    words: str
    steps: Sequence[Step]


def tampered(name: str, *options: str, words: str = "", beside: str = "", exit_code: int = 1) -> Step:
    """Return the step that verifies a tampered copy, alone or beside a sound run."""
    paths = [f"{SOUND}/{beside}"] if beside else []
    return Step(words or name, ("verify", *POLICY, *options, *paths, f"{TAMPERED}/{name}"), exit_code)


def released(name: str, at: str, words: str = "", exit_code: int = 0) -> Step:
    """Return the step that checks a sound release decision at a time."""
    return Step(words, (*CHECKPOINT, "--at", at, f"{RELEASES}/{name}.json"), exit_code)


def tampered_release(name: str, at: str) -> Step:
    """Return the step that checks a tampered copy of a release decision."""
    return Step(name, (*CHECKPOINT, "--at", at, f"{TAMPERED_RELEASES}/{name}.json"), 1)


PARTS = (
    Part(
        "Sound evidence",
        "Six runs of three producers. The policy says whose signatures count and who may withhold a blob; the anchors "
        "are hashes of runs that somebody remembers. Intact means unchanged since it was sealed, not that it is true.",
        [Step("", ("verify", *POLICY, *ANCHORS, SOUND), 0)],
    ),
    Part(
        "What people said of it afterwards",
        "A sealed run never changes. A review, an override, a waiver is appended in sealed and signed batches; a "
        "view shows what holds at a time, beside what was sealed.",
        [
            Step("", ("view", *POLICY, "--at", VIEWED_AT, f"{SOUND}/red-team"), 0),
        ],
    ),
    Part(
        "Who may say that a blob may be gone?",
        "Only the reader's policy. Without it the transcript that was withheld is a file that is missing.",
        [Step("", ("verify", f"{SOUND}/red-team"), 1)],
    ),
    Part(
        "The signed run, tampered with",
        "",
        [
            tampered("changed-verdict"),
            tampered("resealed", exit_code=0),
            tampered(
                "resealed",
                "--require",
                "signed",
                words="That is why intact never stands alone: it says (unsigned), or who signed. Ask for a signature:",
            ),
        ],
    ),
    Part("The unsealed run, tampered with", "", [tampered("polished-summary")]),
    Part(
        "The run with overlays, tampered with",
        "",
        [tampered("altered-overlay"), tampered("self-made-redaction")],
    ),
    Part("The run with trees of results, tampered with", "", [tampered("hidden-part")]),
    Part(
        "The run with trials, tampered with",
        "",
        [tampered("hidden-trials"), tampered("other-run", *ANCHORS, beside="coding-agent")],
    ),
    Part("The aborted run, tampered with", "", [tampered("added-file"), tampered("two-statuses")]),
    Part(
        "May this version be released?",
        "A checkpoint decides that for one exact version: which lane must show what, and on which sealed runs it "
        "rests. Whoever reads it computes every lane again from the runs, and decides again at the time of reading.",
        [
            released("repairs", "2026-10-03T12:00:00Z"),
            released("repairs", LATER, "The same file, read when its evidence is too old. It is not rewritten:", 1),
        ],
    ),
    Part(
        "A failure that somebody accepts for a time",
        "Only a failure can be accepted, never missing evidence, and only for exactly these runs.",
        [
            released("support", "2026-10-05T12:00:00Z"),
        ],
    ),
    Part("That decision, tampered with", "", [tampered_release("longer-exception", LATER)]),
    Part("A decision over another run", "", [tampered_release("exchanged-run", "2026-10-03T12:00:00Z")]),
)

NEXT = (
    ("See a run as a reader sees it", "aef show evidence/sound/triage"),
    ("Ask what a code means", "aef explain trials"),
    ("Take a copy and change a byte", "cp -r evidence/sound/triage /tmp/mine"),
    ("Verify your own evidence", "aef verify PATH"),
    ("Decide a release of your own", "docs/CHECKPOINTS.md"),
    ("Put your own agent to the test", "docs/BENCH.md"),
    ("Read what was done to each copy", "fixtures/README.md"),
)


IDENTITY = "git:you@example.org"
BENCH = ("bench", "longmemeval", "--subject", "my-agent", "--paired-oracle", "--offline", "--aef", "evidence")
LINKED = ("verify", "--policy", "policy.json", "--require", "linked")


class Demonstration:
    """Runs the parts and keeps what was not as expected."""

    def __init__(self, evidence: Sequence[Document], checkpoints: Sequence[Document] = ()) -> None:
        """Take the entries of `expected.json`."""
        self.evidence = {entry["path"]: entry for entry in evidence}
        self.checkpoints = {entry["path"]: entry for entry in checkpoints}
        self.width = max(min(shutil.get_terminal_size((100, 24)).columns, 120), 40)
        self.coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        self.faults: list[str] = []
        self.checked = 0

    def say(self, words: str = "", indent: str = "", style: int | None = None) -> None:
        """Print words, wrapped to the terminal."""
        text = textwrap.fill(words, self.width, initial_indent=indent, subsequent_indent=indent)
        print(self.styled(text, style))

    def styled(self, text: str, style: int | None) -> str:
        """Return a text in a style of the terminal, if there is one."""
        return f"\x1b[{style}m{text}\x1b[0m" if self.coloured and style is not None else text

    def heading(self, words: str) -> None:
        """Print a heading over the whole width."""
        print("\n" + self.styled(f"== {words} ".ljust(self.width, "="), BOLD) + "\n")

    def part(self, number: int, part: Part) -> None:
        """Show one part."""
        self.heading(f"{number}. {part.heading}")
        if part.words:
            self.say(part.words)
            print()
        for index, step in enumerate(part.steps):
            if index:
                print()
            self.step(step)

    def paired(self, number: int, folder: Path) -> None:
        """Run a paired benchmark in a folder, verify what it writes, and show a tampered copy refused."""
        self.heading(f"{number}. A benchmark that writes evidence of its own")
        self.say(
            "First a key, and a policy that trusts it. Then LongMemEval in two arms, over a small bundled workload and "
            "real HTTP: the agent under test answers from whole histories, and after it an oracle from the sessions "
            "that hold the answer. What lies between bounds what a better memory could gain. A scripted provider on "
            "127.0.0.1 answers and judges."
        )
        print()
        entry = self.shown(("keygen", "--identity", IDENTITY, "key.pem"), folder)
        (folder / "policy.json").write_text(json.dumps({"keys": [json.loads(entry)]}), encoding="utf-8")
        self.say('policy.json is that entry in {"keys": […]}.', "  ")
        print()
        self.step(Step("", (*BENCH, "--aef-key", "key.pem"), 0), folder)
        print()
        self.step(
            Step("Two sealed, signed runs. Do they belong together, and who says so?", (*LINKED, "evidence"), 0), folder
        )
        self.pair(folder, "evidence", "linked", [], [IDENTITY])

    def relabelled(self, number: int, folder: Path) -> None:
        """Pass the normal run off as another agent's, and verify it beside its oracle."""
        for run in (folder / "evidence").iterdir():
            shutil.copytree(run, folder / "tampered" / run.name.rpartition("-")[2])
        run = folder / "tampered" / "normal"
        document = json.loads((run / "run.json").read_bytes())
        document["subject"]["ref"] = "agent:another-agent"
        (run / "run.json").write_text(json.dumps(document), encoding="utf-8")
        (run / SEAL).unlink()
        (run / ATTESTATION).unlink()
        self.heading(f"{number}. The same pair, tampered with")
        self.step(
            Step(
                "A copy in which the normal run is passed off as another agent's: the name in run.json changed, "
                "the signature thrown away, a new seal put on.",
                ("seal", "tampered/normal"),
                0,
            ),
            folder,
        )
        print()
        self.step(Step("", (*LINKED, "tampered"), 1), folder)
        self.pair(folder, "tampered", "invalid", ["pair-link"], [])
        self.say(
            "What to see: alone the new run is intact, though nobody signed it. But the signed oracle names the hash "
            "of the run that it was measured beside, and this is another one.",
            "  ",
        )

    def decided(self, number: int, folder: Path) -> None:
        """Decide a release over the benchmark, sign it, and show why it approves nothing."""
        (folder / "plan.json").write_text(json.dumps(plan_of(folder / "evidence"), indent=2), encoding="utf-8")
        self.heading(f"{number}. A release decision over that benchmark")
        self.say(
            "plan.json asks that my-agent 1.0.0 answers half of the questions, and names both runs. Both scores are "
            "high enough. But a provider answered from a script, and one of the runs is not even the agent's."
        )
        print()
        self.shown(("decide", "plan.json", "--runs", "evidence", "-o", "release.json"), folder)
        self.shown(("sign", "release.json", "--key", "key.pem"), folder)
        self.step(Step("", ("checkpoint", "release.json", "--runs", "evidence", "--policy", "policy.json"), 1), folder)
        self.say(
            "What to see: signed, intact, sound, and still no approval: scripted runs say nothing about the live "
            "agent, and what was not measured never becomes a pass.",
            "  ",
        )

    def pair(self, folder: Path, path: str, outcome: str, codes: list[str], signers: list[str]) -> None:
        """Compare what the verifier says of the one pair there, as JSON, with what must come out."""
        command = ["aef", "verify", "--json", "--policy", "policy.json", path]
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, check=False)
        said = [
            pair_words(pair["outcome"], [problem["code"] for problem in pair["problems"]], pair["signedBy"])
            for pair in json.loads(done.stdout)["pairs"]
        ]
        wanted = pair_words(outcome, codes, signers)
        self.expect(said == [wanted], "; ".join(said) or "no pair", wanted)

    def shown(self, arguments: Sequence[str], folder: Path) -> bytes:
        """Run a command for everyone to see, check that it succeeds, and return what it printed."""
        print(self.styled(self.command_line(arguments), BOLD), end="\n\n", flush=True)
        done = subprocess.run(["aef", *arguments], cwd=folder, capture_output=True, check=False)
        if done.stderr:
            print(textwrap.fill(done.stderr.decode().strip(), self.width), flush=True)
        for line in done.stdout.decode().splitlines():
            self.say(line)
        print()
        self.expect(done.returncode == 0, f"exit code {done.returncode}", "exit code 0")
        return done.stdout

    def step(self, step: Step, folder: Path = FIXTURES) -> None:
        """Say what is about to be verified, run the command for everyone to see, and check its exit code."""
        about = self.evidence.get(f"{TAMPERED}/{step.words}")
        about = about or self.checkpoints.get(f"{TAMPERED_RELEASES}/{step.words}.json")
        if about is not None:
            self.say(f"{step.words}, a copy of {Path(about['copyOf']).stem}. {about['about']}")
            print()
        elif step.words:
            self.say(step.words)
            print()
        print(self.styled(self.command_line(step.arguments), BOLD), end="\n\n", flush=True)
        code = subprocess.run(["aef", *step.arguments], cwd=folder, check=False).returncode
        print()
        self.expect(code == step.exit_code, f"exit code {code}", f"exit code {step.exit_code}")
        if about is not None:
            self.say(f"What to see: {about['says']}", "  ")

    def command_line(self, arguments: Sequence[str]) -> str:
        """Return a command as a reader types it, folded where it is too long."""
        words = [shlex.quote(word) for word in ("aef", *arguments)]
        lines, line = [], "$"
        for word in words:
            if line != "$" and len(line) + len(word) + 3 > self.width:
                lines.append(line + " \\")
                line = "   "
            line += " " + word
        return "\n".join([*lines, line])

    def expect(self, fulfilled: bool, found: str, wanted: str) -> None:
        """Say whether what came out is what must come out, and keep it if not."""
        self.checked += 1
        if fulfilled:
            self.say(f"-> {found}, as it must be", "  ", GREEN)
        else:
            self.faults.append(f"{found}, where {wanted} must come out")
            self.say(f"-> NOT AS EXPECTED: {self.faults[-1]}", "  ", RED)

    def compare(self) -> None:
        """Compare what the verifier says of all evidence, as JSON, with the table that was written by hand."""
        self.heading("Checked against the table")
        arguments = ("verify", "--json", *POLICY, *ANCHORS, "evidence")
        self.say("The same, for a script, and every outcome, problem and signer compared with expected.json:")
        print("\n" + self.styled(self.command_line(arguments), BOLD), flush=True)
        done = subprocess.run(["aef", *arguments], cwd=FIXTURES, stdout=subprocess.PIPE, check=False)
        report = json.loads(done.stdout)
        found = {run["path"]: run for run in report["runs"]}
        clashing = {path for clash in report["clashes"] for runs in clash["runs"] for path in runs["paths"]}
        print()
        differing = []
        for path, entry in self.evidence.items():
            said = facts(found[path]) if path in found else None
            wanted = {name: entry[name] for name in said or ()}
            if said != wanted or (entry["clashes"] and path not in clashing):
                differing.append(path)
                self.say(f"{path}: the verifier says {said}, and the table {wanted}", "  ")
        alike = len(self.evidence) - len(differing)
        self.expect(
            not differing and len(found) == len(self.evidence),
            f"{alike} of {len(found)} runs as the table has them",
            "all",
        )
        self.compare_checkpoints()

    def compare_checkpoints(self) -> None:
        """Compare what the verifier says of every checkpoint, as JSON, with the table."""
        alike = 0
        calls = {
            path: ["aef", *CHECKPOINT, "--json", "--at", entry["at"], path] for path, entry in self.checkpoints.items()
        }
        running = {path: subprocess.Popen(call, cwd=FIXTURES, stdout=subprocess.PIPE) for path, call in calls.items()}
        for path, entry in self.checkpoints.items():
            said = checkpoint_facts(json.loads(running[path].communicate()[0]))
            wanted = {name: entry[name] for name in said}
            alike += said == wanted
            if said != wanted:
                self.say(f"{path}: the verifier says {said}, and the table {wanted}", "  ")
        total = len(self.checkpoints)
        self.expect(alike == total, f"{alike} of {total} checkpoints as the table has them", "all")


def pair_words(outcome: str, codes: Sequence[str], signers: Sequence[str]) -> str:
    """Say what a pair comes to."""
    because = f" because of {', '.join(codes)}" if codes else ""
    return f"the pair is {outcome}{because}, signed by {', '.join(signers) or 'nobody'}"


def facts(run: Document) -> Document:
    """Return what the report says of one run, as the table says it."""
    return {
        "outcome": run["outcome"],
        "problems": [[problem["path"], problem["code"]] for problem in run["problems"]],
        "overlayProblems": [[p["path"], p["code"]] for p in (run["overlays"] or {"problems": []})["problems"]],
        "signedBy": run["signedBy"],
        "anchored": run["anchored"],
        "withheld": run["withheld"],
    }


def checkpoint_facts(report: Document) -> Document:
    """Return what the report says of one checkpoint, as the table says it."""
    return {
        "recorded": report["recorded"] and report["recorded"]["written"],
        "outcome": report["outcome"],
        "problems": [[problem["path"], problem["code"]] for problem in report["problems"]],
        "signedBy": report["signedBy"],
        "exitCode": report["exitCode"],
    }


def plan_of(evidence: Path) -> Document:
    """Return an undecided checkpoint of the agent under test, a lane for each arm of its benchmark."""
    rule = {"kind": "threshold", "lane": "longmemeval", "metric": "accuracy", "path": "qa", "op": ">=", "value": 0.5}
    lanes = []
    for run in sorted(evidence.iterdir()):
        predicate = json.loads((run / SEAL).read_bytes())["predicate"]
        pointer = {"runId": predicate["runId"], "runHash": predicate["runHash"], "origin": "launched"}
        lanes.append({"lane": run.name.rpartition("-")[2], "rule": rule, "runs": [pointer], "blocking": True})
    subject = {"ref": "agent:my-agent", "version": "1.0.0"}
    plan = {"schemaVersion": "1.0", "checkpointId": "my-agent-1.0.0", "subject": subject, "lanes": lanes}
    return {**plan, "state": "evidence_complete", "outcome": None}


def main() -> int:
    """Show everything and return the exit code."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        # The benchmark is answered by its own provider, whatever the caller uses otherwise.
        os.environ.pop(name, None)
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")
    expected = json.loads((FIXTURES / "expected.json").read_bytes())
    show = Demonstration(expected["evidence"], expected["checkpoints"])
    os.environ["COLUMNS"] = str(show.width)
    show.say(
        "aef-verify checks evidence of AI-agent evaluations. This is what it says of evidence that is sound, and of "
        "copies that somebody tampered with. All of it is bundled and made up. No network is used, and nothing is "
        "written but a temporary folder at the end."
    )
    print()
    show.say('To repeat a command, first: PATH="$PWD/.venv/bin:$PATH"; cd fixtures')
    for number, part in enumerate(PARTS, 1):
        show.part(number, part)
    show.compare()
    with tempfile.TemporaryDirectory(prefix="aef-demo-") as folder:
        show.paired(len(PARTS) + 1, Path(folder))
        show.decided(len(PARTS) + 2, Path(folder))
        show.relabelled(len(PARTS) + 3, Path(folder))
    show.heading("Done")
    if show.faults:
        show.say(f"{len(show.faults)} of {show.checked} checks failed:")
        for fault in show.faults:
            show.say(fault, "  ")
        return 1
    show.say(f"All {show.checked} checks came out as they must. What to try next:")
    print()
    for words, command in NEXT:
        print(f"  {words + ':':<33}{command}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OSError as fault:
        sys.exit(f"demo: {fault.filename or 'standard output'}: {fault.strerror or fault}")
