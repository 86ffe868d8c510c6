//! No list of an enum's values is kept by hand: a closed set defines its values once, and lists,
//! texts and parsers are generated from there. Three patterns count, for each file:
//! - an array of all values of an enum (`[Kind::A, Kind::B]`, in tests only as a `const`), and a
//!   `const` with at least half of them, because a value may have been forgotten;
//! - a `match` from two or more values to texts without blanks (`Self::A => "a"`);
//! - a `match` from two or more such texts to values (`"a" => Some(Self::A)`).
//!
//! A text that is not the value's own is a column of a closed set (`Self::A => "a-signature"`),
//! written once: the compiler finds a missing value, as it does for a sentence for each value. The
//! body of a `macro_rules!` has variables in place of values, so it never counts.

use std::collections::{BTreeMap, BTreeSet};

use crate::allowances::{BreachCounts, check_allowance};
use crate::cycles::trees;
use crate::sources::sources;
use crate::tokens::{RustToken, RustTokenKind, begins_item, closing, tokens};

/// The values of each enum, by the name of the enum; names may be defined more than once.
type EnumTable<'a> = BTreeMap<&'a str, Vec<EnumValues<'a>>>;

/// The values of an enum, each with its text where `closed_set!` makes the enum.
type EnumValues<'a> = BTreeMap<&'a str, Option<&'a str>>;

/// Adds the enums that code defines, by itself or in the input of a macro.
fn enums<'a>(code: &[RustToken<'a>], found: &mut EnumTable<'a>) {
    for (at, token) in code.iter().enumerate() {
        let Some(name) = code.get(at + 1).filter(|it| token.is("enum") && it.is_type_name()) else {
            continue;
        };
        let open = (at + 2..code.len()).find(|it| code[*it].is("{") || code[*it].is(";"));
        if let Some(open) = open.filter(|open| code[*open].is("{")) {
            let values = values(&code[open + 1..closing(code, open)]);
            found.entry(name.text).or_default().push(values);
        }
    }
}

/// Returns the names that begin an entry in the body of an enum.
fn values<'a>(body: &[RustToken<'a>]) -> EnumValues<'a> {
    let (mut found, mut at, mut begins) = (EnumValues::new(), 0, true);
    while at < body.len() {
        match body[at].text {
            "#" => {}
            "[" if at > 0 && body[at - 1].is("#") => at = closing(body, at),
            "(" | "[" | "{" => at = closing(body, at),
            "," | ";" => begins = true,
            text if begins => {
                if body[at].is_type_name() {
                    let own = body.get(at + 2).filter(|_| body[at + 1].is("="));
                    let own = own.filter(|it| it.kind == RustTokenKind::Text).map(|it| it.text);
                    found.insert(text, own);
                }
                begins = false;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Returns for each token the type whose `impl` contains it.
fn owners<'a>(code: &[RustToken<'a>]) -> Vec<Option<&'a str>> {
    let mut owners = vec![None; code.len()];
    for at in 0..code.len() {
        if !(code[at].is("impl") && begins_item(code, at)) {
            continue;
        }
        let Some(open) = (at..code.len()).find(|it| code[*it].is("{")) else { continue };
        let owner = owner(&code[at + 1..open]);
        owners[open..=closing(code, open)].fill(owner);
    }
    owners
}

/// Returns the type in the head of an `impl`, which is after `for` if there is one.
fn owner<'a>(head: &[RustToken<'a>]) -> Option<&'a str> {
    let (mut owner, mut depth) = (None, 0_usize);
    for token in head {
        match token.text {
            "<" => depth += 1,
            ">" => depth = depth.saturating_sub(1),
            "where" => break,
            text if depth == 0 && token.is_type_name() => owner = Some(text),
            _ => {}
        }
    }
    owner
}

/// Returns enum and value at the end of a path (`crate::kind::Kind::A`), and the position after it.
fn value<'a>(code: &[RustToken<'a>], owner: Option<&'a str>) -> Option<(&'a str, &'a str, usize)> {
    let mut end = 0;
    while code.get(end).is_some_and(RustToken::is_word)
        && code.get(end + 1).is_some_and(|it| it.is("::"))
    {
        end += 2;
    }
    let (name, value) = (code.get(end.checked_sub(2)?)?, code.get(end)?);
    let name = if name.is("Self") { owner? } else { name.text };
    value.is_type_name().then_some((name, value.text, end + 1))
}

/// Splits a body at commas that are outside of brackets.
fn parts<'t, 'a>(body: &'t [RustToken<'a>]) -> Vec<&'t [RustToken<'a>]> {
    let (mut found, mut from, mut at) = (Vec::new(), 0, 0);
    while at < body.len() {
        match body[at].text {
            "(" | "[" | "{" if body[at].kind == RustTokenKind::Mark => at = closing(body, at),
            "," => {
                found.push(&body[from..at]);
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if from < body.len() {
        found.push(&body[from..]);
    }
    found
}

/// Returns whether an array lists the values of an enum: all, or half of them in a `const`.
fn is_list<'a>(
    body: &[RustToken<'a>],
    owner: Option<&'a str>,
    enums: &EnumTable<'a>,
    in_const: bool,
) -> bool {
    let parts = parts(body);
    let mut listed = BTreeSet::new();
    let mut of = None;
    for part in &parts {
        let part = part
            .strip_prefix(&[RustToken { kind: RustTokenKind::Mark, text: "&" }])
            .unwrap_or(part);
        let Some((name, value, end)) = value(part, owner) else { return false };
        // Only what the value carries may follow. With that, an array outside of a `const` is data.
        let carries = part.get(end).is_some_and(|it| it.is("(") || it.is("{"));
        let is_whole =
            end == part.len() || in_const && carries && closing(part, end) + 1 == part.len();
        if !is_whole || *of.get_or_insert(name) != name || !listed.insert(value) {
            return false;
        }
    }
    let defined = of.and_then(|name| enums.get(name)).into_iter().flatten();
    listed.len() > 1
        && defined
            .filter(|all| listed.iter().all(|value| all.contains_key(value)))
            .any(|all| listed.len() == all.len() || in_const && 2 * listed.len() >= all.len())
}

/// Returns the arms of a `match`: pattern and result.
fn arms<'t, 'a>(body: &'t [RustToken<'a>]) -> Vec<(&'t [RustToken<'a>], &'t [RustToken<'a>])> {
    let (mut found, mut from, mut at, mut arrow) = (Vec::new(), 0, 0, None);
    while at < body.len() {
        let open = body[at].kind == RustTokenKind::Mark && ["(", "[", "{"].contains(&body[at].text);
        let ends = match body[at].text {
            "=>" => {
                arrow = Some(at);
                false
            }
            "," => arrow.is_some(),
            // A block ends its arm without a comma.
            "{" if open && arrow == at.checked_sub(1) && arrow.is_some() => true,
            _ => false,
        };
        if open {
            at = closing(body, at);
        }
        if let Some(arrow) = arrow.filter(|_| ends || at + 1 == body.len()) {
            let end = if body[at].is(",") { at } else { at + 1 };
            found.push((&body[from..arrow], &body[arrow + 1..end]));
            from = at + 1;
        }
        if ends {
            arrow = None;
        } else if arrow.is_none() && body[at].is(",") {
            from = at + 1;
        }
        at += 1;
    }
    found
}

/// Returns whether two arms or more lead from a value to a text, or from a text to a value.
fn is_text_match<'a>(
    body: &[RustToken<'a>],
    owner: Option<&'a str>,
    enums: &EnumTable<'a>,
) -> bool {
    // A value, and its text in a closed set.
    let known = |code: &[RustToken<'a>]| {
        let (name, value, _) = value(code, owner)?;
        enums.get(name).into_iter().flatten().find_map(|all| all.get(value).copied())
    };
    let is_word = |token: &RustToken<'_>| {
        token.kind == RustTokenKind::Text && !token.text.contains([' ', '\n'])
    };
    let (mut to_text, mut to_value) = (0, 0);
    for (pattern, result) in arms(body) {
        let inside = match result {
            [wrap, open, inside @ .., _] if wrap.is_word() && open.is("(") => inside,
            _ => result,
        };
        let is_text = matches!(pattern, [text] if is_word(text));
        if let ([text], Some(own)) = (result, known(pattern)) {
            to_text += usize::from(is_word(text) && own.is_none_or(|own| own == text.text));
        }
        to_value += usize::from(is_text && known(inside).is_some());
    }
    to_text > 1 || to_value > 1
}

/// Returns each list and `match` that a file keeps by hand, in order.
fn kept_by_hand<'a>(code: &[RustToken<'a>], enums: &EnumTable<'a>, of_tests: bool) -> Vec<String> {
    let owners = owners(code);
    let mut found = Vec::new();
    for (at, token) in code.iter().enumerate() {
        if token.is("[") {
            let (body, constant) = (&code[at + 1..closing(code, at)], constant(code, at));
            if (constant.is_some() || !of_tests)
                && is_list(body, owners[at], enums, constant.is_some())
            {
                let name = constant.unwrap_or("an array");
                found.push(format!("{name}, a list of {} values", parts(body).len()));
            }
        } else if token.is("match") && !of_tests {
            found.extend(text_match(code, at, owners[at], enums));
        }
    }
    found
}

/// Returns the name of the constant whose value begins here.
fn constant<'a>(code: &[RustToken<'a>], at: usize) -> Option<&'a str> {
    let before = code[..at].strip_suffix(&[RustToken { kind: RustTokenKind::Mark, text: "&" }]);
    let before = before.unwrap_or(&code[..at]);
    let [head @ .., equals] = before else { return None };
    let from = head.iter().rposition(|it| it.is("const") || it.is("static"))?;
    // Between them only the length of an array may end.
    let between = &head[from..];
    let ends = |at: usize| between[at].is("{") || between[at].is("=");
    let name = between.get(1).filter(|_| equals.is("=") && !(0..between.len()).any(ends))?;
    (name.is_word() && !name.is("fn")).then_some(name.text)
}

/// Returns the `match` at a position, if it has texts of an enum.
fn text_match<'a>(
    code: &[RustToken<'a>],
    at: usize,
    owner: Option<&'a str>,
    enums: &EnumTable<'a>,
) -> Option<String> {
    let mut open = at + 1;
    while !code.get(open)?.is("{") {
        let opens = code[open].is("(") || code[open].is("[");
        open = if opens { closing(code, open) + 1 } else { open + 1 };
    }
    let body = &code[open + 1..closing(code, open)];
    let scrutinee: Vec<_> = code[at..open].iter().map(|it| it.text).collect();
    is_text_match(body, owner, enums).then(|| format!("`{}`", scrutinee.join(" ")))
}

#[test]
fn closed_sets_are_generated() {
    let modules: Vec<_> = trees().iter().flat_map(|tree| &tree.modules).collect();
    let mut known = EnumTable::new();
    modules.iter().for_each(|module| enums(&module.code, &mut known));
    assert!(known.len() > 200, "only {} enums: the search is broken", known.len());
    let mut kept: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for module in &modules {
        let found = kept_by_hand(&module.code, &known, false);
        kept.entry(module.file.to_str().unwrap()).or_default().extend(found);
    }
    for source in sources() {
        let of_tests = || kept_by_hand(&tokens(&source.text), &known, true);
        kept.entry(source.name()).or_insert_with(of_tests);
    }
    kept.retain(|_, found| !found.is_empty());
    let found: BreachCounts =
        kept.iter().map(|(file, it)| ((*file).to_owned(), it.len())).collect();
    let lists = kept.values().flatten().filter(|it| it.contains("a list of")).count();
    let of = format!("copies of an enum kept by hand; {lists} lists, the rest texts and parsers");
    check_allowance("closed_sets", &of, &found, |file| {
        kept.get(file).map(|found| found.join("; "))
    });
}

#[cfg(test)]
fn kept_in(text: &str, of_tests: bool) -> Vec<String> {
    let defined = "enum Kind { #[doc(hidden)] A, B(u8), C { x: u8 }, D = 4 } set! { pub enum Set { A = \"a\", B = \"b\" } }";
    let (defined, code) = (tokens(defined), tokens(text));
    let mut known = EnumTable::new();
    enums(&defined, &mut known);
    assert_eq!(known["Kind"], [["A", "B", "C", "D"].map(|value| (value, None)).into()]);
    kept_by_hand(&code, &known, of_tests)
}

#[test]
fn lists_of_values_are_found() {
    let all = "const ALL: [Self; 4] = [Self::A, Self::B(0), Self::C { x: 1 }, Self::D];";
    let in_impl = format!("impl<'a> From<u8> for Kind {{ {all} }}");
    assert_eq!(kept_in(&in_impl, false), ["ALL, a list of 4 values"]);
    assert_eq!(kept_in(all, false), Vec::<String>::new(), "of another type");
    let half = "const SOME: &[Kind] = &[Kind::A, super::Kind::D];";
    assert_eq!(kept_in(half, false).len(), 1);
    assert_eq!(kept_in(half, true).len(), 1, "a test's constant");
    let inline = "fn f() { for it in [Set::A, Set::B] {} }";
    assert_eq!(kept_in(inline, false), ["an array, a list of 2 values"]);
    for fine in [
        inline.replace(", Set::B", "").as_str(),
        "fn f() { let x = [Kind::A, Kind::D]; }",
        "fn f() { let x = [Kind::A, Kind::B(y), Kind::C { x: y }, Kind::D]; }",
        "static X: Rule = Rule { by: &[Kind::A, Kind::D] };",
        "fn f() { let x = [Set::A, Set::A]; g([Set::A.x(), Set::B.x()]) }",
        "// const ALL: [Set; 2] = [Set::A, Set::B];\nfn f() { g(\"[Set::A, Set::B]\") }",
        "const X: [CapSet; 2] = [CapSet::A, CapSet::B];",
        "const X: [Set; 1] = [Set::A];",
        "macro_rules! m { ($($v:ident)*) => { const ALL: &[Set] = &[$(Set::$v),*]; } }",
    ] {
        assert_eq!(kept_in(fine, false), Vec::<String>::new(), "{fine}");
    }
    assert_eq!(kept_in(inline, true), Vec::<String>::new(), "a test's own cases");
}

#[test]
fn texts_of_values_are_found() {
    let texts = "impl Set { fn as_str(self) -> &'static str { match self { Self::A => \"a\", Self::B => \"b\" } } }";
    assert_eq!(kept_in(texts, false), ["`match self`"]);
    let parser =
        "fn f() { match g(text) { \"a\" => Some(Set::A), \"b\" => Some(Set::B), _ => None } }";
    assert_eq!(kept_in(parser, false), ["`match g ( text )`"]);
    let carried = "fn f() { match k { Kind::A => \"a\", Kind::B(n) => { h(n) } Kind::C { .. } | Kind::D => \"c\" } }";
    assert_eq!(kept_in(carried, false).len(), 1);
    for fine in [
        texts.replace("\"a\"", "\"it is a\"").as_str(),
        texts.replace("\"a\"", "\"a-file\"").as_str(),
        "fn f() { match k { Kind::A => \"a\", _ => \"b\" } }",
        "fn f() { match level { Level::A => \"a\", Level::B => \"b\" } }",
        "macro_rules! m { () => { match self { $(Self::$v => $text),* } } }",
    ] {
        assert_eq!(kept_in(fine, false), Vec::<String>::new(), "{fine}");
    }
}
