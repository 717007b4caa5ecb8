"""What a worked number leaves on the page: a mark where the document is right, a card where it needs a
condition or a correction.
"""

from html import escape

from .compare import leaves, written


class Card:
    """What the document gives, what the cell computed, and the verdict. A notebook shows it as HTML."""

    def __init__(self, entry, parts, computed):
        self.entry = entry
        self.rows = [
            (part.label, laid_out(part.printed, part.printed), laid_out(part.expected, flat))
            for part, flat in zip(parts, computed, strict=True)
            if part.printed is not None  # what the document does not give stands in the appendix
        ]
        # The chapter's first part carries the entry's own anchor; further cells for it get one of their own.
        first = next(part for part in entry.parts if part.chapter == parts[0].chapter)
        self.again = first not in parts
        self.anchor = f"{anchor(entry)}-{parts[0].name}" if self.again else anchor(entry)

    @property
    def is_mark(self):
        """Whether a mark is enough: the document is right, or its card stands further up."""
        return self.again or self.right

    @property
    def right(self):
        """Whether the document is right as it stands."""
        return self.entry.verdict in ("exact", "rounded")

    def __repr__(self):
        entry = self.entry
        lines = [entry.claim] if entry.claim else []
        lines += [f"{entry.id} · {entry.verdict} · {entry.document.title}, {entry.section}", entry.says]
        for label, document, computed in self.rows:
            lines.append(f"  {label}: document {'; '.join(document)}, computed {'; '.join(computed)}")
        return "\n".join([*lines, entry.why])

    def _repr_html_(self):
        entry = self.entry
        verdict = f"worked-card worked-verdict-{entry.verdict}"
        says, why = f"<p>{escape(entry.says)}</p>", f"<p>{escape(entry.why)}</p>"
        if self.is_mark:
            mark = f'<summary title="{escape(entry.says)}">{"✓" if self.right else "↑"} {entry.id}</summary>'
            head = f'<p class="worked-head">Worked number {entry.id}, {entry.verdict}</p>'
            box = f'<div class="{verdict}">{head}{says}{self._table()}{why}{self._source()}</div>'
            return f'<details class="worked-mark" id="{self.anchor}">{mark}{box}</details>'
        head = f'<p class="worked-head">{escape(entry.headline)}</p>'
        more = f"<summary>{entry.id}, {entry.verdict}: numbers and source</summary>"
        more = f'<details class="worked-more">{more}{says}{self._table()}{self._source()}</details>'
        return f'<div class="{verdict}" id="{self.anchor}">{head}{why}{more}</div>'

    def _table(self):
        """What the document gives and what the cell computed, a row for each part."""
        rows = "".join(
            f"<tr><th scope='row'>{escape(label)}</th><td>{_lines(document)}</td>"
            f"<td>{_lines(computed)}</td></tr>"
            for label, document, computed in self.rows
        )
        head = "<th scope='col'>Value</th><th scope='col'>Document</th><th scope='col'>Computed here</th>"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if rows else ""

    def _source(self):
        """The number's place in the ledger and in its document."""
        entry = self.entry
        return (
            f'<p class="worked-source"><span data-worked="{entry.id}">{entry.id}</span>, {entry.verdict}'
            f' · <cite lang="ko">{escape(entry.document.title)}</cite>, '
            f'<span lang="ko">{escape(entry.section)}</span></p>'
        )

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}


def anchor(entry):
    """The id of an entry's card on its chapter's page."""
    return f"worked-{entry.id}"


def laid_out(like, flat):
    """The lines that show values with the digits of the printed ones; a matrix has a line for each row."""
    if like is None:
        return ["not given"]
    (likes, shape), (values, _) = leaves(like), leaves(flat)
    texts = [written(value, text) for value, text in zip(values, likes, strict=True)]
    rows = [texts[i : i + shape[-1]] for i in range(0, len(texts), shape[-1])]
    return [", ".join(row) for row in rows]


def _lines(lines):
    return "<br>".join(map(escape, lines))
