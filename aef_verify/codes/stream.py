"""The problems of a runner's event stream [STRM-3], and of the runs that it names [STRM-4].

`over-budget`, `over-cases` and `time` stand once: what the stream reports and what its runs show break one rule each.
"""

from __future__ import annotations

from aef_verify.codes.scopes import STREAM, Row

_PLAN_AGAIN = "Get the plan's file as the runner was given it, byte for byte; one that was saved anew is another plan."
_NOT_THE_PLAN = "Do not count this run for the plan: ask the runner why it ran something else."

ROWS: tuple[Row, ...] = (
    (
        STREAM,
        "encoding",
        "STRM-3 ENC-5 ENC-7",
        "The stream has a CR, a blank line or a byte order mark, so that none of its lines can be relied on.",
        "Get the stream again as the runner wrote it; a tool in between may have changed its line ends.",
    ),
    (
        STREAM,
        "limit",
        "STRM-3 ENC-17",
        "The stream has more lines or bytes than are read, so that nothing else was checked.",
        "Look for what filled it; a job that needs more events has to be several jobs.",
    ),
    (
        STREAM,
        "event-invalid",
        "STRM-3 ENC-2 ENC-17 VER-3",
        "A line is no event that reads, so it takes no part in anything else.",
        "Look at the line in the file; a runner of a later version may have written what this one refuses.",
    ),
    (
        STREAM,
        "first",
        "STRM-3",
        "The stream does not begin with whether the job was accepted or refused.",
        "Get the stream from its beginning: earlier events may have been lost.",
    ),
    (
        STREAM,
        "seq",
        "STRM-1 STRM-3",
        "An event's number is not the one after the event before it.",
        "Look for events that were lost, written twice or put in another order.",
    ),
    (
        STREAM,
        "job-id",
        "STRM-1 STRM-3",
        "An event is of another job than the first one.",
        "Part the streams: two jobs may have written to one file.",
    ),
    (
        STREAM,
        "time",
        "STRM-3 STRM-4 ENC-8",
        "An event is earlier than the one before it, or a run began before its job was accepted or ended after it did.",
        "Check the runner's clock; a run from before the job is older evidence, which no plan authorizes.",
    ),
    (
        STREAM,
        "over-time",
        "PLAN-2 PLAN-9 STRM-3",
        "The job went on for longer than the plan's timeout.",
        "Take the job as one that did not keep its plan; a runner has to stop in time, sealing included.",
    ),
    (
        STREAM,
        "after-terminal",
        "STRM-1 STRM-3",
        "An event follows one that ended the job.",
        "Go by the first end, and ask the runner what it did afterwards.",
    ),
    (
        STREAM,
        "accepted-twice",
        "STRM-3",
        "The job is accepted a second time.",
        "Look for two jobs in one stream, or a runner that began again.",
    ),
    (
        STREAM,
        "plan-id",
        "PLAN-5 STRM-3",
        "The runner accepted or refused a plan of another id.",
        "Give the plan that the stream is about, or get the stream that is about this plan.",
    ),
    (
        STREAM,
        "plan-digest",
        "PLAN-5 STRM-3",
        "The plan given is not, byte for byte, the one that the runner accepted or refused.",
        _PLAN_AGAIN,
    ),
    (
        STREAM,
        "estimate",
        "STRM-3",
        "The least cost estimated is above the highest.",
        "Do not rely on the estimate.",
    ),
    (
        STREAM,
        "spend-decreased",
        "STRM-3",
        "The cost so far is less than it was before, although it is a total.",
        "Do not rely on the reported cost; the runs' own figures say what they cost.",
    ),
    (
        STREAM,
        "over-budget",
        "PLAN-2 PLAN-9 STRM-3 STRM-4",
        "The job reports, or its runs together state, a higher cost than the plan allows.",
        "Take the job as one that did not keep its plan, and see whether the runner bounds the cost of a case.",
    ),
    (
        STREAM,
        "over-cases",
        "PLAN-2 PLAN-9 STRM-3 STRM-4",
        "The job reports, or its runs together hold, more cases than the plan allows.",
        "Take the job as one that did not keep its plan.",
    ),
    (
        STREAM,
        "run-hash-changed",
        "STRM-3 SEAL-4",
        "A run is announced a second time with another run hash.",
        "Go by the first hash; a run that was sealed again after it was announced is another one.",
    ),
    (
        STREAM,
        "unannounced-run",
        "STRM-3",
        "The end of the job names a run that no event before it announced.",
        "Do not count that run: nothing says which content it had when the job made it.",
    ),
    (
        STREAM,
        "unsealed-run",
        "STRM-3",
        "The end of the job leaves out a run that it announced.",
        "Ask the runner what became of that run; results may have been left out on purpose.",
    ),
    (
        STREAM,
        "no-terminal",
        "STRM-1 STRM-2 STRM-3",
        "The stream ends without saying how the job ended; a last line without LF does not count.",
        "Wait for the job if it still runs (--follow); otherwise its runner was cut off, and what it did is not known.",
    ),
    (
        STREAM,
        "run-missing",
        "STRM-4 RUN-1",
        "No run below the folder given has the id that the end of the job names.",
        "Give the folder that the job's runs were written to; without the run nothing is known of it.",
    ),
    (
        STREAM,
        "run-hash",
        "STRM-4 SEAL-4 SEAL-6",
        "There are runs of that id, and none of them is intact under the hash that the job announced for it.",
        "Verify those runs with `aef verify`: they were changed, sealed again or never sealed, or a blob is gone.",
    ),
    (
        STREAM,
        "provenance",
        "STRM-4 RUN-12 PLAN-5",
        "The run does not say that it comes from this plan, job and runner.",
        "Do not count the run for this job: it may have been made for another one.",
    ),
    (
        STREAM,
        "subject",
        "STRM-4 PLAN-1",
        "The run evaluated another subject, or another version of it, than the plan asks for.",
        _NOT_THE_PLAN,
    ),
    (
        STREAM,
        "deployment",
        "STRM-4 PLAN-1",
        "The run's subject answered in another deployment, or at another endpoint, than the plan names.",
        _NOT_THE_PLAN,
    ),
    (
        STREAM,
        "suite",
        "STRM-4 PLAN-1 PLAN-8",
        "The run's suite, its version, or its frozen content is none of the plan's.",
        _NOT_THE_PLAN,
    ),
    (
        STREAM,
        "judges",
        "STRM-4 PLAN-1 RUN-9",
        "The run was judged by a model that the plan does not name, more often than it names it, or out of its order.",
        "Do not compare the run's scores with those of the plan's judges.",
    ),
    (
        STREAM,
        "target-mode",
        "STRM-4 RUN-7",
        "The run's target mode is not the one that the plan asks for, which is live where it names none.",
        "Show the run's target mode with its results, and do not take them for what was asked.",
    ),
    (
        STREAM,
        "content-capture",
        "STRM-4 RUN-11 VER-8",
        "The run kept content on a plan that keeps none, or kept none on a plan that asks for it.",
        "If content was kept against the plan, keep the run away from those who may not see it.",
    ),
    (
        STREAM,
        "no-cost",
        "STRM-4 SUM-7",
        "The run's summary does not state what the run cost, so that the budget cannot be checked.",
        "Ask the runner for the cost; none stated is not the same as none.",
    ),
)
