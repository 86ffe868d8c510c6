//! The recipes of CONTRIBUTING.md: each patch applies here, and changes the files that it lists.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use toolexec_tests::{list, skip, workspace};

/// The directory of the patches, below the workspace.
const PATCHES: &str = "tests/recipes";

/// Returns the paths of all patches, below the workspace.
fn patches() -> Vec<String> {
    let names = list(&workspace().join(PATCHES)).into_iter();
    let patches: Vec<_> = names.map(|name| format!("{PATCHES}/{name}")).collect();
    assert!(patches.len() > 2, "{patches:?}: the search is broken");
    patches
}

/// Returns the files that a patch changes or adds.
fn changed(patch: &str) -> BTreeSet<&str> {
    let headers = patch.lines().filter_map(|line| line.strip_prefix("diff --git a/"));
    headers.map(|header| header.split_once(" b/").unwrap().1).collect()
}

/// Returns the section of the page about a patch.
fn recipe_of<'a>(page: &'a str, patch: &str) -> Option<&'a str> {
    let section = page.split("\n## ").find(|section| section.starts_with("Recipes\n"))?;
    section.split("\n### ").skip(1).find(|recipe| recipe.contains(&format!("`{patch}`")))
}

/// Returns the files that a recipe lists: each path in backquotes in its numbered lines.
fn listed(recipe: &str) -> BTreeSet<&str> {
    let (mut files, mut numbered) = (BTreeSet::new(), false);
    for line in recipe.lines() {
        numbered =
            line.starts_with(|c: char| c.is_ascii_digit()) || (numbered && line.starts_with(' '));
        let quoted = line.split('`').skip(1).step_by(2).filter(|_| numbered);
        files.extend(quoted.filter(|it| it.contains('/') && !it.contains(' ')));
    }
    files
}

/// Asks git whether a patch applies. In a copy of the tree inside another repository, git must not
/// find that one: it would skip every file.
fn apply_check(patch: &str) -> std::io::Result<Result<(), String>> {
    let mut git = Command::new("git");
    git.args(["apply", "--check", "-C1", patch]).current_dir(workspace());
    git.env("GIT_CEILING_DIRECTORIES", workspace().parent().unwrap());
    let answer = git.output()?;
    let error = String::from_utf8_lossy(&answer.stderr).into_owned();
    Ok(if answer.status.success() { Ok(()) } else { Err(error) })
}

/// Returns the advice for a patch that no longer applies.
fn remedy(patch: &str) -> String {
    format!(
        "help: on a clean tree, run `git apply --3way {patch}`, resolve the conflicts, run `git add -A`, \
         `git diff --cached -U1 >target/patch`, `git reset --hard` and `mv target/patch {patch}`"
    )
}

#[test]
fn each_recipe_applies() {
    for patch in patches() {
        match apply_check(&patch) {
            Err(error) => return skip("each_recipe_applies", &format!("git: {error}")),
            Ok(Err(error)) => panic!("{patch} does not apply\n{error}{}", remedy(&patch)),
            Ok(Ok(())) => {}
        }
    }
}

#[test]
fn each_recipe_lists_the_files_of_its_patch() {
    let page = fs::read_to_string(workspace().join("CONTRIBUTING.md")).unwrap();
    for patch in patches() {
        let text = fs::read_to_string(workspace().join(&patch)).unwrap();
        let recipe = recipe_of(&page, &patch);
        let recipe = recipe.unwrap_or_else(|| {
            panic!(
                "no recipe of CONTRIBUTING.md names `{patch}`\nhelp: add one, or remove the patch"
            )
        });
        let (listed, changed) = (listed(recipe), changed(&text));
        let more: Vec<_> = listed.difference(&changed).collect();
        let fewer: Vec<_> = changed.difference(&listed).collect();
        assert!(
            more.is_empty() && fewer.is_empty(),
            "{patch} and its recipe in CONTRIBUTING.md differ\nlisted, not changed: {more:?}\n\
             changed, not listed: {fewer:?}\nhelp: correct the list, or the patch"
        );
    }
}

#[test]
fn each_recipe_has_a_patch() {
    let page = fs::read_to_string(workspace().join("CONTRIBUTING.md")).unwrap();
    let section = page.split("\n## ").find(|section| section.starts_with("Recipes\n")).unwrap();
    let patches = patches();
    for recipe in section.split("\n### ").skip(1) {
        let named = patches.iter().filter(|patch| recipe.contains(&format!("`{patch}`"))).count();
        assert_eq!(named, 1, "{} patches of: {recipe}", named);
    }
}
