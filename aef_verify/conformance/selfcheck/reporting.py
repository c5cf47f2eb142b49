"""Mutations of what is shown of evidence, and of chapter 9: how other programs are judged."""

from __future__ import annotations

from aef_verify.conformance.selfcheck.mutation import of

MUTATIONS = (
    *of(
        "report/assemble.py",
        "report/test_assemble.py",
        (
            "shown-clashes",
            "RUN-13",
            "Two runs with one id and different content are shown as if they had two.",
            "if len(by_hash) > 1:",
            "if False:",
        ),
        (
            "shown-imported",
            "RUN-15",
            "What a converter supplied is shown as the producer's.",
            '_imported(run.get("imported")),',
            "None,",
        ),
    ),
    *of(
        "report/verdict.py",
        "report/test_text.py",
        (
            "shown-unsigned",
            "SIG-7",
            "An intact run that nobody signed is not called unsigned.",
            'return "unsigned"',
            'return "signed"',
        ),
    ),
    *of(
        "report/checkpoint_words.py",
        "report/test_checkpoint_words.py",
        (
            "shown-claims",
            "CKP-6 OVL-3",
            "Whoever approves is shown as who signed.",
            'if by["identity"] in signed_by:',
            "if True:",
        ),
    ),
    *of(
        "run/folders.py",
        "engine/test_discover.py run/test_store.py",
        (
            "run-within-a-run",
            "RUN-1",
            "A run within another one is a run of its own.",
            "runs.append(RunFolder(folder, identity))\n            continue\n",
            "runs.append(RunFolder(folder, identity))\n",
        ),
    ),
    *of(
        "encoding/names.py",
        "encoding/test_names.py",
        ("name-percent", "ENC-13", "A percent sign stands in a derived name as it is.", " and byte != 0x25", ""),
        (
            "name-length",
            "ENC-13",
            "A derived name may have any length.",
            "return name if len(name) <= MOST else",
            "return name if True else",
        ),
    ),
    *of(
        "conformance/index.py",
        "conformance/test_index.py",
        (
            "corpus-altered",
            "CONF-1 CONF-3",
            "A file of a corpus may be altered.",
            "if found.hexdigest() != digest:",
            "if False:",
        ),
    ),
    *of(
        "conformance/judge.py",
        "conformance/test_judge.py",
        (
            "corpus-order",
            "CONF-2",
            "A program may report problems in any order.",
            "    if same(expected, got):\n        return []\n    if not isinstance(expected, list):",
            "    if sorted(map(str, expected)) == sorted(map(str, got)):\n        return []\n"
            "    if not isinstance(expected, list):",
        ),
        (
            "corpus-true-is-1",
            "CONF-2",
            "A program may answer 1 for true.",
            "    if isinstance(one, bool) or isinstance(other, bool):\n        return one is other\n",
            "",
        ),
    ),
    *of(
        "conformance/drive.py",
        "conformance/test_drive.py",
        (
            "corpus-crash-refuses",
            "CONF-3",
            "A program that crashes has refused.",
            "    if status == 2:\n",
            "    if status:\n",
        ),
    ),
    *of(
        "conformance/claim.py",
        "conformance/test_claim.py",
        (
            "claim-with-exceptions",
            "CONF-4",
            "A class may be claimed of which a vector was left out.",
            'return "" if left else name',
            "return name",
        ),
    ),
)
