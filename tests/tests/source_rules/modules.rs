//! The modules of a crate, as far as imports show: the file of each, and the item that a path
//! names. `names` of a module are those that its `use` lines bind. A name that neither a `use` line
//! nor a child module binds counts as an item of the module itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::tokens::{RustToken, RustTokenKind, begins_item, closing, tokens, without_tests};

/// The texts of files by their paths below the workspace.
pub(crate) type FileTexts<'a> = BTreeMap<&'a Path, &'a str>;

/// One name that a `use` line imports.
#[derive(Debug)]
pub(crate) struct Import<'a> {
    pub(crate) path: Vec<&'a str>,
    /// Its local name; `None` for `use a::*` and `as _`.
    pub(crate) name: Option<&'a str>,
    /// It is re-exported: `pub use`.
    pub(crate) is_public: bool,
}

/// A module of a file, or the whole of a file.
pub(crate) struct Module<'a> {
    pub(crate) file: PathBuf,
    pub(crate) parent: Option<usize>,
    children: BTreeMap<&'a str, usize>,
    pub(crate) imports: Vec<Import<'a>>,
    names: BTreeMap<&'a str, usize>,
    /// Its code, without `use` lines and without modules inside it.
    pub(crate) code: Vec<RustToken<'a>>,
}

/// The modules that one root file leads to, starting with the root.
pub(crate) struct ModuleTree<'a> {
    pub(crate) modules: Vec<Module<'a>>,
}

/// The meaning of a path: a module, or an item in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PathTarget {
    Module(usize),
    ItemOf(usize),
}

impl PathTarget {
    pub(crate) fn module(self) -> usize {
        match self {
            Self::Module(module) | Self::ItemOf(module) => module,
        }
    }
}

impl<'a> ModuleTree<'a> {
    /// Reads the root file of a crate, and each file that it declares.
    pub(crate) fn read(root: &Path, texts: &FileTexts<'a>) -> Self {
        let mut tree = Self { modules: Vec::new() };
        tree.read_file(root, None, root.parent().unwrap(), texts);
        tree
    }

    fn read_file(
        &mut self,
        file: &Path,
        parent: Option<usize>,
        directory: &Path,
        texts: &FileTexts<'a>,
    ) -> usize {
        let text = texts.get(file).unwrap_or_else(|| panic!("{}: no such file", file.display()));
        let code = without_tests(&tokens(text));
        self.read_module(&code, file, parent, directory, texts)
    }

    fn read_module(
        &mut self,
        code: &[RustToken<'a>],
        file: &Path,
        parent: Option<usize>,
        directory: &Path,
        texts: &FileTexts<'a>,
    ) -> usize {
        let this = self.modules.len();
        self.modules.push(Module {
            file: file.to_owned(),
            parent,
            children: BTreeMap::new(),
            imports: Vec::new(),
            names: BTreeMap::new(),
            code: Vec::new(),
        });
        let mut at = 0;
        while at < code.len() {
            let next = |ahead: usize| code.get(at + ahead).is_some_and(|it| it.is_word());
            if code[at].is("mod") && next(1) && begins_item(code, at) {
                let name = code[at + 1].text;
                let below = directory.join(name);
                let (child, end) = if code.get(at + 2).is_some_and(|it| it.is("{")) {
                    let end = closing(code, at + 2);
                    let inside = &code[at + 3..end];
                    (self.read_module(inside, file, Some(this), &below, texts), end)
                } else {
                    let (file, below) = place(&code[..at], file, directory, name, texts);
                    (self.read_file(&file, Some(this), &below, texts), at + 2)
                };
                self.modules[this].children.insert(name, child);
                at = end + 1;
            } else if code[at].is("use") && !code.get(at + 1).is_some_and(|it| it.is("<")) {
                let end = (at..code.len()).find(|it| code[*it].is(";")).unwrap_or(code.len());
                let is_public = is_public(&code[..at]);
                let module = &mut self.modules[this];
                import(&code[at + 1..end], &mut Vec::new(), is_public, &mut module.imports);
                at = end + 1;
            } else {
                self.modules[this].code.push(code[at]);
                at += 1;
            }
        }
        let module = &mut self.modules[this];
        let named = module.imports.iter().enumerate();
        module.names = named.filter_map(|(at, import)| Some((import.name?, at))).collect();
        this
    }

    /// Resolves a path that is used in a module. Also returns the modules that only re-export the
    /// item. Returns `None` if the path leads out of the crate.
    pub(crate) fn resolve(&self, module: usize, path: &[&str]) -> Option<(PathTarget, Vec<usize>)> {
        let mut passed = Vec::new();
        let target = self.resolve_within(module, path, &mut passed, 16)?;
        Some((target, passed))
    }

    fn resolve_within(
        &self,
        module: usize,
        path: &[&str],
        passed: &mut Vec<usize>,
        steps: usize,
    ) -> Option<PathTarget> {
        let steps = steps.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        let mut target = match *first {
            "crate" => PathTarget::Module(0),
            "self" => PathTarget::Module(module),
            "super" => PathTarget::Module(self.modules[module].parent?),
            name => self.lookup(module, name, passed, steps)?,
        };
        for name in rest {
            let PathTarget::Module(inside) = target else { break };
            target = match *name {
                "self" => target,
                "super" => PathTarget::Module(self.modules[inside].parent?),
                name => {
                    self.lookup(inside, name, passed, steps).unwrap_or(PathTarget::ItemOf(inside))
                }
            };
        }
        Some(target)
    }

    /// Looks up a name in a module: a declared module, or a `use` line.
    fn lookup(
        &self,
        module: usize,
        name: &str,
        passed: &mut Vec<usize>,
        steps: usize,
    ) -> Option<PathTarget> {
        let found = &self.modules[module];
        if let Some(child) = found.children.get(name) {
            return Some(PathTarget::Module(*child));
        }
        let import = &found.imports[*found.names.get(name)?];
        // `use name::…;` refers to a crate of that name, otherwise it would refer to itself.
        if import.path[0] == name && import.path.len() == 1 {
            return None;
        }
        let target = self.resolve_within(module, &import.path, passed, steps)?;
        passed.push(module);
        Some(target)
    }

    /// Returns whether a module is inside another, at any depth.
    pub(crate) fn is_below(&self, module: usize, above: usize) -> bool {
        let mut next = self.modules[module].parent;
        while let Some(parent) = next {
            if parent == above {
                return true;
            }
            next = self.modules[parent].parent;
        }
        false
    }
}

/// Returns the file of a declared module, and the directory of its child modules.
fn place(
    before: &[RustToken<'_>],
    file: &Path,
    directory: &Path,
    name: &str,
    texts: &FileTexts<'_>,
) -> (PathBuf, PathBuf) {
    if let [.., path, equals, text, close] = before
        && path.is("path")
        && equals.is("=")
        && close.is("]")
    {
        let file = file.parent().unwrap().join(text.text.trim_matches('"'));
        let directory = file.parent().unwrap().to_owned();
        return (file, directory);
    }
    let below = directory.join(name);
    let beside = below.with_extension("rs");
    let file = if texts.contains_key(beside.as_path()) { beside } else { below.join("mod.rs") };
    (file, below)
}

/// Returns whether the tokens end with `pub`, with or without a restriction.
fn is_public(before: &[RustToken<'_>]) -> bool {
    match before {
        [.., last] if last.is("pub") => true,
        [.., last] if last.is(")") => {
            let open = before.iter().rposition(|it| it.is("("));
            open.and_then(|at| at.checked_sub(1)).is_some_and(|at| before[at].is("pub"))
        }
        _ => false,
    }
}

/// Adds the names of a `use` tree below a prefix.
fn import<'a>(
    tree: &[RustToken<'a>],
    prefix: &mut Vec<&'a str>,
    is_public: bool,
    found: &mut Vec<Import<'a>>,
) {
    let depth = prefix.len();
    let mut at = 0;
    while at < tree.len() {
        let token = tree[at];
        if token.is("{") {
            let end = closing(tree, at);
            for branch in branches(&tree[at + 1..end]) {
                import(branch, prefix, is_public, found);
            }
            prefix.truncate(depth);
            return;
        }
        if token.is("as") {
            break;
        }
        // A path that begins with `::` is in another crate: its first part is empty.
        if token.is("::") && at == 0 {
            prefix.push("");
        } else if token.is_word() || token.is("*") {
            prefix.push(token.text);
        }
        at += 1;
    }
    let alias = tree.get(at + 1).map(|it| it.text);
    let is_itself = prefix.last() == Some(&"self") && prefix.len() > 1;
    let mut path = prefix.clone();
    if is_itself || path.last() == Some(&"*") {
        path.pop();
    }
    let is_glob = prefix.last() == Some(&"*");
    let name = alias.or_else(|| path.last().copied()).filter(|name| !is_glob && *name != "_");
    found.push(Import { path, name, is_public });
    prefix.truncate(depth);
}

/// Splits at commas outside of braces.
fn branches<'t, 'a>(tree: &'t [RustToken<'a>]) -> Vec<&'t [RustToken<'a>]> {
    let (mut found, mut from, mut at) = (Vec::new(), 0, 0);
    while at < tree.len() {
        if tree[at].is("{") {
            at = closing(tree, at);
        } else if tree[at].is(",") {
            found.push(&tree[from..at]);
            from = at + 1;
        }
        at += 1;
    }
    if from < tree.len() {
        found.push(&tree[from..]);
    }
    found
}

/// Returns each path of two or more parts in code: `a::b`, `crate::a::b`. The path of a visibility,
/// `pub(in crate::a)`, uses nothing of the module that it names.
pub(crate) fn paths<'a>(code: &[RustToken<'a>]) -> Vec<Vec<&'a str>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < code.len() {
        let begins = code[at].kind == RustTokenKind::Word
            && code.get(at + 1).is_some_and(|it| it.is("::"))
            && (at == 0 || !(code[at - 1].is("::") || code[at - 1].is(".")))
            && !is_visibility(&code[..at]);
        if !begins {
            at += 1;
            continue;
        }
        let mut path = vec![code[at].text];
        while code.get(at + 1).is_some_and(|it| it.is("::"))
            && code.get(at + 2).is_some_and(|it| it.is_word())
        {
            path.push(code[at + 2].text);
            at += 2;
        }
        if path.len() > 1 {
            found.push(path);
        }
        at += 1;
    }
    found
}

/// Returns whether the tokens end with `pub(in`.
fn is_visibility(before: &[RustToken<'_>]) -> bool {
    matches!(before, [.., public, open, within]
        if public.is("pub") && open.is("(") && within.is("in"))
}

#[test]
fn imports_are_read_with_their_names() {
    let text = "use a::{b, c as d, e::{self, f}, g::*};\npub(super) use super::h::I;\nuse ::j::k;
        fn x() { use l::m as _; }";
    let texts = FileTexts::from([(Path::new("src/lib.rs"), text)]);
    let tree = ModuleTree::read(Path::new("src/lib.rs"), &texts);
    let found: Vec<_> = tree.modules[0]
        .imports
        .iter()
        .map(|it| (it.path.join("::"), it.name.unwrap_or("*"), it.is_public))
        .collect();
    let wanted = [
        ("a::b", "b", false),
        ("a::c", "d", false),
        ("a::e", "e", false),
        ("a::e::f", "f", false),
        ("a::g", "*", false),
        ("super::h::I", "I", true),
        ("::j::k", "k", false),
        ("l::m", "*", false),
    ];
    let wanted = wanted.map(|(path, name, is_public)| (path.to_owned(), name, is_public));
    assert_eq!(found, wanted);
}

#[test]
fn paths_lead_to_the_file_that_defines() {
    let texts = FileTexts::from([
        (Path::new("src/lib.rs"), "mod a; mod b; pub use a::Made;\n#[path = \"d.rs\"] mod c;"),
        (Path::new("src/a.rs"), "mod inner; pub use inner::{Made, Other as Renamed};"),
        (Path::new("src/a/inner.rs"), "pub struct Made; pub struct Other;"),
        (Path::new("src/b/mod.rs"), "use crate::a; mod deep { use super::super::c as see; }"),
        (Path::new("src/d.rs"), ""),
    ]);
    let tree = ModuleTree::read(Path::new("src/lib.rs"), &texts);
    let file = |module: usize| tree.modules[module].file.to_str().unwrap();
    let b = tree.modules.iter().position(|it| it.file.ends_with("b/mod.rs")).unwrap();
    let deep = tree.modules[b].children["deep"];
    let leads = |module: usize, path: &[&str]| {
        tree.resolve(module, path).map(|(target, _)| file(target.module()))
    };
    assert_eq!(leads(b, &["crate", "Made"]), Some("src/a/inner.rs"));
    assert_eq!(leads(b, &["a", "Renamed", "new"]), Some("src/a/inner.rs"));
    assert_eq!(leads(b, &["a", "function"]), Some("src/a.rs"));
    assert_eq!(leads(deep, &["see", "x"]), Some("src/d.rs"));
    assert_eq!(leads(deep, &["super", "a"]), Some("src/a.rs"));
    assert_eq!(leads(b, &["serde", "Serialize"]), None);
    assert_eq!(leads(0, &["b"]), Some("src/b/mod.rs"));
    let (_, passed) = tree.resolve(b, &["crate", "Made"]).unwrap();
    assert_eq!(passed.into_iter().map(file).collect::<Vec<_>>(), ["src/a.rs", "src/lib.rs"]);
}
