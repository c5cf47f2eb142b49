"""`aef bench longmemeval`: a paired memory benchmark that writes its evidence."""

from __future__ import annotations

from typing import Any

import click

from aef_verify.memory.dataset import VARIANTS
from aef_verify.memory.judge import LABEL_RULES, POLICIES
from aef_verify.memory.roster import PRESETS


@click.group(short_help="Run a benchmark and write its evidence.")
def bench() -> None:
    """Run a benchmark and write its evidence."""


@bench.command(short_help="LongMemEval, with or without its oracle arm.")
@click.option("--preset", type=click.Choice(PRESETS), default="subset", show_default=True,
              help="50 questions over the six types, or all of them.")  # fmt: skip
@click.option("--subject", required=True, metavar="NAME", help="The agent under test, as evidence names it.")
@click.option("--subject-version", metavar="VERSION", help="Its exact version.")
@click.option("--agent", default="full-history", show_default=True, metavar="AGENT",
              help="full-history, none, bm25, or module:factory of your own.")  # fmt: skip
@click.option("--paired-oracle", "paired", is_flag=True, help="Run the oracle arm, too: about twice the calls.")
@click.option("--aef", metavar="DIR", help="Write evidence below this folder.")
@click.option("--aef-unsealed", is_flag=True, help="Do not seal it.")
@click.option("--aef-key", metavar="FILE", help="Sign its seals: unencrypted PKCS#8 PEM, P-256 or Ed25519.")
@click.option("--no-aef", is_flag=True, help="Write no evidence; the default without --aef.")
@click.option("--content", type=click.Choice(["on", "off"]), default="off", show_default=True,
              help="Whether answers and judgements are kept in the evidence.")  # fmt: skip
@click.option("--threshold", default="50", show_default=True, metavar="PERCENT", help="What the normal arm must reach.")
@click.option("--dataset", metavar="FILE", help="A dataset in LongMemEval's format.")
@click.option("--variant", type=click.Choice(VARIANTS), help="Its variant, if its name is silent.")
@click.option("--seed", type=int, default=0, show_default=True, help="What the subset is drawn with.")
@click.option("--max-questions", type=int, metavar="N", help="Ask fewer questions.")
@click.option("--endpoint", metavar="URL", help="The provider; else OPENAI_BASE_URL. The key is in OPENAI_API_KEY.")
@click.option("--model", metavar="NAME", help="The answer model.")
@click.option("--model-version", metavar="VERSION", help="Its version, for the definition.")
@click.option("--judge-endpoint", metavar="URL", help="The judge's provider, if another; key in JUDGE_OPENAI_API_KEY.")
@click.option("--judge-model", metavar="NAME", help="The judge, if another model.")
@click.option("--api-style", type=click.Choice(["openai", "azure"]), default="openai", show_default=True,
              help="azure reads AZURE_OPENAI_ENDPOINT and AZURE_OPENAI_API_KEY.")  # fmt: skip
@click.option("--temperature", type=click.FloatRange(0, 2), default=0.0, show_default=True)
@click.option("--max-tokens", type=click.IntRange(1), default=512, show_default=True, help="The longest answer.")
@click.option("--judge-max-tokens", type=click.IntRange(1), default=10, show_default=True)
@click.option("--label-rule", type=click.Choice(LABEL_RULES), default="first-word", show_default=True,
              help="How a judge's reply is read.")  # fmt: skip
@click.option("--judge-failure", type=click.Choice(POLICIES), default="absent",
              show_default=True, help="What a question without a verdict becomes.")  # fmt: skip
@click.option("--concurrency", type=click.IntRange(1, 1024), default=8, show_default=True, help="Questions at a time.")
@click.option("--timeout", type=click.FloatRange(0, min_open=True), default=120.0, show_default=True,
              help="Seconds for one attempt.")  # fmt: skip
@click.option(
    "--retries", type=click.IntRange(0, 100), default=4, show_default=True, help="Further attempts of a call."
)
@click.option("--print-plan", is_flag=True, help="Print the normal arm as a run plan, and ask nothing.")
@click.option("--job", metavar="PLAN", help="Run the normal arm as a job, if PLAN asks for it.")
@click.option("--runner", metavar="FILE", help="The manifest that the job acts as, if not one made up here.")
@click.option("--out", metavar="DIR", help="Where the job writes: empty or not there yet.")
@click.option("--usd-per-call", type=click.FloatRange(0), metavar="USD",
              help="The most that one attempt of a call costs; a job needs it.")  # fmt: skip
@click.option("--question-timeout", type=click.FloatRange(1, 10**6), metavar="S",
              help="Seconds after which a job gives a question up; 300 by default.")  # fmt: skip
@click.option("--target-mode", type=click.Choice(["live", "scripted"]), help="What a job says answers.")
@click.option(
    "--max-usd", type=click.FloatRange(0), metavar="USD", help="The plan's budget, if not the most it can be."
)
@click.option("--job-timeout", metavar="DURATION", help="The plan's timeout, such as PT2H.")
@click.option("--offline", is_flag=True, help="Refuse every address but loopback; alone, use the bundled provider.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON value.")
@click.option("--quiet", is_flag=True, help="Print no progress.")
def longmemeval(as_json: bool, quiet: bool, content: str, **options: Any) -> int:
    """Run LongMemEval against an agent.

    The normal arm answers over whole histories. With --paired-oracle a second arm answers the same questions from
    their gold sessions alone; its score is a diagnostic and never decides. Each arm becomes one run of evidence.

    Exit code: 0 the normal arm reached its threshold, 1 it did not, or was interrupted, 2 usage or input error, 3
    evidence could not be written. With --job as `aef job`: 0 sealed, 1 refused or failed, 2, 3.
    """
    from aef_verify.cli.exits import PROBLEM
    from aef_verify.cli.output import say

    try:
        from aef_verify.cli.bench_run import perform

        return perform(options | {"content": content == "on"}, as_json=as_json, quiet=quiet)
    except KeyboardInterrupt:
        if options["job"] is not None:
            raise
        # Before the benchmark takes signals itself.
        say("aef bench longmemeval: interrupted before anything was prepared")
        return PROBLEM
