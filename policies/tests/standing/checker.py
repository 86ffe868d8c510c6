"""Independent second check of standing approvals, after docs/standing-approvals.md.

Reads JSON lines: {"standing": ...} declares one, {"n", "host", "request"} is answered with 1 (admitted) or 0.
It must share no code with the Rust check, or a mistake in one would hide in the other.
"""
import datetime
import json
import string
import sys

DIGITS, LETTERS = frozenset(string.digits), frozenset(string.ascii_letters)
NAME, IDENTIFIER = LETTERS | DIGITS | frozenset("._-"), LETTERS | DIGITS | frozenset("_")
LEVELS = {"risk": ["low", "medium", "high"], "sensitivity": ["public", "internal", "confidential"]}
LIMITS, LISTS = ("cpu_milli", "memory_mb", "time_sec"), ("words", "hosts", "outputs", "constraints")
BOTH_KEYS = {*LIMITS, *LISTS, *LEVELS, "language", "environment", "audience", "subject", "approved", "inputs"}
STANDING_KEYS = BOTH_KEYS | {"id", "agents", "inputs_bytes_max", "parameters"}
REQUEST_KEYS = BOTH_KEYS | {"backend", "agent", "approved_by"}

def need(condition, what):
    """Ends the program: a declaration that cannot be read is a mistake of the caller, not a refusal."""
    if not condition:
        sys.exit(f"checker: a standing approval cannot be read: {what}")

def is_strings(value):
    """True for a list of strings only, so that set operations cannot meet other types."""
    return type(value) is list and all(type(item) is str for item in value)

def is_count(value, most=float("inf")):
    """True for a whole number from 0 to most; type() because True and 1.0 are equal to 1 in Python."""
    return type(value) is int and 0 <= value <= most

def is_plain(name):
    """True for a plain file name; only ASCII passes, so lower() is then ASCII lower case."""
    return (type(name) is str and 1 <= len(name) <= 128 and name[0] not in ".-" and ".." not in name
            and NAME.issuperset(name))

def is_date(text, kind=datetime.date):
    """A real date in its one spelling; fromisoformat accepts more, so the result is written again."""
    try:
        return kind.fromisoformat(text).isoformat() == text
    except ValueError:
        return False

def is_number(text):
    """A whole number without sign or leading zero, so 0 is written 0; str.isdigit would accept other scripts."""
    return text != "" and DIGITS.issuperset(text) and (text == "0" or text[0] != "0")

FORMS = {"date": is_date, "identifier": lambda text: IDENTIFIER.issuperset(text) and text[0] not in DIGITS,
         "number-list": lambda text: all(map(is_number, text.split(",")))}

def integer_test(low, high):
    """Tests a range too large to list; the length comes first because int() refuses very long text."""
    longest = max(len(str(low)), len(str(high)))
    return lambda text: (len(text) <= longest and is_number(text.removeprefix("-")) and text != "-0"
                         and low <= int(text) <= high)

def read_parameter(name, chars_max=None, integer=None, choice=None, text=None):
    """Returns (all spellings, None) or (None, test); a listed set needs no parser that could err."""
    if integer and integer[1] - integer[0] < 5000:
        return set(map(str, range(integer[0], integer[1] + 1))), None
    if text:
        return None, lambda value: 1 <= len(value) <= chars_max and FORMS[text](value)
    return (None, integer_test(*integer)) if integer else (set(choice), None)

def read_word(word):
    """Splits a word into its beginning and the name in braces (None for a literal)."""
    begin, brace, rest = word.partition("{")
    need(not set("{}") & set(begin + rest[:-1]) and rest[-1:] == brace.replace("{", "}"), word)
    need(not brace or begin[-1:] in ("", "="), word)
    return begin, rest[:-1] if brace else None

class Standing:
    """One standing approval, prepared once because a million requests may follow."""

    def __init__(self, d):
        """Reads the declaration; the types matter because None would be equal to a missing host."""
        need(d.keys() == STANDING_KEYS, "keys")
        texts = [d["id"], d["approved"], d["audience"], d["language"], d["subject"] or "", d["environment"] or ""]
        need(all(map(is_strings, [texts, d["agents"]] + [d[key] for key in LISTS])), "texts")
        need(len(d["approved"]) == 20 and is_date(d["approved"].removesuffix("Z"), datetime.datetime), "approved")
        self.d, self.hosts, self.constraints = d, set(d["hosts"]), set(d["constraints"])
        self.among = {key: set(names[:names.index(d[key]) + 1]) for key, names in LEVELS.items()}
        self.among["agent"] = set(d["agents"])
        same = ["audience", "language", "environment", "approved"] + ["subject"] * (d["subject"] is not None)
        self.same = dict({key: d[key] for key in same}, approved_by="standing " + d["id"], backend=None)
        self.fixed = {item["name"]: item["sha256"] for item in d["inputs"] if "slot" not in item}
        self.fixed_lower = set(map(str.lower, self.fixed))
        self.slots = {item["slot"]: item for item in d["inputs"] if "slot" in item}
        self.patterns = [(slot, item["name"].partition("*")) for slot, item in self.slots.items()]
        parameters = {item["name"]: read_parameter(**item) for item in d["parameters"]}
        names = len(self.fixed_lower) + len(self.slots) + len(parameters)
        need(names == len(d["inputs"]) + len(d["parameters"]), "a name twice")
        self.read_words(parameters)

    def read_words(self, parameters):
        """Lists, for the first word of each parameter, every spelling of the word where that is possible."""
        self.words, self.first = list(map(read_word, self.d["words"])), {}
        need(self.words and self.words[0][1] is None, "the first word")
        for index, (begin, value) in enumerate(self.words):
            if value is not None and value not in self.first and value[:3] != "in:":
                spellings, test = parameters[value]
                self.first[value] = (index, begin, {begin + text: text for text in spellings or ()}, test)

    def slot_of(self, name):
        """The one slot of a plain name; a name of two slots is not covered, so it has none."""
        found = [slot for slot, (head, star, tail) in self.patterns if (name == head if not star else
                 len(name) > len(head + tail) and name.startswith(head) and name.endswith(tail))]
        return found[0] if len(found) == 1 else None

    def files(self, inputs):
        """Returns the names in each slot, or None if any input is not covered."""
        seen, total, files = set(), 0, {slot: [] for slot in self.slots}
        for item in inputs if type(inputs) is list else [None]:
            if type(item) is not dict or item.keys() != {"name", "sha256", "bytes"}:
                return None
            name, size, digest = item["name"], item["bytes"], item["sha256"]
            if not is_plain(name) or name.lower() in seen or type(digest) is not str or not is_count(size):
                return None
            if name.lower() not in self.fixed_lower:
                slot = self.slot_of(name)
                if slot is None or size > self.slots[slot]["bytes_max"]:
                    return None
                files[slot].append(name)
            elif self.fixed.get(name) != digest:
                return None
            seen.add(name.lower())
            total += size
        counts = all(item["count"][0] <= len(files[slot]) <= item["count"][1] for slot, item in self.slots.items())
        return files if counts and self.fixed_lower <= seen and total <= self.d["inputs_bytes_max"] else None

    def command(self, words, files):
        """Rebuilds the only command with these values and files, so that a parameter has one value."""
        values = {"in:" + slot: "/in/" + names[0] for slot, names in files.items() if len(names) == 1}
        for name, (index, begin, listed, test) in self.first.items():
            value = words[index][len(begin):] if test else listed.get(words[index])
            if value is None or (test and not test(value)):
                return None
            values[name] = value
        complete = all(value in values for _, value in self.words if value is not None)
        return [begin + values.get(value, "") for begin, value in self.words] if complete else None

    def admits(self, host, r):
        """The rules of Containment; the command comes last because it needs the files."""
        if type(r) is not dict or r.keys() != REQUEST_KEYS or host != self.d["audience"]:
            return False
        texts = ["" if r["subject"] is None else r["subject"]] + [r[key] for key in self.among]
        if not all(map(is_strings, [texts] + [r[key] for key in LISTS])):
            return False
        fits = (all(r[key] == value for key, value in self.same.items())
                and all(r[key] in allowed for key, allowed in self.among.items())
                and all(is_count(r[key], self.d[key]) for key in LIMITS)
                and self.hosts.issuperset(r["hosts"]) and self.constraints.issubset(r["constraints"])
                and sorted(r["outputs"]) == sorted(self.d["outputs"]))
        files = self.files(r["inputs"]) if fits and len(r["words"]) == len(self.words) else None
        return files is not None and r["words"] == self.command(r["words"], files)

def unique(pairs):
    """Builds an object; a key given twice adds the key "", which no rule covers, so it is refused."""
    return dict(pairs) if len(dict(pairs)) == len(pairs) else dict(pairs, **{"": "a key twice"})

def answers(lines):
    """Yields 1 or 0 for each request; is_count keeps a negative n from counting from the end."""
    decode, standing = json.JSONDecoder(object_pairs_hook=unique).decode, []
    for item in map(decode, lines):
        if "standing" in item:
            standing.append(Standing(item["standing"]))
        else:
            known = is_count(item["n"], len(standing) - 1) and "" not in item
            yield "1" if known and standing[item["n"]].admits(item["host"], item["request"]) else "0"

def self_test():
    """Asks about one request that is admitted and about changes of it."""
    fixed, seeds = {"name": "means.py", "sha256": "a1" * 32}, ["no network", "seed 7", "outputs listed"]
    both = {"audience": "desk-1", "subject": None, "language": "python", "environment": None, "hosts": [],
            "cpu_milli": 1000, "memory_mb": 512, "time_sec": 60, "outputs": ["mean.json"], "constraints": seeds,
            "risk": "low", "sensitivity": "internal", "approved": "2026-02-09T16:12:00Z"}
    slot = {"slot": "table", "name": "sales-*.csv", "count": [1, 1], "bytes_max": 8388608}
    parameters = [{"name": "last", "integer": [1, 3650]}, {"name": "by", "choice": ["day", "week", "month"]},
                  {"name": "column", "text": "identifier", "chars_max": 32}, {"name": "big", "integer": [-9999, 9999]},
                  {"name": "on", "text": "date", "chars_max": 10}, {"name": "list", "text": "number-list", "chars_max": 9}]
    standing = dict(both, id="SA-20260209-160501Z-means", agents=["core"], inputs_bytes_max=9437184, inputs=[fixed, slot],
                    words=["python", "means.py", "{in:table}", "--last={last}", "{column}", "{by}"], parameters=parameters)
    code, table = dict(fixed, bytes=1048576), {"name": "sales-1.csv", "sha256": "b2" * 32, "bytes": 8388608}
    words = ["python", "means.py", "/in/sales-1.csv", "--last=30", "price", "day"]
    good = dict(both, backend=None, agent="core", approved_by="standing " + standing["id"], words=words, inputs=[code, table])
    def check(want, n=0, host="desk-1", pattern=standing["words"], its=None, **changes):
        declared = {"standing": dict(standing, words=pattern, environment=its)}
        lines = declared, {"n": n, "host": host, "request": dict(good, **changes)}
        assert list(answers(map(json.dumps, lines))) == [want], (want, lines)
    check("1", subject="w", sensitivity="public", constraints=seeds + ["x"])
    check("1", inputs=[table, code])
    charts = "charts@sha256:" + "c3" * 32
    check("1", its=charts, environment=charts)
    check("0", environment=charts)
    for other in (None, "", False, "charts@sha256:" + "c4" * 32, "plots@sha256:" + "c3" * 32):
        check("0", its=charts, environment=other)
    for word, admitted, refused in (
            ("{last}", ["1", "3650"], ["0", "3651", "-1", "+1", " 1", "01", "1_0", "1.0", "", "\u0663", "1\n"]),
            ("{column}", ["_", "a" * 32], ["", "1a", "a" * 33, "\u00e9", "a-b", "a\n"]),
            ("{by}", ["day"], ["Day", "year", "day "]), ("{in:table}", ["/in/sales-1.csv"], ["sales-1.csv", "/in/means.py"]),
            ("{big}", ["0", "-9999", "9999"], ["-0", "10000", "-10000", "+1", "-", "--1", "\u0663"]),
            ("{on}", ["2024-02-29"], ["2023-02-29", "0000-01-01", "20240229", "2024-2-29", "2024-W01-1"]),
            ("{list}", ["0", "1,20"], ["01", "1,,2", "1,", "1, 2", "-1", "1,2,3,4,5,6"])):
        for value in admitted + refused:
            for want, again in (("1" if value in admitted else "0", value), ("0", value + "1")):
                check(want, pattern=["x", word, "-a=" + word], words=["x", value, "-a=" + again])
    for bad in ({"n": 1}, {"n": -1}, {"n": False}, {"host": "desk-2"}, {"extra": 1}, {"audience": None}, {"backend": "b"},
                {"language": "r"}, {"agent": None}, {"approved_by": "SA-20260209-160501Z-means"}, {"time_sec": True},
                {"approved": "2026-02-09T16:12:01Z"}, {"hosts": ["a:443"]}, {"cpu_milli": 1001}, {"memory_mb": 512.0},
                {"outputs": ["mean.json", "x"]}, {"constraints": seeds[1:]}, {"risk": "medium"}, {"risk": "Low"},
                {"sensitivity": "confidential"}, {"words": words[:5]}, {"words": words + ["x"]}, {"words": None}):
        check("0", **bad)
    for bad in ([table], [code], [code, table, table], [dict(code, sha256="a2" * 32), table],
                [dict(code, bytes=None), table], [dict(code, bytes=1048577), table], [code, dict(table, bytes=8388609)],
                [code, table, dict(code, name="MEANS.py")], [code, dict(table, name="sales-.csv")], [table, code, dict(code, name="x")]):
        check("0", inputs=bad, pattern=["x", "{by}"], words=["x", "day"])

def main():
    """Writes all answers at the end, because a million small writes are slow."""
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape", newline="\n")
    sys.stdout.write("".join(answer + "\n" for answer in answers(sys.stdin)))

if __name__ == "__main__":
    main()
