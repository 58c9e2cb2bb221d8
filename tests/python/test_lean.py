"""Figures of pages: small size, points at matplotlib's positions, and values that can be read back."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from optcp.plots.svg import canvas, render

SVG = "{http://www.w3.org/2000/svg}"


def points(d):
    """Return the absolute points of a path, by SVG 2 (section 9.3)."""
    result, at, start = [], (0.0, 0.0), (0.0, 0.0)
    for command, numbers in re.findall("([MlhvcZz])([^MlhvcZz]*)", d):
        values = [float(item) for item in re.findall(r"-?(?:[0-9]+(?:[.][0-9]+)?|[.][0-9]+)", numbers)]
        if command == "z":
            at = start
        elif command == "M":
            at = start = (values[0], values[1])
            result.append(at)
        else:
            steps = {"h": lambda v: [(x, 0) for x in v], "v": lambda v: [(0, y) for y in v]}
            pairs = steps.get(command, lambda v: list(zip(v[::2], v[1::2], strict=True)))(values)
            for dx, dy in pairs:
                at = (at[0] + dx, at[1] + dy)
                result.append(at)
    return result


def drawn(draw, **settings):
    with canvas(4, 3) as figure:
        panel = figure.subplots()
        draw(panel)
        panel.set(**settings)
        text = render(figure, "name", "label")
    return ET.fromstring(text)  # noqa: S314 - it is our own


def read(root, name):
    """Return the values of a curve from the picture only."""
    (panel,) = (item for item in root.iter(f"{SVG}g") if "data-x" in item.attrib)
    curve = next(item for item in panel.iter(f"{SVG}g") if item.get("data-name") == name)
    found = points(curve.find(f"{SVG}path").get("d"))

    def value(place, scale):
        *numbers, kind = scale.split()
        first, last, low, high = map(float, numbers)
        share = (place - first) / (last - first)
        return low * (high / low) ** share if kind == "log" else low + share * (high - low)

    return [(value(x, panel.get("data-x")), value(y, panel.get("data-y"))) for x, y in found]


X, Y = [0.5, 1, 2.25, 4, 8], [3.0, -1.5, 7.25, 7.25, 100]


@pytest.mark.parametrize("style", ["-", "o", "o-"])
def test_values_of_a_curve_are_read_back_from_its_picture(style):
    found = read(drawn(lambda panel: panel.plot(X, Y, style, label="goodput")), "goodput")
    # A tenth of a point, of about 200.
    np.testing.assert_allclose(found, np.transpose([X, Y]), atol=0.1)


def test_values_on_logarithmic_axes_are_read_back():
    def draw(panel):
        panel.loglog(X, [1, 10, 100, 1e3, 1e4], label="a")

    found = read(drawn(draw), "a")
    np.testing.assert_allclose(found, np.transpose([X, [1, 10, 100, 1e3, 1e4]]), rtol=0.01)


def test_a_single_mark_is_drawn():
    root = drawn(lambda panel: panel.plot([1], [2], "o", label="a"))
    (shape,) = (item.get("id") for item in root.iter(f"{SVG}marker") if item[0].get("fill") == "#0072b2")
    (path,) = (item for item in root.iter(f"{SVG}path") if item.get("marker-start") == f"url(#{shape})")
    assert path.get("d").endswith("h0")


def test_bars_and_curves_with_error_bars_have_their_names():
    def draw(panel):
        panel.bar([0, 1], [3, 4], label="bars")
        panel.errorbar([0, 1], [3, 4], [1, 1], label="mean")
        panel.axvline(0.5)

    root = drawn(draw)
    assert [item.get("data-name") for item in root.iter(f"{SVG}g") if "data-name" in item.attrib] == ["bars", "mean"]
    assert max(y for _, y in read(root, "bars")) == pytest.approx(4, abs=0.02)


def test_words_at_ticks_are_named():
    root = drawn(lambda panel: panel.plot([0, 1], [1, 2]), xticks=[0, 1], xticklabels=["NewReno", "SACK"])
    (panel,) = (item for item in root.iter(f"{SVG}g") if "data-x" in item.attrib)
    assert panel.get("data-x-ticks") == "0=NewReno|1=SACK"
    assert panel.get("data-y-ticks") is None


def test_only_content_outside_panel_is_clipped():
    beyond = drawn(lambda panel: panel.plot([0, 1, 2], [0, 9, 0]), ylim=(0, 5))
    within = drawn(lambda panel: panel.plot([0, 1, 2], [0, 9, 0]))
    assert [sum("clip-path" in item.attrib for item in root.iter()) for root in (beyond, within)] == [1, 0]


def test_the_smallest_text_is_never_shown_under_11_pixels():
    root = drawn(lambda panel: panel.text(0, 0, "small", fontsize=6))
    width = float(root.get("viewBox").split()[2])
    assert 6 * float(re.search(r"min-width:(\d+)px", root.get("style"))[1]) / width >= 11
    assert width == pytest.approx(4 * 72)


def test_logarithmic_axes_have_plain_numbers():
    """A page has no typesetting, so a power of ten would appear as markup."""
    found = drawn(lambda panel: panel.plot([0.02, 0.1, 300], [1, 2, 9]), xscale="log", yscale="log")
    said = [text.text for text in found.iter(f"{SVG}text")]
    assert {"0.1", "1", "10", "100"} <= set(said)
    assert not any("$" in text for text in said)
