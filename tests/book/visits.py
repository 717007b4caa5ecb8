"""A page of the built book, open in a browser."""

from contextlib import contextmanager

PATIENCE = 300_000  # milliseconds: a machine with other work to do is no fault of the book


class Visit:
    """A browser window, and what the page in it complained about or asked for since it was opened."""

    def __init__(self, context, html):
        context.set_default_timeout(PATIENCE)
        self.page, self.html = context.new_page(), html
        self.complaints, self.requests = [], []
        self.page.on(
            "console",
            lambda message: (
                self.complaints.append(message.text) if message.type in ("error", "warning") else None
            ),
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", lambda request: self.complaints.append(f"failed: {request.url}"))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, name):
        """Open a page of the book, in the place of the one before; the Visit itself."""
        self.page.goto("about:blank")
        self.complaints.clear()
        self.requests.clear()
        self.page.goto(f"{self.html.as_uri()}/{name}")
        return self

    def requests_elsewhere(self):
        """The addresses asked for that are not inside the book's folder."""
        inside = (self.html.as_uri() + "/", "data:", "blob:")
        return [address for address in self.requests if not address.startswith(inside)]

    def open_everything(self):
        """Unfold whatever the page has folded."""
        self.page.evaluate("() => document.querySelectorAll('details').forEach(box => (box.open = true))")


@contextmanager
def window(browser, html, width=1280, theme="light"):
    """A browser window of somebody who was never here, as a Visit, closed in the end. theme: the system's."""
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=theme, reduced_motion="reduce"
    )
    try:
        yield Visit(context, html)
    finally:
        context.close()
