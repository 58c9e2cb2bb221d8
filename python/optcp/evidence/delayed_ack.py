"""What delayed ACKs cost a flow over a line that loses packets."""

from __future__ import annotations

from optcp import stats
from optcp.evidence import loss
from optcp.evidence.base import Experiment, Result, Row, Setting, experiment, provenance


@experiment
class DelayedAck(Experiment):
    """The rate with an ACK for every segment, divided by that with delayed ACKs."""

    name = "delayed-ack"
    title = "Cost of delayed ACKs"
    value = "rate, every ACK / delayed"
    about = (
        "The runs of the experiment `loss`: for each seed the rate with an ACK for every segment, divided by the rate "
        "with delayed ACKs; then the mean over the seeds. An ACK waits 200 ms at most in the profile `rfc`, 100 ms in "
        "`ns2-2.35`. A window that grows by one segment every second round trip gives the square root of two.",
        "Periodic losses lead into one cycle that is run through again and again, and small windows count in whole "
        "segments there. In `rfc` at p = 0.01 each recovery of that cycle ends one segment below ssthresh (FlightSize "
        "and one segment, RFC 6582 section 3.2 step 3, option 1), which makes the quotient stand out.",
    )

    def run(self, setting: Setting) -> Result:
        """One row a variant, kind of loss and probability."""
        done = loss.run_studies(setting)
        rows: list[Row] = []
        for name, study in done.items():
            other = name.replace("every-packet", "delayed")
            if other == name:
                continue
            pairs = zip(loss.keys(name), loss.constants(name, study), loss.constants(other, done[other]), strict=True)
            for key, every, delayed in pairs:
                ratios = [one / two for one, two in zip(every, delayed, strict=True)]
                del key["ack"]
                rows.append(self.row(key, stats.mean(ratios)))
        return self.result(rows, provenance(loss.SCENARIO, done))
