"""Adding seeds until claims are decided: decisions of interim looks, their end, and statements in the result."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from optcp.common import stored
from optcp.papers import baseline, judge, until
from optcp.papers.exhibit import Evaluation, Exhibit, Findings, Setup
from optcp.papers.model import Claim, Result, Row
from optcp.papers.options import Options, Size
from optcp.papers.printed import Statement
from optcp.papers.registry import select
from optcp.papers.reproduce import Planned, Request
from optcp.papers.show import ended_text
from optcp.study import Study, execute
from optcp_papers.gmpls import section5

U = "undecided"


def a_claim(name="so", *, evidence="", **readings):
    answers = set(readings.values())
    holds = answers.pop() if len(answers) == 1 else U
    lines = [f"[{reading}: {judge.word(item)}] {evidence}" for reading, item in readings.items()]
    return Claim(name, "it is so", "section 1", holds, "\n".join(lines), readings)


def a_row(verdict, measured=1.0):
    return Row({"d": 1}, "m_pct", 1.0, measured, (0.0, 2.0), 9, verdict)


def a_result(claims=(), rows=(), seeds=150):
    return Result(
        exhibit="x/y",
        title="",
        source={"paper": "", "where": ""},
        size={"name": "until-decided, most=8", "seeds": {"one": 1, "many": seeds}, "paper_runs": 150},
        assumed={},
        changed={},
        rows=list(rows),
        claims=list(claims),
        notes=[],
        provenance={"version": "1", "git": "unknown", "seeds": [1, seeds], "metrics_sha256": ""},
        series=[],
    )


def looked(*claims):
    """Return the state after interim looks that found these states of one claim, with 150, 300, ... seeds."""
    standing = None
    for number, claim in enumerate(claims):
        standing = until.after_look(standing, a_result([claim], seeds=150 * 2**number))
    return standing


def test_decision_of_interim_look_keeps_evidence_and_seeds():
    standing = looked(a_claim(a=True, evidence="n = 150"), a_claim(a=False, evidence="n = 300"))
    (claim,) = standing.result.claims
    assert (claim.holds, claim.evidence) == (True, "[a: true] n = 150")
    assert standing.ended == {"so": {"stage": "decided", "seeds": 150}}
    assert not standing.is_open


def test_each_interpretation_keeps_its_first_deciding_look():
    standing = looked(
        a_claim(a=True, b=U, evidence="n = 150"),
        a_claim(a=U, b=U, evidence="n = 300"),
        a_claim(a=False, b=True, evidence="n = 600"),
    )
    (claim,) = standing.result.claims
    assert (claim.holds, claim.readings) == (True, {"a": True, "b": True})
    assert claim.evidence == "[a: true] n = 150\n[b: true] n = 600"
    assert standing.ended == {"so": {"stage": "decided", "seeds": 600}}


def test_no_seeds_are_added_where_interpretations_disagree():
    standing = looked(a_claim(a=True, b=U, evidence="n = 150"), a_claim(a=True, b=False, evidence="n = 300"))
    assert standing.ended == {"so": {"stage": "interpretations disagree", "seeds": 300}}
    assert not standing.is_open
    assert looked(a_claim(a=True, b=U)).is_open
    # A third undecided interpretation cannot make the other two agree.
    assert not looked(a_claim(a=True, b=False, c=U)).is_open


def test_claim_unchanged_by_more_seeds_ends():
    standing = looked(a_claim(a=U, evidence="one run"), a_claim(a=U, evidence="one run"))
    assert standing.ended == {"so": {"stage": "the same with more seeds", "seeds": 300}}
    assert looked(a_claim(a=U, evidence="n = 150"), a_claim(a=U, evidence="n = 300")).is_open


def test_value_with_wide_interval_keeps_experiment_open():
    first = until.after_look(None, a_result(rows=[a_row("undecided")]))
    assert first.is_open
    assert not until.after_look(first, a_result(rows=[a_row("undecided")])).is_open
    assert until.after_look(first, a_result(rows=[a_row("undecided", 1.1)])).is_open
    assert not until.after_look(first, a_result(rows=[a_row("differs", 1.1)])).is_open


@pytest.mark.parametrize(
    ("standing", "text"),
    [
        (looked(a_claim(a=True)), "decided at 150 seeds"),
        (looked(a_claim(a=True, b=False)), "interpretations disagree"),
        (looked(a_claim(a=U)), "bound reached at 150 seeds"),
    ],
)
def test_a_result_says_how_its_claims_ended(standing, text):
    result = standing.ended_as("bound reached", (1, 2), 0.025)
    assert ended_text(result, result.claims[0]) == text
    assert Result.from_json(result.to_json()) == result


def test_without_stages_a_result_says_only_where_interpretations_disagree():
    disagree, undecided = a_claim("no", a=True, b=False), a_claim(a=U)
    result = a_result([disagree, undecided])
    assert [ended_text(result, claim) for claim in result.claims] == ["interpretations disagree", ""]
    assert "until_decided" not in result.to_json()


def test_stages_of_other_claims_are_refused():
    result = looked(a_claim(a=True)).ended_as("bound reached", (1, 2), 0.025)
    with pytest.raises(ValueError, match=r"`size.until_decided.claims` and `claims` are not of the same claims"):
        Result.from_json(replace(result, claims=[a_claim("other", a=True)]).to_json())


FIRST = 4


class MadeUp(Exhibit):
    """Experiment without a paper, whose only claim is the result of ``find``."""

    def evaluate(self, chosen, done):
        statement = Statement("so", self.id, "section 1", "it is so", "PAIRED")
        return Evaluation([], [judge.claim(statement, self.find(self.found(chosen, done)).claims)], [])


def made_up(name, parts, fixed=False):
    """Return an experiment of one study of table 3; ``parts`` judges its claim by the number of seeds."""
    setup = Setup(
        paper="nobody",
        runs=None,
        grids=lambda chosen, options: {"10+10": section5.grids(chosen, options)["10+10"]},
        seeds=lambda _, size: FIRST if fixed else size.of(FIRST, 2),
        assumed=section5.ASSUMED,
    )

    def find(found):
        return Findings([], {"a": [parts(len(found.only.seeds))]})

    return MadeUp(f"made/{name}", "made up", "nowhere", setup, find)


def part(p):
    """Return a part, whose p-value may depend on the number of seeds."""
    return lambda n: judge.Part(f"n = {n}", True, p(n))


@pytest.fixture
def reproduced(tmp_path, silent, calls):
    """Run made-up experiments with up to 8 times four seeds: results by name, messages, and seeds run."""

    def run(*exhibits):
        said = []
        results = until.reproduce(Request(exhibits, Size("any")), 8, tmp_path, 1, silent, said.append)
        return (
            {result.exhibit.partition("/")[2]: result for result in results},
            said,
            sorted({item for item, _ in calls}),
        )

    return run


def test_only_exhibits_that_are_open_get_more_seeds(reproduced, tmp_path):
    results, said, seeds = reproduced(
        made_up("at-once", part(lambda n: 0.001)),
        made_up("later", part(lambda n: 0.001 if n >= 16 else 0.5)),
        made_up("fixed", part(lambda n: 0.5), fixed=True),
    )
    ended = {name: result.size["until_decided"]["claims"]["so"] for name, result in results.items()}
    assert ended == {
        "at-once": {"stage": "decided", "seeds": 4},
        "later": {"stage": "decided", "seeds": 16},
        "fixed": {"stage": "no seeds to add", "seeds": 4},
    }
    assert seeds == list(range(1, 17))
    assert [line.partition(":")[0] for line in said[1:]] == [f"{times} x the default seeds" for times in (1, 2, 4)]
    assert [line.split(": ")[1].split(",")[0] for line in said[1:]] == [f"{n} of 3 exhibits" for n in (3, 1, 1)]
    for name, result in results.items():
        assert result.size["seeds"]["10+10"] == ended[name]["seeds"]
        assert stored.load(tmp_path / "made" / f"{name}.json", Result.from_json) == result


def test_interim_look_tests_at_its_share_of_five_percent(reproduced):
    """Four looks have 1.25 % each."""
    results, said, seeds = reproduced(made_up("nearly", part(lambda n: 0.03)), made_up("just", part(lambda n: 0.012)))
    ended = {name: result.size["until_decided"]["claims"]["so"] for name, result in results.items()}
    assert ended == {"nearly": {"stage": "bound reached", "seeds": 32}, "just": {"stage": "decided", "seeds": 4}}
    assert results["nearly"].size["until_decided"]["looks"] == [1, 2, 4, 8]
    assert said[0].startswith("4 looks at a level of 1.25 % each: ")
    assert len(seeds) == 32
    assert judge.combine([judge.Part("", True, 0.03)])[0] is True  # as before, outside of a look


def test_the_cpu_time_is_that_of_the_first_seed_times_the_seeds_that_are_missing(tmp_path, silent):
    exhibit = made_up("x", part(lambda n: 0.5))
    chosen = {parameter.name: parameter.default for parameter in exhibit.assumed}
    grid = exhibit.studies(chosen, Options())["10+10"]
    execute([Study(grid, seeds=1)], tmp_path, 1, silent)
    took_s = sum(json.loads(file.read_text())["cpu_seconds"] for file in tmp_path.glob("*/parts/*.json"))
    assert took_s > 0
    plans = [Planned(exhibit, chosen, {"10+10": Study(grid, seeds=4)})] * 2  # two exhibits share the study
    assert until.cpu_hours(plans, tmp_path) == pytest.approx(3 * took_s / 3600)
    assert until.cpu_hours([Planned(exhibit, chosen, {"none": Study(grid, seeds=())})], tmp_path) == 0


def test_runs_of_hours_are_read_as_at_the_default_size():
    for exhibit in select(["lbas/table1", "lbas/table2", "lbas/table3"]):
        chosen = {parameter.name: parameter.default for parameter in exhibit.assumed}
        size = until.size(8, 4)
        assert exhibit.studies(chosen, Options(size=size)).keys() == exhibit.studies(chosen, Options()).keys()


@pytest.mark.parametrize("other", [("--quick",), ("--seeds", "3"), ("--paper-scale",)])
def test_stages_start_with_default_size(optcp, other):
    status, _, err = optcp("reproduce", "gmpls/table3", "--until-decided", *other)
    assert status == 2
    assert (
        "--until-decided starts at the default size: it cannot be combined with --quick, --seeds or --paper-scale"
        in err
    )


def test_a_bound_without_stages_is_refused(optcp):
    status, _, err = optcp("reproduce", "gmpls/table3", "--most", "4")
    assert status == 2
    assert "--most needs --until-decided" in err


def test_command_has_its_own_baseline(optcp, monkeypatch, tmp_path):
    monkeypatch.setattr(baseline, "place", lambda _: tmp_path / "baseline.csv")
    monkeypatch.setattr("optcp_papers.gmpls.section5.PAPER_RUNS", 5)
    words = ("reproduce", "gmpls/table3", "--until-decided", "--most", "2", "--out", "out")
    status, out, err = optcp(*words, "--write-baseline")
    assert status == 0
    assert "2 looks at a level of 2.5 % each: " in err
    result = json.loads(Path("out/gmpls/table3.json").read_text())
    assert result["size"]["name"] == "until-decided, most=2"
    assert result["size"]["until_decided"]["looks"] == [1, 2]
    assert list(baseline.read(tmp_path / "baseline.csv")["gmpls/table3"]) == ["until-decided, most=2"]
    page = Path("out/report/index.html").read_text()
    for claim in result["claims"]:
        ended = result["size"]["until_decided"]["claims"][claim["id"]]
        assert f"{ended['stage']}" in " ".join(out.split())
        assert f"{ended['stage']}" in page
    assert optcp(*words, "--check")[0] == 0
    assert optcp(*words[:-3], "3", *words[-2:], "--check")[0] == 2
