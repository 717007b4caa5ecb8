"""nbgrader's formgrader, under a content security policy: only scripts of its own templates run.

What students write is cleaned before it gets here (`harmless`); this holds what should ever get through. The
course's nbgrader_config.py, which the formgrader reads when it starts, calls `harden`.
"""

import base64
import hashlib
import secrets
from html import escape
from pathlib import Path

from jinja2 import BaseLoader, Environment
from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions.formgrader import formgrader as extension
from nbgrader.server_extensions.formgrader import handlers
from nbgrader.server_extensions.formgrader.base import BaseHandler

TEMPLATES = Path(__file__).with_name("templates")
NBGRADERS = handlers.template_path
NONCE = secrets.token_urlsafe(16)
CLICKS = (
    "toggle_name(true);",
    "toggle_name(false);",
    "toggleAllNames()",
)  # what its buttons say in their tags


def policy():
    """The header's text. A script needs the templates' nonce: one of the server's own files is not enough,
    since students hand in files.
    """
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in CLICKS]
    clicks = " ".join(f"'sha256-{text}'" for text in hashes)
    return "; ".join(
        [
            "default-src 'none'",
            f"script-src 'nonce-{NONCE}' 'unsafe-hashes' {clicks}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'self'",
        ]
    )


class Signed(BaseLoader):
    """Templates whose scripts carry the nonce. It goes into their own text, never into a student's."""

    def __init__(self, loader):
        self.loader = loader

    def get_source(self, environment, template):
        source, name, current = self.loader.get_source(environment, template)
        return source.replace("<script", f'<script nonce="{NONCE}"'), name, current


class Pages(HTMLExporter):
    """Makes the page of one submission."""

    def _create_environment(self):
        environment = super()._create_environment()
        environment.loader = Signed(environment.loader)
        return environment

    def from_filename(self, filename, resources=None, **named):
        """The page; ids and names, which the template takes as they are, are escaped here."""
        safe = {
            key: escape(value) if isinstance(value, str) else value
            for key, value in (resources or {}).items()
        }
        return super().from_filename(filename, resources=safe, **named)


def environment(loader):
    """Makes the other pages, which take ids of students."""
    return Environment(loader=Signed(loader), autoescape=True)


def harden():
    """Let the formgrader of this process use all of this."""
    extension.HTMLExporter, extension.Environment = Pages, environment
    BaseHandler.content_security_policy = policy()
