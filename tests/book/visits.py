"""A page of the built book, open in a browser."""

from contextlib import contextmanager

PATIENCE = 300_000  # milliseconds: a machine with other work to do is no fault of the book


class Visit:
    """A page of the book in a browser window of its own, and what it complained about or asked for while it
    opened.
    """

    def __init__(self, window, html, name):
        self.complaints, self.requests = [], []
        window.on(
            "console",
            lambda message: (
                self.complaints.append(message.text) if message.type in ("error", "warning") else None
            ),
        )
        window.on("pageerror", lambda error: self.complaints.append(str(error)))
        window.on("requestfailed", lambda request: self.complaints.append(f"failed: {request.url}"))
        window.on("request", lambda request: self.requests.append(request.url))
        self.page, self.html = window, html
        window.goto(f"{html.as_uri()}/{name}")
        window.evaluate("() => window.MathJax?.startup?.promise?.then(() => 0)")

    def requests_elsewhere(self):
        """The addresses asked for that are not inside the book's folder."""
        inside = (self.html.as_uri() + "/", "data:", "blob:")
        return [address for address in self.requests if not address.startswith(inside)]

    def open_everything(self):
        """Unfold whatever the page has folded."""
        self.page.evaluate("() => document.querySelectorAll('details').forEach(box => (box.open = true))")


@contextmanager
def visiting(browser, html, name, width=1280, theme="light"):
    """Open a page of the book as somebody's first one, yield its Visit, and close the window. theme: the
    system's.
    """
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce"
    )
    try:
        yield Visit(context.new_page(), html, name)
    finally:
        context.close()
