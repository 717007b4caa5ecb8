"""What students write runs nowhere: the real formgrader, the feedback and the class report in a browser.

A hostile answer here would open a dialog, ask for something elsewhere, write a file of the teacher's server
and set marks. None may happen, though every link is clicked.
"""

from urllib.parse import quote

import hostile
import pytest
import tiny_course as tiny
from alone import grade_alone
from browsers import chromium
from formgrader_server import serving
from nbconvert.exporters import HTMLExporter
from throwaway import snapshot

from plaingrader import gradebook

NAME = tiny.NAME
STUDENT = "kim <img src=x onerror=alert(1)>\";alert(2);'"
OWN = ("/formgrader/static/", "/formgrader/api/grades?", "/formgrader/api/comments?")


@pytest.fixture(scope="module")
def graded(boxed, tiny_course, released):
    """The course with a hostile submission graded, a hostile comment, and a name from a learning platform."""
    (tiny_course.parent / "dist").mkdir()
    folder = hostile.fill(tiny.Submission(released, STUDENT).perfect()).hand_in(tiny_course)
    (folder / "<img src=x onerror=alert(3)>.txt").write_text(hostile.IMAGE)
    grade_alone()
    with gradebook.opened() as book:
        book.update_or_create_student(STUDENT, last_name=hostile.IMAGE, first_name='"> <b>Kim')
        for comment in book.find_submission_notebook(NAME, NAME, STUDENT).comments:
            comment.manual_comment = f"{hostile.IMAGE} [look](<javascript:{hostile.RUN}>) `a < b`"
        book.db.commit()
    assert not grade_alone()[STUDENT].error
    return tiny_course


@pytest.fixture(scope="module")
def address(graded, tmp_path_factory):
    with serving(graded, tmp_path_factory.mktemp("config")) as address:
        yield address


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.getbasetemp() / "chromium.lock") as browser:
        yield browser


class Look:
    """A window that notes what a page does."""

    def __init__(self, browser):
        self.context = browser.new_context()
        self.page = self.context.new_page()
        self.dialogs, self.requests, self.errors = [], [], []
        self.page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.context.on("requestfailed", self.failed)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.context.close()

    def open(self, address):
        """Open a page, let it finish, and click on whatever a student made clickable."""
        self.page.goto(address)
        self.page.wait_for_load_state("networkidle")
        for link in self.page.locator("#notebook a, #notebook button:not(.btn), #notebook summary").all():
            if link.is_visible():
                if (link.get_attribute("href") or "").partition(":")[0] not in ("http", "https", "mailto"):
                    link.evaluate("link => { link.target = '_self'; link.click(); }")
        self.page.wait_for_timeout(200)

    def failed(self, request):
        """A request that the policy held was none."""
        if request.failure == "csp":
            self.requests.remove(request.url)

    def elsewhere(self, *allowed):
        return [url for url in self.requests if not url.startswith((*allowed, "data:", "about:"))]


def state(course_folder):
    """All marks, and every file but the gradebook's own."""
    with gradebook.opened() as book:
        marks = sorted(
            (
                grade.submission_id if hasattr(grade, "submission_id") else "",
                grade.name,
                grade.auto_score,
                grade.manual_score,
            )
            for submission in book.assignment_submissions(NAME)
            for notebook in submission.notebooks
            for grade in notebook.grades
        )
    files = snapshot(course_folder.parent)
    return marks, {name: value for name, value in files.items() if "gradebook.db" not in name}


def submission_id():
    with gradebook.opened() as book:
        return book.find_submission_notebook(NAME, NAME, STUDENT).id


def notes(look, *allowed):
    """What a page did that it must not."""
    return look.dialogs, look.elsewhere(*allowed), look.errors


def test_the_formgrader_runs_nothing_of_an_answer(graded, address, browser):
    before = state(graded)
    with Look(browser) as look:
        page = f"{address}/formgrader/submissions/{submission_id()}/"
        look.open(page)
        assert notes(look, page, *(f"{address}{path}" for path in OWN)) == ([], [], [])
        assert look.page.locator("#q4").is_visible() and "Because." in look.page.content()
    assert state(graded) == before


def test_a_script_that_got_through_is_held_by_the_policy(graded, address, browser):
    """As if nothing had been cleaned: the page as it comes, with what students wrote put into it."""
    before = state(graded)
    # A policy does not keep a page from sending its reader to another one: only cleaning does.
    texts = "".join(text for name, text in hostile.MARKDOWN.items() if name != "another page")
    with Look(browser) as look:

        def dirty(route):
            answer = route.fetch()
            route.fulfill(response=answer, body=answer.text().replace("Because.", texts))

        look.page.route("**/formgrader/submissions/*/", dirty)
        look.open(f"{address}/formgrader/submissions/{submission_id()}/")
        assert "onerror" in look.page.content()
        assert look.dialogs == [] and look.elsewhere(address) == []
    assert state(graded) == before


@pytest.mark.parametrize(
    "path",
    [
        "gradebook",
        f"gradebook/{NAME}/{NAME}",
        "manage_students",
        f"manage_submissions/{NAME}",
        f"manage_students/{quote(STUDENT)}",
        f"manage_students/{quote(STUDENT)}/{NAME}",
    ],
)
def test_no_name_runs_in_the_formgraders_lists(address, browser, path):
    with Look(browser) as look:
        look.open(f"{address}/formgrader/{path}")
        assert look.dialogs == [] and look.elsewhere(f"{address}/formgrader/") == []


def test_a_teacher_marks_in_the_formgrader_as_ever(graded, address, browser):
    with Look(browser) as look:
        look.open(f"{address}/formgrader/submissions/{submission_id()}/")
        with look.page.expect_response(lambda answer: "/api/grade/" in answer.url):
            look.page.fill("#q4", "0.5")
            look.page.locator("#q4").blur()
        look.page.locator(".glyphicon-eye-open.name-hidden").click()
        assert look.page.locator("a.name-shown").is_visible() and "<b>Kim" in look.page.inner_text(
            "a.name-shown"
        )
    with gradebook.opened() as book:
        assert book.find_grade("q4", NAME, NAME, STUDENT).manual_score == 0.5


def test_the_feedback_and_the_class_report_run_nothing(graded, browser):
    feedback = graded / "feedback" / STUDENT / NAME / f"{NAME}.html"
    for page in (feedback, graded.parent / f"dist/report-{NAME}.html"):
        with Look(browser) as look:
            look.open(page.as_uri())
            assert notes(look, page.as_uri()) == ([], [], [])
            policy = look.page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
            assert policy.startswith("default-src 'none'")
    text = feedback.read_text(encoding="utf-8")
    assert "<code>a &lt; b</code>" in text, "what a grader writes is shown as written"
    assert "<div><strong>Softmax (3 of 3 points): Right.</strong>" in text, (
        "the grader's own verdict is formatted"
    )
    assert "<script" not in text, "no MathJax from another host"


def test_the_graded_copy_is_harmless_wherever_it_is_opened(graded, browser, tmp_path):
    """Not only under this course's settings: nbconvert takes Markdown and outputs as they are."""
    copy = graded / "autograded" / STUDENT / NAME / f"{NAME}.ipynb"
    page, _ = HTMLExporter(template_name="basic").from_filename(str(copy))
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    with Look(browser) as look:
        look.open((tmp_path / "page.html").as_uri())
        assert notes(look, (tmp_path / "page.html").as_uri()) == ([], [], [])
        assert "Because." in look.page.content()
