"""Upstream's way of checking a tool request, for scale: one Python process per file, with the
standard library only. It looks for what upstream's validator is known to look for (keys, type,
version, approval, sections, one regular expression for the command), in code of our own. It must
never be used to decide anything."""

import re
import sys

KEYS = (
    "request_type schema_version request_id created_utc requested_by approved_by approved_utc "
    "purpose language network cpu_limit memory_limit_mb time_limit_sec"
).split()
SECTIONS = ["## Command", "## Input Files", "## Output Expectations", "## Risk Assessment"]
DANGEROUS = re.compile(r"[;&|><`]|(\$\()|(\)\s*)", re.IGNORECASE)


def split(text):
    if not text.startswith("---\n"):
        return {}, text
    end = text.find("\n---\n", 3)
    front, body = text[4:end], text[end + 5 :]
    found = {}
    for line in front.splitlines():
        key, colon, value = line.partition(":")
        if colon and not line.startswith((" ", "-", "#")):
            found[key.strip()] = value.strip().strip("\"'")
    return found, body


def command(lines):
    inside = False
    for line in lines:
        if line == SECTIONS[0]:
            inside = True
        elif inside and line.startswith("## "):
            break
        elif inside and line.strip():
            return line.strip()
    return ""


def problems(text):
    front, body = split(text)
    lines = body.splitlines()
    yield from (f"missing key {key}" for key in KEYS if key not in front)
    for key, value in (("request_type", "tool_request"), ("schema_version", "1")):
        if front.get(key) != value:
            yield f"{key} is not {value}"
    if not (front.get("approved_by") and front.get("approved_utc")):
        yield "not approved"
    if "shell" in front.get("language", ""):
        yield "a shell"
    if front.get("network") not in ("none", "allowlist"):
        yield "network"
    places = [lines.index(title) if title in lines else -1 for title in SECTIONS]
    if -1 in places or places != sorted(places):
        yield "sections"
    if not command(lines) or DANGEROUS.search(command(lines)):
        yield "command"


with open(sys.argv[1], encoding="utf-8") as file:
    found = list(problems(file.read()))
for problem in found:
    print(problem)
sys.exit(2 if found else 0)
