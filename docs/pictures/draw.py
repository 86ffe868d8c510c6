#!/usr/bin/env python3
"""Draws what a terminal shows as an SVG picture, so that the pictures of this directory are made of
what the programs print and can be made again:

    CLICOLOR_FORCE=1 toolexec lint … | docs/pictures/draw.py '$ toolexec lint …' > lint.svg
    docs/pictures/draw.py --play 'A session' < session.txt > session.svg

With --play the text is a session: lines that begin with `$ ` were typed, and each row appears at
its time, once. A viewer that does not animate shows the last moment.

It knows colours and nothing else of a terminal: a sequence that moves the cursor ends it. It must
never pass text through unescaped, and never depend on time or on fonts of this host.
"""

import re
import sys
from html import escape

ROW, COLUMN, MARGIN = 18, 8.4, 16
INK, PAPER = "#d7dae0", "#1d2026"
DARK = ["#1d2026", "#e5616c", "#8fbf6f", "#d9a94b", "#61a5ea", "#c07be0", "#52b6c2", "#d7dae0"]
BRIGHT = ["#7d8590", "#ff7b85", "#a9dc86", "#f0c265", "#7dbcff", "#d79bf5", "#6fd3df", "#ffffff"]
# Of a session: the columns of its terminal, and seconds.
COLUMNS, BEFORE_TYPING, WORD, BEFORE_OUTPUT, LINE = 100, 1.8, 0.14, 0.5, 0.12
ANSWER = re.compile(r"(.*\? \[.*\] )(\w+)$")
PLAY = """<style>
@keyframes appear { from { visibility: hidden } to { visibility: visible } }
text { animation: appear 1ms both }
@media (prefers-reduced-motion: reduce) { text { animation: none } }
</style>"""
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


def wrapped(line):
    """The line in rows of the terminal of a session."""
    return [line[at : at + COLUMNS] for at in range(0, len(line), COLUMNS)] or [""]


def played(text):
    """The rows of a session with colours, and for each row the seconds at which its pieces appear."""
    rows, moments, clock = [], [], -1.0
    for line in text.split("\n"):
        typed, answer = line.startswith("$ "), ANSWER.match(line)
        clock += BEFORE_TYPING if typed else LINE
        for row in wrapped(line):
            parts = [row]
            if typed:
                parts = re.findall(r"\S+ *", row)
            elif answer:
                parts = list(answer.groups())
            rows.append("".join(f"\x1b[1m{part}\x1b[0m" if typed else f"\x1b[0m{part}" for part in parts))
            moments.append([])
            for number in range(len(parts)):
                clock += WORD * typed + BEFORE_TYPING * (number > 0 and not typed)
                moments[-1].append(clock)
        clock += BEFORE_OUTPUT * (typed or bool(answer))
    return rows, moments


def drawn(lines, title, moments=None):
    style, boxes, texts, columns = Style(), [], [], len(title)
    for row, line in enumerate([f"\x1b[90m{title}\x1b[0m", ""] + lines):
        base = MARGIN + ROW * (row + 1) - 5
        times = iter(moments[row - 2] if moments and row > 1 else [])
        for column, text, (ink, paper), bold, faint in pieces(line, style):
            begins = next(times, 0)
            left, width = MARGIN + column * COLUMN, len(text) * COLUMN
            columns = max(columns, column + len(text))
            if paper:
                boxes.append(
                    f'<rect x="{left:.1f}" y="{base - 13}" width="{width:.1f}" height="{ROW}" fill="{paper}"/>'
                )
            look = ' font-weight="bold"' * bold + ' opacity="0.6"' * faint
            if begins:
                look += f' style="animation-delay: {begins:.2f}s"'
            # Viewers make one space of several.
            for part in re.finditer(r"[^ ]+(?: [^ ]+)*", text):
                left, width = MARGIN + (column + part.start()) * COLUMN, len(part[0]) * COLUMN
                texts.append(
                    f'<text x="{left:.1f}" y="{base}" textLength="{width:.1f}" fill="{ink}"{look}>'
                    f"{escape(part[0])}</text>"
                )
    width = 2 * MARGIN + columns * COLUMN
    height = 2 * MARGIN + ROW * (len(lines) + 2)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">',
            f"<title>{escape(title)}</title>",
            *([PLAY] if moments else []),
            f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>',
            '<g font-family="ui-monospace, \'DejaVu Sans Mono\', Menlo, Consolas, monospace" font-size="14" '
            'style="white-space: pre">',
            *boxes,
            *texts,
            "</g>",
            "</svg>",
        ]
    )


def main(words):
    play = words[:1] == ["--play"]
    if len(words) != 1 + play:
        sys.exit("usage: draw.py [--play] TITLE < what the terminal shows > picture.svg")
    text = sys.stdin.read().rstrip("\n")
    lines, moments = played(text) if play else (text.split("\n"), None)
    print(drawn(lines, words[-1], moments))


if __name__ == "__main__":
    main(sys.argv[1:])
