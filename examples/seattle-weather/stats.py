"""Monthly and yearly statistics of a daily weather table, and a chart of them.

For: the example "seattle-weather", run inside a sandbox that has no
network and no disk but /in and /out. Python's standard library is all it
needs, 3.8 or newer.

Must never: read or write any file but the three named on its command line,
guess at a broken row (it names the line and ends with 1, nothing written), or
put anything into its output that differs between two runs over one input.
"""

import argparse
import csv
import datetime
import json
import math
import sys
from xml.sax.saxutils import escape

COLUMNS = ("date", "precipitation", "temp_max", "temp_min", "wind", "weather")
DECIMALS = 4


class BadInput(Exception):
    """The table is not what it should be; the text says where."""


# --- reading -----------------------------------------------------------------


def read_days(path):
    """Every row as a dict with a real date and real numbers, in date order."""
    with open(path, newline="", encoding="utf-8") as source:
        reader = csv.DictReader(source)
        missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
        if missing:
            raise BadInput("line 1: missing column(s): " + ", ".join(missing))
        days = [read_day(row, reader.line_num) for row in reader]
    if not days:
        raise BadInput("no rows below the heading")
    return sorted(days, key=lambda day: day["date"])


def read_day(row, line):
    if any(row[name] is None for name in COLUMNS):
        raise BadInput("line %d: too few cells" % line)
    try:
        day = {"date": read_date(row["date"]), "weather": row["weather"].strip()}
        for name in ("precipitation", "temp_max", "temp_min", "wind"):
            day[name] = float(row[name])
            if not math.isfinite(day[name]):
                raise ValueError(name + " is not a finite number")
    except ValueError as why:
        raise BadInput("line %d: %s" % (line, why)) from None
    return day


def read_date(text):
    """The table writes 2012/01/31; ISO 8601 is taken as well."""
    return datetime.datetime.strptime(text.replace("/", "-"), "%Y-%m-%d").date()


# --- statistics --------------------------------------------------------------


def statistics(days):
    return {
        "source": {
            "rows": len(days),
            "first": days[0]["date"].isoformat(),
            "last": days[-1]["date"].isoformat(),
        },
        "units": {"precipitation": "mm", "temperature": "degree Celsius", "wind": "m/s"},
        "overall": summarise(days),
        "years": summarise_by(days, "%Y"),
        "months": summarise_by(days, "%Y-%m"),
    }


def summarise_by(days, date_format):
    groups = {}
    for day in days:
        groups.setdefault(day["date"].strftime(date_format), []).append(day)
    return {name: summarise(group) for name, group in groups.items()}


def summarise(days):
    return {
        "days": len(days),
        "temp_max": spread([day["temp_max"] for day in days]),
        "temp_min": spread([day["temp_min"] for day in days]),
        "precipitation_total": rounded(math.fsum(day["precipitation"] for day in days)),
        "wind_mean": mean([day["wind"] for day in days]),
        "weather": count(day["weather"] for day in days),
    }


def spread(values):
    return {"mean": mean(values), "min": rounded(min(values)), "max": rounded(max(values))}


def mean(values):
    # fsum is exact, so the order of the rows cannot move the last digit.
    return rounded(math.fsum(values) / len(values))


def rounded(value):
    # "+ 0.0" turns a rounded -0.0 into 0.0.
    return round(value, DECIMALS) + 0.0


def count(words):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return counts


# --- the chart ---------------------------------------------------------------

WIDTH, HEIGHT = 960, 480
LEFT, RIGHT, TOP, BOTTOM = 64, 24, 84, 52
WARM, COLD, BAND = "#c8442f", "#2f6fb0", "#e9dfd6"
INK, SOFT, GRID = "#22262b", "#667079", "#dde1e5"
TICK = 5


class Scale:
    """Places month number i and temperature t on the page."""

    def __init__(self, months, lowest, highest):
        self.steps = max(months - 1, 1)
        self.low = math.floor(lowest / TICK) * TICK
        self.high = max(math.ceil(highest / TICK) * TICK, self.low + TICK)

    def x(self, i):
        return LEFT + (WIDTH - LEFT - RIGHT) * i / self.steps

    def y(self, t):
        share = (t - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    def ticks(self):
        return range(self.low, self.high + 1, TICK)


def chart(months):
    """The whole SVG document: shapes and text only, no script, no font, no link."""
    names = sorted(months)
    warm = [months[name]["temp_max"]["mean"] for name in names]
    cold = [months[name]["temp_min"]["mean"] for name in names]
    scale = Scale(len(names), min(cold), max(warm))
    return "\n".join(
        heading(names)
        + temperature_axis(scale)
        + time_axis(scale, names)
        + band(scale, warm, cold)
        + curve(scale, names, warm, WARM, "mean daily maximum")
        + curve(scale, names, cold, COLD, "mean daily minimum")
        + legend()
        + ["</svg>", ""]
    )


def heading(names):
    return [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
        'role="img" font-family="Helvetica, Arial, sans-serif" font-size="13">'
        % (WIDTH, HEIGHT, WIDTH, HEIGHT),
        "<title>Monthly mean temperatures, %s to %s</title>" % (escape(names[0]), escape(names[-1])),
        '<rect width="%d" height="%d" fill="#ffffff"/>' % (WIDTH, HEIGHT),
        text(LEFT, 34, "Monthly mean temperatures", size=20, weight="bold"),
        text(LEFT, 56, "daily maximum and minimum, %s to %s" % (names[0], names[-1]), fill=SOFT),
    ]


def temperature_axis(scale):
    shapes = []
    for t in scale.ticks():
        y = scale.y(t)
        shapes.append(line(LEFT, y, WIDTH - RIGHT, y, SOFT if t == 0 else GRID))
        shapes.append(text(LEFT - 10, y + 4.5, "%d" % t, anchor="end", fill=SOFT))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    turn = ' transform="rotate(-90 18 %s)"' % number(middle)
    shapes.append(text(18, middle, "temperature (\u00b0C)", anchor="middle", fill=SOFT, extra=turn))
    return shapes


def time_axis(scale, names):
    floor = HEIGHT - BOTTOM
    shapes = [line(LEFT, floor, WIDTH - RIGHT, floor, INK)]
    for i, name in enumerate(names):
        january = name.endswith("-01")
        shapes.append(line(scale.x(i), floor, scale.x(i), floor + (9 if january else 4), INK))
        if january and i:
            shapes.append(line(scale.x(i), TOP, scale.x(i), floor, GRID))
        if january or i == 0:
            anchor = "middle" if i else "start"
            shapes.append(text(scale.x(i), floor + 26, name, anchor=anchor, fill=SOFT))
    shapes.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "month", anchor="middle", fill=SOFT))
    return shapes


def band(scale, warm, cold):
    upper = points(scale, enumerate(warm))
    lower = points(scale, reversed(list(enumerate(cold))))
    return ['<polygon points="%s %s" fill="%s" fill-opacity="0.6"/>' % (upper, lower, BAND)]


def curve(scale, names, values, colour, label):
    path = points(scale, enumerate(values))
    shapes = [
        '<polyline points="%s" fill="none" stroke="%s" stroke-width="2.25" '
        'stroke-linejoin="round" stroke-linecap="round"/>' % (path, colour)
    ]
    for i, value in enumerate(values):
        hint = escape("%s, %s: %.1f \u00b0C" % (names[i], label, value))
        shapes.append(
            '<circle cx="%s" cy="%s" r="2.6" fill="#ffffff" stroke="%s" stroke-width="1.5">'
            "<title>%s</title></circle>" % (number(scale.x(i)), number(scale.y(value)), colour, hint)
        )
    return shapes


def legend():
    shapes = []
    for x, colour, label in (
        (WIDTH - RIGHT - 372, WARM, "mean daily maximum"),
        (WIDTH - RIGHT - 178, COLD, "mean daily minimum"),
    ):
        shapes.append(line(x, 51, x + 22, 51, colour, width=3))
        shapes.append(text(x + 30, 55.5, label))
    return shapes


def points(scale, pairs):
    return " ".join("%s,%s" % (number(scale.x(i)), number(scale.y(t))) for i, t in pairs)


def line(x1, y1, x2, y2, colour, width=1):
    return '<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="%s" stroke-width="%s"/>' % (
        number(x1), number(y1), number(x2), number(y2), colour, number(width))


def text(x, y, words, anchor="start", fill=INK, size=None, weight=None, extra=""):
    style = ' font-size="%d"' % size if size else ""
    style += ' font-weight="%s"' % weight if weight else ""
    return '<text x="%s" y="%s" text-anchor="%s" fill="%s"%s%s>%s</text>' % (
        number(x), number(y), anchor, fill, style, extra, escape(words))


def number(value):
    return ("%.2f" % value).rstrip("0").rstrip(".")


# --- the program -------------------------------------------------------------


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--in", dest="source", required=True, metavar="CSV")
    parser.add_argument("--out", required=True, metavar="JSON")
    parser.add_argument("--chart", required=True, metavar="SVG")
    return parser.parse_args()


def write(path, content):
    with open(path, "w", encoding="utf-8", newline="\n") as target:
        target.write(content)


def year_line(year, of_year):
    return "%s: %d days, mean maximum %.2f C, mean minimum %.2f C, rain %.1f mm, wind %.2f m/s" % (
        year, of_year["days"], of_year["temp_max"]["mean"], of_year["temp_min"]["mean"],
        of_year["precipitation_total"], of_year["wind_mean"])


def main():
    options = arguments()
    try:
        result = statistics(read_days(options.source))
    except (BadInput, OSError, UnicodeDecodeError, csv.Error) as why:
        print("stats.py: %s: %s" % (options.source, why), file=sys.stderr)
        return 1
    write(options.out, json.dumps(result, indent=2, sort_keys=True) + "\n")
    write(options.chart, chart(result["months"]))
    for year in sorted(result["years"]):
        print(year_line(year, result["years"][year]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
