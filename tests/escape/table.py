"""The table of the trial: a row for each scenario, a column for each sandbox, and below it the
evidence. Runs nothing."""
import re

# Verdicts that TOOL-EXEC must not have.
FAULTS = ("ESCAPED", "OPEN", "UNPROVEN", "BROKEN")
SUITE = {"toolexec-system": "system", "toolexec-user": "user", "bwrap": "bwrap", "runc": "runc", "crun": "crun",
         "firejail": "firejail"}


def print_rows(rows):
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    for number, row in enumerate(rows):
        print("| " + " | ".join(text.ljust(width) for text, width in zip(row, widths)) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 2) for width in widths) + "|")


def suite_columns(target):
    """Returns the values of each column in the table of the hostile suite, which may be missing."""
    columns = {}
    for name in ("hostile.txt", "hostile-microvm.txt"):
        path = target / name
        lines = path.read_text().splitlines() if path.is_file() else []
        rows = [[it.strip() for it in line.strip("|").split("|")] for line in lines if line.startswith("|")]
        if len(rows) < 3:
            continue
        for at, head in enumerate(rows[0][2:], 2):
            name = "toolexec-microvm" if head == "in the guest" else head
            columns[name] = [(row[0], row[at]) for row in rows[2:] if len(row) > at]
    return columns


def suite_row(names, columns):
    """Returns the row of the hostile suite: the cases contained, of those that were run."""
    row = []
    for name in names:
        values = [it for _, it in columns.get(SUITE.get(name, name), []) if it not in ("-", "") and "skipped" not in it]
        faults = [it for it in values if re.match(r"KNOWN GAP|OPEN|ESCAPED|UNLIMITED|left running", it)]
        row.append(f"{len(values) - len(faults)} of {len(values)}" if values else "not run")
    return row


def counts(results):
    """Returns the number of contained scenarios of those that could be tried."""
    verdicts = [it.verdict for it in results.values() if it.verdict != "CANNOT TRY"]
    return f"{verdicts.count('CONTAINED')} of {len(verdicts)}"


def print_table(scenarios, tried, target):
    names = [subject.name for subject, *_ in tried]
    rows = [["scenario", "class", *names]]
    for scenario in scenarios:
        results = (result[scenario.name].verdict if isinstance(result, dict) else "SKIPPED" for *_, result in tried)
        rows.append([scenario.name, scenario.keys["class"], *results])
    rows.append(["contained", "all of these", *(counts(it) if isinstance(it, dict) else "-" for *_, it in tried)])
    columns = suite_columns(target)
    rows.append(["contained", "hostile suite", *suite_row(names, columns)])
    print_rows(rows)
    gaps = {case for name in ("system", "user") for case, value in columns.get(name, []) if value.startswith("KNOWN GAP")}
    if gaps:
        print(f"\nKnown gaps of TOOL-EXEC in the hostile suite: {', '.join(sorted(gaps))}.")


def print_evidence(scenarios, tried):
    for subject, _, results in tried:
        if not isinstance(results, dict):
            continue
        print(f"\n### {subject.name}\n")
        for scenario in scenarios:
            result = results[scenario.name]
            evidence = result.evidence if len(result.evidence) <= 400 else result.evidence[:400] + "…"
            print(f"- {scenario.name}: {result.verdict}: {evidence}")


def print_results(kernel, scenarios, tried, target):
    """Prints everything, and returns the exit status."""
    print(f"{kernel}\n")
    print_table(scenarios, tried, target)
    print()
    for subject, version, results in tried:
        state = f"SKIPPED: {results}" if isinstance(results, str) else f"{version}: {subject.usage}"
        print(f"- {subject.name}: {state}")
    print_evidence(scenarios, tried)
    faults = [f"{subject.name}: {name}: {it.verdict}: {it.evidence}" for subject, _, results in tried
              if subject.ours and isinstance(results, dict) for name, it in results.items() if it.verdict in FAULTS]
    ours = [it for it in tried if it[0].ours]
    ran = [it for it in ours if isinstance(it[2], dict)]
    nothing = "none" if ran else "it was not tried"
    print("\nNot contained by TOOL-EXEC: " + ("\n".join(["", *faults]) if faults else nothing))
    # A sandbox of ours that cannot run has contained nothing.
    broken = [it for it in ours if isinstance(it[2], str) and "does not run" in it[2]]
    return 1 if faults or broken else 0
