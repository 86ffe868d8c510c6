"""BibTeX to CSL-JSON: the bibliography of a paper as citation software reads it.

For: the example "bibtex-to-csl", run inside a sandbox that has no network
and no disk but /in and /out. Python's standard library is all it needs, 3.8 or
newer. What it cannot keep it names on stderr with its line; what it cannot
parse ends the program with 1 and the line, and nothing is written.

Must never: follow a link, an @include or a \\input, evaluate TeX, read or write
any file but the two named on its command line, or order its output by anything
but the order of the entries.
"""

import argparse
import json
import re
import sys
import unicodedata

# --- the grammar -------------------------------------------------------------

NAME = re.compile(r"[^\s\"#%'(),={}@]+")
SPACE = re.compile(r"\s*")
CLOSING = {"{": "}", "(": ")"}
MONTHS = ("January February March April May June July August September "
          "October November December").split()


class BadBibliography(Exception):
    """Text that is not BibTeX; carries the line on which it stops being so."""

    def __init__(self, line, message):
        super().__init__(message)
        self.line = line


class Entry:
    """One @entry: its kind, its key, its line, and fields as (raw TeX, line)."""

    def __init__(self, kind, key, line):
        self.kind, self.key, self.line, self.fields = kind, key, line, {}


class Warnings:
    """Everything that was dropped or guessed, reported at the end in file order."""

    def __init__(self):
        self.found = []

    def add(self, line, message):
        self.found.append((line, message))

    def report(self, path):
        for line, message in sorted(self.found):
            print("%s:%d: warning: %s" % (path, line, message), file=sys.stderr)


class Parser:
    """Reads entries from BibTeX text; strings are joined, TeX is left as it is."""

    def __init__(self, text, warnings):
        self.text, self.at, self.warnings = text, 0, warnings
        self.macros = {month[:3].lower(): month for month in MONTHS}
        self.entries = []

    def parse(self):
        # All text between entries is commentary, by BibTeX's own rule.
        while True:
            self.at = self.text.find("@", self.at)
            if self.at < 0:
                return self.entries
            self.at += 1
            self.command()

    def command(self):
        line = self.line()
        kind = self.name("an entry type after '@'").lower()
        if kind == "comment":
            self.skip_comment()
            return
        closing = CLOSING.get(self.take("{("))
        if kind == "preamble":
            self.value()
        elif kind == "string":
            name, _, value = self.assignment()
            self.macros[name] = value
        else:
            self.entry(Entry(kind, "", line), closing)
        if kind in ("preamble", "string"):
            self.take(closing)

    def skip_comment(self):
        if self.peek() == "{":
            self.take("{")
            self.braced()

    def entry(self, entry, closing):
        entry.key = self.name("a citation key after '@%s{'" % entry.kind)
        while self.peek() == ",":
            self.take(",")
            if self.peek() == closing:
                break
            self.field(entry)
        self.take("," + closing)
        self.keep(entry)

    def field(self, entry):
        name, line, value = self.assignment()
        if name in entry.fields:
            self.warnings.add(line, "%s: field %s given twice, first one kept" % (entry.key, name))
        else:
            entry.fields[name] = (value, line)

    def keep(self, entry):
        if any(other.key == entry.key for other in self.entries):
            self.warnings.add(entry.line, "%s: key used twice, first entry kept" % entry.key)
        else:
            self.entries.append(entry)

    def assignment(self):
        name = self.name("a field name").lower()
        line = self.line()
        self.take("=")
        return name, line, self.value()

    def value(self):
        parts = [self.part()]
        while self.peek() == "#":
            self.take("#")
            parts.append(self.part())
        return "".join(parts)

    def part(self):
        start = self.peek()
        if start == "{":
            self.take("{")
            return self.braced()
        if start == '"':
            self.take('"')
            return self.quoted()
        line = self.line()
        word = self.name("a value")
        if word.isdigit():
            return word
        if word.lower() not in self.macros:
            self.warnings.add(line, "string %s is not defined, its name is used" % word)
        return self.macros.get(word.lower(), word)

    def braced(self):
        return self.until("}", "'{' is never closed")

    def quoted(self):
        return self.until('"', "'\"' is never closed")

    def until(self, end, complaint):
        """Up to `end` outside inner braces; a backslash does not hide a brace."""
        start, opened, depth = self.at, self.line(), 0
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == end and depth == 0:
                return self.text[start:self.at - 1]
            if char == "{":
                depth += 1
            elif char == "}":
                depth -= 1
                if depth < 0:
                    raise BadBibliography(self.line(), "'}' without its '{'")
        raise BadBibliography(opened, complaint)

    def name(self, wanted):
        self.peek()
        match = NAME.match(self.text, self.at)
        if not match:
            self.fail(wanted)
        self.at = match.end()
        return match.group()

    def take(self, wanted):
        if not self.peek() or self.peek() not in wanted:
            self.fail(" or ".join("'%s'" % char for char in wanted))
        self.at += 1
        return self.text[self.at - 1]

    def peek(self):
        self.at = SPACE.match(self.text, self.at).end()
        return self.text[self.at:self.at + 1]

    def fail(self, wanted):
        found = self.peek()
        raise BadBibliography(
            self.line(), "expected %s, found %s" % (wanted, repr(found) if found else "the end"))

    def line(self):
        return self.text.count("\n", 0, self.at) + 1


# --- TeX to Unicode ----------------------------------------------------------

ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", "=": "\u0304", "u": "\u0306",
    ".": "\u0307", '"': "\u0308", "r": "\u030a", "H": "\u030b", "v": "\u030c", "d": "\u0323",
    "c": "\u0327", "k": "\u0328", "b": "\u0331",
}
SYMBOLS = {
    "ss": "\u00df", "ae": "\u00e6", "AE": "\u00c6", "oe": "\u0153", "OE": "\u0152",
    "aa": "\u00e5", "AA": "\u00c5", "o": "\u00f8", "O": "\u00d8", "l": "\u0142", "L": "\u0141",
    "i": "\u0131", "j": "\u0237", "dh": "\u00f0", "DH": "\u00d0", "th": "\u00fe", "TH": "\u00de",
    "&": "&", "%": "%", "$": "$", "#": "#", "_": "_", "{": "{", "}": "}", " ": " ", "\\": " ",
    "-": "", "/": "", ",": " ", "S": "\u00a7", "P": "\u00b6", "copyright": "\u00a9",
    "textendash": "\u2013", "textemdash": "\u2014", "ldots": "\u2026", "dots": "\u2026",
    "textasciitilde": "~", "textbackslash": "\\", "TeX": "TeX", "LaTeX": "LaTeX",
    "alpha": "\u03b1", "beta": "\u03b2", "gamma": "\u03b3", "lambda": "\u03bb", "mu": "\u03bc",
    "pi": "\u03c0", "times": "\u00d7", "infty": "\u221e",
}
# Commands that only change the look of what follows.
LOOKS = set("emph textit textbf textrm textsc texttt textsf textup mbox text url "
            "it bf em rm sc tt sf mathrm mathit mathcal".split())
LIGATURES = (("---", "\u2014"), ("--", "\u2013"), ("``", "\u201c"), ("''", "\u201d"),
             ("~", " "), ("`", "\u2018"), ("'", "\u2019"))
COMMAND = re.compile(r"\\([A-Za-z]+|.)(\s*)", re.DOTALL)
ARGUMENT = re.compile(r"\{\s*(\\[A-Za-z]+|[^{}\\])\s*\}|(\\[ij])(?![A-Za-z])\s*|([^{}\\\s])")
UNIT = re.compile(r"[{}$]")


def to_text(tex, warn):
    """Plain Unicode: accents composed, braces gone, white space made single."""
    out, at = [], 0
    while at < len(tex):
        if tex[at] == "\\":
            piece, at = command(tex, at, warn)
        elif UNIT.match(tex, at):
            piece, at = "", at + 1
        else:
            piece, at = plain(tex, at)
        out.append(piece)
    return unicodedata.normalize("NFC", re.sub(r"\s+", " ", "".join(out)).strip())


def plain(tex, at):
    for written, meant in LIGATURES:
        if tex.startswith(written, at):
            return meant, at + len(written)
    return tex[at], at + 1


def command(tex, at, warn):
    match = COMMAND.match(tex, at)
    if not match:
        warn("a lone backslash at the end was dropped")
        return "", at + 1
    name, end = match.group(1), match.end()
    if not name.isalpha():
        # A control symbol eats no space after it; an accent does.
        end = end if name in ACCENTS else match.end(1)
    if name in ACCENTS:
        return accented(tex, end, ACCENTS[name])
    if name in SYMBOLS:
        return SYMBOLS[name], end
    if name not in LOOKS:
        warn("TeX command \\%s is unknown and was dropped" % name)
    return "", end


def accented(tex, at, mark):
    match = ARGUMENT.match(tex, at)
    if not match:
        return "", at
    letter = match.group(1) or match.group(2) or match.group(3)
    if letter.startswith("\\"):
        # The dotless letters take the accent in place of the dot.
        letter = {"\\i": "i", "\\j": "j"}.get(letter, SYMBOLS.get(letter[1:], ""))
    return letter + mark, match.end()


def verbatim(tex):
    """DOI and URL: characters as they are, but for escapes and braces."""
    return re.sub(r"[{}\s]", "", re.sub(r"\\([%&_#~$])", r"\1", tex))


# --- names -------------------------------------------------------------------


def names(tex, warn):
    people = [person.strip() for person in split_outside(tex, re.compile(r"\s+and\s+"))]
    return [name(person, warn) for person in people if person]


def name(tex, warn):
    if tex == "others":
        return {"literal": "others"}
    if is_one_group(tex):
        return {"literal": to_text(tex, warn)}
    parts = [part.strip() for part in split_outside(tex, re.compile(","))]
    if len(parts) > 3:
        warn("name with more than two commas kept as it is: %s" % tex)
        return {"literal": to_text(tex, warn)}
    if len(parts) == 1:
        first, von, last = split_first_von_last(words(parts[0]))
        return person(first, von, last, [], warn)
    von, last = split_von_last(words(parts[0]))
    suffix = words(parts[1]) if len(parts) == 3 else []
    return person(words(parts[-1]), von, last, suffix, warn)


def person(first, von, last, suffix, warn):
    fields = (("family", last), ("given", first), ("non-dropping-particle", von), ("suffix", suffix))
    return {key: to_text(" ".join(value), warn) for key, value in fields if value}


def split_first_von_last(parts):
    """BibTeX's rule: "von" runs from the first to the last lower-case word but the final one."""
    low = [i for i, word in enumerate(parts[:-1]) if is_low(word)]
    if not low:
        return parts[:-1], [], parts[-1:]
    return parts[:low[0]], parts[low[0]:low[-1] + 1], parts[low[-1] + 1:]


def split_von_last(parts):
    low = [i for i, word in enumerate(parts[:-1]) if is_low(word)]
    return (parts[:low[-1] + 1], parts[low[-1] + 1:]) if low else ([], parts)


def is_low(word):
    """Whether a word is a particle: its first letter is small and not protected."""
    if word.startswith("{") and not word.startswith("{\\"):
        return False
    letters = to_text(word, lambda message: None)
    return letters[:1].islower()


def is_one_group(tex):
    """{World Health Organization}: one pair of braces around everything."""
    if not (tex.startswith("{") and tex.endswith("}")) or tex.startswith("{\\"):
        return False
    return all(depth > 0 for _, depth in depths(tex[:-1]))


def words(tex):
    # A tie joins two words on paper; in a name it separates them.
    return [word for word in split_outside(tex, re.compile(r"[\s~]+")) if word]


def split_outside(tex, separator):
    """Splits at each separator outside all braces and escapes."""
    pieces, start, at = [], 0, 0
    level = dict(depths(tex))
    while at < len(tex):
        match = separator.match(tex, at) if level[at] == 0 and tex[at - 1:at] != "\\" else None
        if match:
            pieces.append(tex[start:at])
            start = at = match.end()
        else:
            at += 1
    return pieces + [tex[start:]]


def depths(tex):
    """(index, brace depth) of each character; a brace counts as inside its group."""
    depth = 0
    for at, char in enumerate(tex):
        depth += char == "{"
        yield at, depth
        depth -= char == "}"


# --- entries to CSL ----------------------------------------------------------

KINDS = {
    "article": "article-journal", "book": "book", "booklet": "pamphlet", "inbook": "chapter",
    "incollection": "chapter", "inproceedings": "paper-conference", "conference": "paper-conference",
    "manual": "report", "mastersthesis": "thesis", "misc": "document", "phdthesis": "thesis",
    "proceedings": "book", "techreport": "report", "unpublished": "manuscript",
}
GENRES = {"phdthesis": "PhD thesis", "mastersthesis": "Master's thesis", "techreport": "Technical report"}
TEXTS = {
    "abstract": "abstract", "address": "publisher-place", "archiveprefix": "archive",
    "booktitle": "container-title", "chapter": "chapter-number", "edition": "edition",
    "eprint": "archive_location", "institution": "publisher", "journal": "container-title",
    "keywords": "keyword", "language": "language", "note": "note", "organization": "publisher",
    "publisher": "publisher", "school": "publisher", "series": "collection-title",
    "title": "title", "type": "genre", "volume": "volume",
}
VERBATIM = {"doi": "DOI", "isbn": "ISBN", "issn": "ISSN", "url": "URL"}
DATES = ("year", "month", "day")


def to_csl(entry, warnings):
    """One CSL item; keys are sorted when written, so their order here is free."""
    item = {"id": entry.key, "type": KINDS.get(entry.kind, "document")}
    if entry.kind not in KINDS:
        warnings.add(entry.line, "%s: type @%s is unknown, taken as a document" % (entry.key, entry.kind))
    if entry.kind in GENRES:
        item["genre"] = GENRES[entry.kind]
    for field, (tex, line) in entry.fields.items():
        add_field(item, entry, field, tex, warner(warnings, entry, line))
    add_date(item, entry, warnings)
    return item


def warner(warnings, entry, line):
    return lambda message: warnings.add(line, "%s: %s" % (entry.key, message))


def add_field(item, entry, field, tex, warn):
    if field in ("author", "editor"):
        item[field] = names(tex, warn)
    elif field == "pages":
        item["page"] = pages(to_text(tex, warn))
    elif field == "number":
        item["issue" if entry.kind == "article" else "number"] = to_text(tex, warn)
    elif field == "howpublished":
        add_source(item, tex, warn)
    elif field in VERBATIM:
        item[VERBATIM[field]] = identifier(field, verbatim(tex))
    elif field in TEXTS:
        item[TEXTS[field]] = to_text(tex, warn)
    elif field not in DATES:
        warn("field %s has no place in CSL-JSON and was dropped" % field)


def add_source(item, tex, warn):
    found = re.search(r"https?://[^\s{}]+", tex)
    if found:
        item.setdefault("URL", verbatim(found.group()))
    else:
        item["medium"] = to_text(tex, warn)


def identifier(field, value):
    """CSL holds the bare DOI, not its address."""
    return re.sub(r"^https?://(dx\.)?doi\.org/", "", value) if field == "doi" else value


def pages(value):
    return re.sub(r"\s*[-\u2013\u2014]+\s*", "-", value)


def add_date(item, entry, warnings):
    tex, line = entry.fields.get("year", ("", entry.line))
    warn = warner(warnings, entry, line)
    year = to_text(tex, warn)
    if not re.fullmatch(r"\d{1,4}", year):
        warn("no year in figures: %s" % (repr(year) if year else "there is none"))
        if year:
            item["issued"] = {"literal": year}
        return
    parts = [int(year)]
    month = month_number(entry, warnings)
    if month:
        parts.append(month)
        parts.extend(day_number(entry, warnings))
    item["issued"] = {"date-parts": [parts]}


def month_number(entry, warnings):
    tex, line = entry.fields.get("month", ("", entry.line))
    word = to_text(tex, warner(warnings, entry, line)).rstrip(".").lower()
    if word.isdigit() and 1 <= int(word) <= 12:
        return int(word)
    for number, month in enumerate(MONTHS, start=1):
        if len(word) >= 3 and month.lower().startswith(word):
            return number
    if word:
        warner(warnings, entry, line)("month %r is not one and was dropped" % word)
    return None


def day_number(entry, warnings):
    tex, line = entry.fields.get("day", ("", entry.line))
    word = tex.strip()
    if word.isdigit() and 1 <= int(word) <= 31:
        return [int(word)]
    if word:
        warner(warnings, entry, line)("day %r is not one and was dropped" % word)
    return []


# --- the program -------------------------------------------------------------


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--in", dest="source", required=True, metavar="BIB")
    parser.add_argument("--out", required=True, metavar="JSON")
    return parser.parse_args()


def main():
    options, warnings = arguments(), Warnings()
    try:
        with open(options.source, encoding="utf-8-sig") as source:
            entries = Parser(source.read(), warnings).parse()
    except BadBibliography as why:
        print("%s:%d: error: %s" % (options.source, why.line, why), file=sys.stderr)
        return 1
    except (OSError, UnicodeDecodeError) as why:
        print("%s: error: %s" % (options.source, why), file=sys.stderr)
        return 1
    items = [to_csl(entry, warnings) for entry in entries]
    with open(options.out, "w", encoding="utf-8", newline="\n") as target:
        json.dump(items, target, indent=2, sort_keys=True, ensure_ascii=False)
        target.write("\n")
    warnings.report(options.source)
    print("%d entries converted, %d warnings" % (len(items), len(warnings.found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
