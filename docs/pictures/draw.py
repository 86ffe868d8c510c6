#!/usr/bin/env python3
"""Draws what a terminal shows as an SVG picture, so that the pictures of this directory are made of
what the programs print and can be made again:

    CLICOLOR_FORCE=1 toolexec lint … | docs/pictures/draw.py '$ toolexec lint …' > lint.svg
    tmux capture-pane -e -p … | docs/pictures/draw.py 'toolexec watch' > watch.svg

It knows colours and nothing else of a terminal: whatever would move the cursor ends it. It must
never pass text through unescaped, and never depend on time or on fonts of this host.
"""

import re
import sys
from html import escape

ROW, COLUMN, MARGIN = 18, 8.4, 16
INK, PAPER = "#d7dae0", "#1d2026"
DARK = ["#1d2026", "#e5616c", "#8fbf6f", "#d9a94b", "#61a5ea", "#c07be0", "#52b6c2", "#d7dae0"]
BRIGHT = ["#7d8590", "#ff7b85", "#a9dc86", "#f0c265", "#7dbcff", "#d79bf5", "#6fd3df", "#ffffff"]
TOKEN = re.compile(r"\x1b\[([0-9;]*)m|\x1b[()][0AB]|[\x0e\x0f]|([^\x1b\x0e\x0f]+)|(\x1b)")


def shade(number):
    """One of the 256 colours of a terminal."""
    if number < 16:
        return (DARK + BRIGHT)[number]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    number -= 16
    steps = [0, 95, 135, 175, 215, 255]
    return "#{:02x}{:02x}{:02x}".format(*(steps[number // n % 6] for n in (36, 6, 1)))


class Style:
    def __init__(self):
        self.ink = self.paper = None
        self.bold = self.faint = self.turned = False

    def take(self, codes):
        codes = [int(code or 0) for code in codes.split(";")]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.__init__()
            elif code in (1, 2):
                self.bold, self.faint = self.bold or code == 1, self.faint or code == 2
            elif code == 22:
                self.bold = self.faint = False
            elif code in (7, 27):
                self.turned = code == 7
            elif code in (38, 48):
                colour = self.wide(codes)
                if code == 38:
                    self.ink = colour
                else:
                    self.paper = colour
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.ink = (DARK if code < 90 else BRIGHT)[code % 10]
            elif 40 <= code <= 47 or 100 <= code <= 107:
                self.paper = (DARK if code < 100 else BRIGHT)[code % 10]
            elif code == 39:
                self.ink = None
            elif code == 49:
                self.paper = None

    @staticmethod
    def wide(codes):
        if codes.pop(0) == 5:
            return shade(codes.pop(0))
        red, green, blue = codes.pop(0), codes.pop(0), codes.pop(0)
        return f"#{red:02x}{green:02x}{blue:02x}"

    def colours(self):
        ink, paper = self.ink or INK, self.paper
        return (paper or PAPER, ink) if self.turned else (ink, paper)


def pieces(line, style):
    """The line in runs of one style: column, text, colours."""
    column = 0
    for found in TOKEN.finditer(line):
        codes, text, stray = found.groups()
        if stray:
            sys.exit("draw.py: the text moves the cursor; capture the screen instead")
        if codes is not None:
            style.take(codes)
        if text:
            yield column, text, style.colours(), style.bold, style.faint
            column += len(text)


def drawn(lines, title):
    style, boxes, texts, columns = Style(), [], [], len(title)
    for row, line in enumerate([f"\x1b[90m{title}\x1b[0m", ""] + lines):
        base = MARGIN + ROW * (row + 1) - 5
        for column, text, (ink, paper), bold, faint in pieces(line, style):
            left, width = MARGIN + column * COLUMN, len(text) * COLUMN
            columns = max(columns, column + len(text))
            if paper:
                boxes.append(
                    f'<rect x="{left:.1f}" y="{base - 13}" width="{width:.1f}" height="{ROW}" fill="{paper}"/>'
                )
            shown = text.strip(" ")
            if shown:
                # Spaces at the ends of a text are dropped by viewers.
                left += (len(text) - len(text.lstrip(" "))) * COLUMN
                width = len(shown) * COLUMN
                look = ' font-weight="bold"' * bold + ' opacity="0.6"' * faint
                texts.append(
                    f'<text x="{left:.1f}" y="{base}" textLength="{width:.1f}" fill="{ink}"{look}>'
                    f"{escape(shown)}</text>"
                )
    width = 2 * MARGIN + columns * COLUMN
    height = 2 * MARGIN + ROW * (len(lines) + 2)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">',
            f"<title>{escape(title)}</title>",
            f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>',
            '<g font-family="ui-monospace, \'DejaVu Sans Mono\', Menlo, Consolas, monospace" font-size="14" '
            'style="white-space: pre">',
            *boxes,
            *texts,
            "</g>",
            "</svg>",
        ]
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: draw.py TITLE < what the terminal shows > picture.svg")
    print(drawn(sys.stdin.read().rstrip("\n").split("\n"), sys.argv[1]))
