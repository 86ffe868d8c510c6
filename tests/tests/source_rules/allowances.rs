//! Allowances: the number of breaches of a rule that each file or name may still have. They only
//! shrink. `tests/allowances/NAME.txt` has one line for each key with breaches: the key, a blank,
//! the count, sorted by key. A higher count fails, and so does a lower one: lower the number or
//! delete the line, so that no breach comes back. `UPDATE=1` writes the file. It refuses a higher
//! sum or entry, but an entry may get another key, because files move.

use std::collections::BTreeMap;
use std::fs;

use toolexec_tests::workspace;

/// The number of breaches of each key; never 0.
pub(crate) type BreachCounts = BTreeMap<String, usize>;

/// Prints the sum of breaches, and fails unless each equals its allowance. `about` describes a key.
pub(crate) fn check_allowance(
    name: &str,
    of: &str,
    found: &BreachCounts,
    about: impl Fn(&str) -> Option<String>,
) {
    // The harness may have printed the name of the test without a newline.
    println!("\ncount: {name}: {} {of}", found.values().sum::<usize>());
    let place = format!("tests/allowances/{name}.txt");
    let file = workspace().join(&place);
    let allowed = file.exists().then(|| parse(&fs::read_to_string(&file).unwrap()));
    let allowed =
        allowed.transpose().unwrap_or_else(|line| panic!("{place}: not KEY COUNT: {line:?}"));
    if std::env::var_os("UPDATE").is_some_and(|it| it == "1") {
        let text = update(allowed.as_ref(), found).unwrap_or_else(|why| panic!("{place}: {why}"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        return;
    }
    let wrong = compare(&allowed.unwrap_or_default(), found, about);
    assert!(
        wrong.is_empty(),
        "{place}: {} entries are wrong\n{}\nhelp: `UPDATE=1 cargo test -p toolexec-tests --test source_rules` \
         writes the list, unless something grew",
        wrong.len(),
        wrong.join("\n")
    );
}

fn parse(text: &str) -> Result<BreachCounts, String> {
    let mut counts = BreachCounts::new();
    for line in text.lines() {
        let entry = line.rsplit_once(' ').and_then(|(key, count)| Some((key, count.parse().ok()?)));
        let (key, count) = entry.filter(|(_, count)| *count > 0).ok_or(line)?;
        if counts.last_key_value().is_some_and(|(last, _)| last.as_str() >= key) {
            return Err(format!("{line} (not in order)"));
        }
        counts.insert(key.to_owned(), count);
    }
    Ok(counts)
}

/// Describes each wrong entry.
fn compare(
    allowed: &BreachCounts,
    found: &BreachCounts,
    about: impl Fn(&str) -> Option<String>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (key, count) in found {
        let most = allowed.get(key).copied().unwrap_or_default();
        if *count > most {
            let about = about(key).map(|it| format!("\n    {it}")).unwrap_or_default();
            wrong.push(format!("{key}: {count}, at most {most} allowed{about}"));
        } else if *count < most {
            wrong.push(format!(
                "{key}: {count}, but {most} allowed\n    help: change the line to `{key} {count}`"
            ));
        }
    }
    for (key, count) in allowed.iter().filter(|(key, _)| !found.contains_key(*key)) {
        wrong.push(format!(
            "{key}: none, but {count} allowed\n    help: delete the line `{key} {count}`"
        ));
    }
    wrong
}

/// Returns the text of the list as found, unless it allows more than before.
fn update(allowed: Option<&BreachCounts>, found: &BreachCounts) -> Result<String, String> {
    if let Some(allowed) = allowed {
        let sums = [found, allowed].map(|counts| counts.values().sum::<usize>());
        if sums[0] > sums[1] {
            return Err(format!("{} would be more than the {} allowed", sums[0], sums[1]));
        }
        for (key, count) in found {
            if allowed.get(key).is_some_and(|most| count > most) {
                return Err(format!(
                    "{key}: {count} would be more than the {} allowed",
                    allowed[key]
                ));
            }
        }
    }
    Ok(found.iter().map(|(key, count)| format!("{key} {count}\n")).collect())
}

#[cfg(test)]
fn counts<const N: usize>(counts: [(&str, usize); N]) -> BreachCounts {
    counts.map(|(key, count)| (key.to_owned(), count)).into()
}

#[test]
fn an_allowance_is_met_exactly() {
    let allowed = counts([("a.rs", 2), ("b.rs", 1)]);
    let compared = |found: &BreachCounts| compare(&allowed, found, |_| None).join("\n");
    assert_eq!(compared(&allowed), "");
    let more = compared(&counts([("a.rs", 3), ("b.rs", 1), ("c.rs", 1)]));
    assert!(more.contains("a.rs: 3, at most 2") && more.contains("c.rs: 1, at most 0"), "{more}");
    let less = compared(&counts([("a.rs", 1)]));
    assert!(less.contains("to `a.rs 1`") && less.contains("delete the line `b.rs 1`"), "{less}");
}

#[test]
fn a_list_is_rewritten_only_to_shrink() {
    let allowed = counts([("a.rs", 2), ("b.rs", 1)]);
    let written = |found: &BreachCounts| update(Some(&allowed), found);
    assert_eq!(written(&counts([("a.rs", 1)])).unwrap(), "a.rs 1\n");
    assert_eq!(written(&counts([("b.rs", 1), ("moved.rs", 2)])).unwrap(), "b.rs 1\nmoved.rs 2\n");
    assert!(written(&counts([("a.rs", 1), ("b.rs", 2)])).is_err(), "an entry grew");
    assert!(written(&counts([("a.rs", 2), ("b.rs", 1), ("c.rs", 1)])).is_err(), "the sum grew");
    assert_eq!(update(None, &counts([("a.rs", 9)])).unwrap(), "a.rs 9\n");
}

#[test]
fn a_list_is_in_order_and_has_no_zeros() {
    assert_eq!(parse("a b.rs 2\nc.rs 1\n"), Ok(counts([("a b.rs", 2), ("c.rs", 1)])));
    for wrong in ["a.rs", "a.rs two", "a.rs 0", "b.rs 1\na.rs 1", "a.rs 1\na.rs 1", ""] {
        assert_eq!(parse(wrong).is_err(), !wrong.is_empty(), "{wrong:?}");
    }
}
