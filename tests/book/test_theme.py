"""The book's Sphinx extension."""

from types import SimpleNamespace

import pytest
from sphinx.errors import ExtensionError

from plaincourse.book import theme


def test_icons_become_rules():
    script = '{bars:[448,512,["navicon"],"f0c9","M0 96z"],"angle-left":[256,512,[8249],"f104","M9 0z"]}'
    rules = theme.icon_rules(script, ["bars", "angle-left"])
    assert (
        ".fa-bars{--icon:url(\"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 448"
        " 512'" in rules
    )
    assert ".fa-angle-left{" in rules and "M9 0z" in rules


def test_a_missing_icon_is_named():
    with pytest.raises(ExtensionError, match="'no-such-icon'"):
        theme.icon_rules("{}", ["no-such-icon"])


@pytest.mark.parametrize(
    "address, buttons", [("", {}), ("https://github.com/OWNER/NAME", {"binderhub_url": "b"})]
)
def test_one_setting_switches_the_launch_buttons_on(address, buttons):
    config = SimpleNamespace(
        html_theme_options={"repository_url": address, "launch_buttons": {"binderhub_url": "b"}}
    )
    theme.launch_when_addressed(None, config)
    assert config.html_theme_options["launch_buttons"] == buttons


def test_every_icon_in_use_is_drawn(html):
    used = {
        name
        for page in html.rglob("*.html")
        for name in theme.re.findall(
            r'class="fa[srb]?(?:-solid|-brands|-regular)? fa-([a-z-]+)', page.read_text(encoding="utf-8")
        )
    }
    assert "bars" in used and used - {"lg", "fw"} <= set(theme.ICONS)


def test_thebe_is_out(html):
    assert "thebe" not in (html / "index.html").read_text(encoding="utf-8").lower()
