//! No file of a crate imports itself through other files. The graph has a node for each file of a
//! crate's `src/` that its roots lead to, without tests. A file imports another if a `use` line, or
//! a path in its code, names that module or an item of it. A re-exported name (`pub use`) leads to
//! the file that defines it, and to the re-exporting module unless that contains the importer. Two
//! kinds of lines import nothing:
//! - `mod x;`, because a declaration uses nothing of the module;
//! - `pub use x::Name;` of a module inside this one, unless the rest of the file uses `Name` too.
//!
//! The allowance counts the imports that are part of a cycle, by importing file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::allowances::{BreachCounts, check_allowance};
use crate::modules::{FileTexts, Import, ModuleTree, paths};
use crate::sources::{GRAPH, RustSource, sources};

/// The names that a file imports from another, by both paths.
type Imports = BTreeMap<(PathBuf, PathBuf), BTreeSet<String>>;

/// Returns every import of one file by another below one root.
fn imports(tree: &ModuleTree<'_>) -> Imports {
    let mut found = Imports::new();
    for (module, this) in tree.modules.iter().enumerate() {
        for import in this.imports.iter().filter(|it| !is_reexport(tree, module, it)) {
            add_import(tree, module, &import.path, &mut found);
        }
        for path in paths(&this.code) {
            add_import(tree, module, &path, &mut found);
        }
    }
    found
}

/// Returns whether an import only re-exports an item of a module inside this one.
fn is_reexport(tree: &ModuleTree<'_>, module: usize, import: &Import<'_>) -> bool {
    let is_used_here = |name: &str| {
        let file = &tree.modules[module].file;
        let mut code = tree.modules.iter().filter(|it| it.file == *file).flat_map(|it| &it.code);
        code.any(|token| token.is_word() && token.text == name)
    };
    let target = tree.resolve(module, &import.path).map(|(target, _)| target.module());
    import.is_public
        && target.is_some_and(|target| tree.is_below(target, module))
        && !import.name.is_some_and(is_used_here)
}

/// Adds the files to which a path leads: the defining one, and those that re-export the item.
fn add_import(tree: &ModuleTree<'_>, module: usize, path: &[&str], found: &mut Imports) {
    let Some((target, passed)) = tree.resolve(module, path) else { return };
    let passed = passed.into_iter().filter(|it| !tree.is_below(module, *it));
    for other in passed.chain([target.module()]) {
        let (from, to) = (&tree.modules[module].file, &tree.modules[other].file);
        if from != to {
            let names = found.entry((from.clone(), to.clone())).or_default();
            names.insert(item_of(path).to_owned());
        }
    }
}

/// Returns the item that a path names, without a following variant or function of a type.
fn item_of<'a>(path: &[&'a str]) -> &'a str {
    let is_item = |name: &&&str| name.starts_with(|c: char| c.is_ascii_uppercase());
    path.iter().find(is_item).or(path.last()).unwrap()
}

/// Returns the groups of files that import each other, directly or indirectly, sorted.
fn groups(imports: &Imports) -> Vec<BTreeSet<&Path>> {
    let mut next: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
    for (from, to) in imports.keys() {
        next.entry(from).or_default().push(to);
    }
    let reach: BTreeMap<&Path, BTreeSet<&Path>> =
        next.keys().map(|from| (*from, reached(from, &next))).collect();
    let mut found: Vec<BTreeSet<&Path>> = Vec::new();
    for (file, others) in reach.iter().filter(|(file, others)| others.contains(*file)) {
        if !found.iter().any(|group| group.contains(file)) {
            let back = |it: &&&Path| reach.get(**it).is_some_and(|reached| reached.contains(file));
            found.push(others.iter().filter(back).copied().collect());
        }
    }
    found
}

fn reached<'a>(from: &Path, next: &BTreeMap<&'a Path, Vec<&'a Path>>) -> BTreeSet<&'a Path> {
    let (mut seen, mut todo) = (BTreeSet::new(), next[from].clone());
    while let Some(file) = todo.pop() {
        if seen.insert(file) {
            todo.extend(next.get(file).into_iter().flatten());
        }
    }
    seen
}

/// Returns the roots of the shipped crates: libraries and programs.
fn roots() -> Vec<&'static Path> {
    let is_root = |path: &Path| {
        let shipped = GRAPH.iter().any(|(name, _)| *name != "tests" && path.starts_with(name));
        let program = path.parent().is_some_and(|it| it.ends_with("src/bin"));
        shipped && (program || path.ends_with("src/lib.rs") || path.ends_with("src/main.rs"))
    };
    let paths = sources().iter().map(|source| source.path.as_path());
    let found: Vec<_> =
        paths.filter(|path| path.components().count() <= 4 && is_root(path)).collect();
    assert!(found.len() >= GRAPH.len() - 1, "{found:?}");
    found
}

/// Returns the modules of the shipped crates, by root.
pub(crate) fn trees() -> &'static [ModuleTree<'static>] {
    static TREES: OnceLock<Vec<ModuleTree<'static>>> = OnceLock::new();
    TREES.get_or_init(|| {
        let sources = sources().iter();
        let texts = sources.map(|source| (source.path.as_path(), source.text.as_str()));
        let texts: FileTexts<'_> = texts.collect();
        roots().into_iter().map(|root| ModuleTree::read(root, &texts)).collect()
    })
}

/// The rule would not see a file that no root leads to.
#[test]
fn only_tests_are_outside_of_the_module_trees() {
    let modules = || trees().iter().flat_map(|tree| &tree.modules);
    let shipped =
        |name: &str| GRAPH.iter().any(|(member, _)| *member != "tests" && name == *member);
    let outside = sources().iter().filter(|source| {
        let mut parts = source.name().split('/');
        parts.next().is_some_and(shipped)
            && parts.next() == Some("src")
            && !modules().any(|module| module.file == source.path)
    });
    let is_test = |name: &str| name.ends_with("tests.rs") || name.contains("/tests/");
    let wrong: Vec<_> = outside.map(RustSource::name).filter(|name| !is_test(name)).collect();
    assert_eq!(wrong, Vec::<&str>::new());
}

#[test]
fn no_module_cycles() {
    let all: Imports = trees().iter().flat_map(imports).collect();
    assert!(all.len() > 1000, "only {} imports: the search is broken", all.len());
    let groups = groups(&all);
    let is_cyclic = |from: &Path, to: &Path| {
        groups.iter().any(|group| group.contains(from) && group.contains(to))
    };
    let cyclic: Vec<_> = all.iter().filter(|((from, to), _)| is_cyclic(from, to)).collect();
    let mut found = BreachCounts::new();
    for ((from, _), _) in &cyclic {
        *found.entry(from.to_str().unwrap().to_owned()).or_default() += 1;
    }
    let files: usize = groups.iter().map(BTreeSet::len).sum();
    let of = format!("imports that are part of a cycle; {} cycles of {files} files", groups.len());
    check_allowance("cycles", &of, &found, |file| {
        let of_file = cyclic.iter().filter(|((from, _), _)| from == Path::new(file));
        let lines = of_file.map(|((_, to), names)| {
            let names: Vec<_> = names.iter().map(String::as_str).collect();
            format!("imports {} for {}", to.display(), names.join(", "))
        });
        Some(lines.collect::<Vec<_>>().join("\n    "))
    });
}

/// Returns the groups among files with these texts, as one line.
#[cfg(test)]
fn groups_of(files: &[(&str, &str)]) -> String {
    let texts: FileTexts<'_> = files.iter().map(|(path, text)| (Path::new(*path), *text)).collect();
    let tree = ModuleTree::read(Path::new("src/lib.rs"), &texts);
    let imports = imports(&tree);
    let groups = groups(&imports).into_iter().map(|group| {
        let names = group.into_iter().map(|file| file.file_stem().unwrap().to_str().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort_unstable();
        names.join("-")
    });
    groups.collect::<Vec<_>>().join(" ")
}

const ROOT: (&str, &str) = ("src/lib.rs", "mod a; mod b; mod c;");

#[test]
fn a_cycle_is_found() {
    let a = ("src/a.rs", "use crate::b::B; pub struct A;");
    let b = ("src/b.rs", "use super::c; pub struct B;");
    let c = ("src/c.rs", "fn f() -> crate::a::A { crate::a::A }");
    assert_eq!(groups_of(&[ROOT, a, b, c]), "a-b-c");
    assert_eq!(groups_of(&[ROOT, a, b, ("src/c.rs", "use crate::d::A;")]), "");
    let both = ("src/c.rs", "use crate::b;");
    assert_eq!(groups_of(&[ROOT, ("src/a.rs", ""), b, both]), "b-c");
}

#[test]
fn comments_texts_and_tests_import_nothing() {
    let a = ("src/a.rs", "use crate::b::B;");
    for text in [
        "// use crate::a::A;\n/* crate::a::f() */",
        "fn f() { g(\"crate::a::A\", r#\"use crate::a;\"#) }",
        "#[cfg(test)] mod tests { use crate::a::A; }",
        "#[cfg(test)] use crate::a::A;",
        "pub(in crate::a) struct B;",
    ] {
        assert_eq!(groups_of(&[ROOT, a, ("src/b.rs", text), ("src/c.rs", "")]), "", "{text}");
    }
    assert_eq!(groups_of(&[ROOT, a, ("src/b.rs", "use crate::a::A;"), ("src/c.rs", "")]), "a-b");
}

#[test]
fn a_reexport_is_not_an_import() {
    let (b, c) = (("src/b.rs", ""), ("src/c.rs", ""));
    let inner = ("src/a/inner.rs", "use super::A; pub struct Inner;");
    let shows = |text| groups_of(&[ROOT, ("src/a.rs", text), b, c, inner]);
    assert_eq!(shows("mod inner; pub use inner::Inner; pub struct A;"), "");
    assert_eq!(shows("mod inner; pub use inner::Inner; pub struct A(Inner);"), "a-inner");
    assert_eq!(shows("mod inner; use inner::Inner; pub struct A;"), "a-inner");
    assert_eq!(shows("mod inner; fn f() { inner::g() } pub struct A;"), "a-inner");
    // A user of a facade imports the module that the facade re-exports, and the facade.
    let user = ("src/b.rs", "use crate::a::Inner; pub struct B;");
    let inner = ("src/a/inner.rs", "use crate::b::B; pub struct Inner;");
    let facade = ("src/a.rs", "mod inner; pub use inner::Inner;");
    assert_eq!(groups_of(&[ROOT, facade, user, c, inner]), "b-inner");
    let inner = ("src/a/inner.rs", "pub struct Inner;");
    let facade = ("src/a.rs", "mod inner; pub use inner::Inner; fn f(b: crate::b::B) {}");
    assert_eq!(groups_of(&[ROOT, facade, user, c, inner]), "a-b");
    // Within a folder, an item that the parent re-exports belongs to the file that defines it.
    let inner = ("src/a/inner.rs", "use super::Other; pub struct Inner(Other);");
    let other = ("src/a/other.rs", "pub struct Other;");
    let facade = ("src/a.rs", "mod inner; mod other; pub use other::Other; fn f() { inner::g() }");
    assert_eq!(groups_of(&[ROOT, facade, b, c, inner, other]), "");
}
