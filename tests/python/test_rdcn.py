"""RDCN paper: its week, the emulator's rules as simulated, and unstated parameters."""

import pytest

from conftest import Silent
from optcp.errors import InputError
from optcp.papers import assume
from optcp.papers.options import Options, Size
from optcp.papers.plausible import Choices
from optcp.papers.registry import select
from optcp.papers.reproduce import Request, planned
from optcp.scenarios import schedules
from optcp.scenarios.scenario import load
from optcp.study import execute
from optcp_papers.rdcn import rules
from optcp_papers.rdcn.world import DILATION, SCENARIO, Week


def settings_of(exhibit):
    """Return both ends of every range, and every choice, one at a time."""
    for item in exhibit.assumed:
        if item.plausible:
            values = item.plausible.values
            for value in values.values if isinstance(values, Choices) else (values.low, values.high):
                yield {item.name: str(value)}


@pytest.mark.parametrize("name", ["rdcn/voq", "rdcn/retcp-voq", "rdcn/retcp-resize"])
def test_every_choice_makes_a_valid_scenario(name):
    (exhibit,) = select([name])
    for settings in settings_of(exhibit):
        assert exhibit.studies(assume.values(exhibit.assumed, settings), Options()), settings


@pytest.mark.parametrize(("lead", "late"), rules.LATE_US.items())
def test_mark_ends_at_next_update_of_switch(lead, late):
    (begins, begun), (ends, ended) = Week(mark_us=lead).marks
    assert (begins, ends) == (4600 - lead, (4780 + late) % 4800)
    assert (begun["ece"], ended["ece"]) == ("set", "kept")
    assert [at for at, _ in Week(mark_us=lead, mark_end="exact").marks] == [4600 - lead, 4780]


def test_mark_can_end_after_its_week():
    assert [at for at, _ in Week(mark_us=50).marks] == [4550, 130]


@pytest.mark.parametrize(
    ("wrong", "claim"),
    [
        (("MOST_ROUND_TRIPS", 4), "rdcn-short-days"),
        (("DAY_ENDS", 4700), "rdcn-rule-service"),
        (("A_DAY", {"closed": 200, "open": 200}), "rdcn-rule-201"),
        (("LATE_US", {**rules.LATE_US, 150: 100}), "rdcn-rule-mark"),
        (("SMALL", 15), "rdcn-rule-shrink"),
    ],
)
def test_rules_hold_and_altered_rules_fail(ruled, monkeypatch, wrong, claim):
    assert set(ruled().values()) == {True}
    monkeypatch.setattr(rules, *wrong)
    assert ruled()[claim] is False


@pytest.fixture(scope="module")
def ruled(tmp_path_factory):
    """Judge the rules from runs that are made once."""
    (plan,) = planned(Request(select(["rdcn/rules"]), Size("default")))
    done = execute(list(plan.tasks.values()), tmp_path_factory.mktemp("rules"), 1, Silent())
    by_name = dict(zip(plan.tasks, done, strict=True))
    return lambda: {claim.id: claim.holds for claim in plan.exhibit.evaluate(plan.chosen, by_name).claims}


def test_interpretations_can_be_combined():
    (still,), (grows,) = select(["rdcn/retcp-voq"]), select(["rdcn/retcp-resize"])
    assert assume.values(still.assumed, {"static_lead_us": "0, 300,0"})["static_lead_us"] == "0, 300"
    assert list(grows.studies(assume.values(grows.assumed, {"mark_end": "exact"}), Options())) == ["exact", "voq"]
    for exhibit, name, text in ((still, "static_lead_us", "-1"), (grows, "mark_end", "exact, late")):
        with pytest.raises(InputError, match="expected"):
            assume.values(exhibit.assumed, {name: text})


def test_shipped_scenario_has_schedule_of_study():
    shipped = load(SCENARIO)
    studied = shipped
    for key, value in Week().settings.items():
        studied = studied.set(key, value)
    week_ps = round(Week().length_us * DILATION * 1e6)

    def bands(world):
        return {band.name: band.spans for band in schedules.bands(world.resolved, week_ps, 3 * week_ps)}

    assert bands(shipped) == bands(studied)
