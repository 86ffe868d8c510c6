//! Checks whether an AppArmor profile of this host grants user namespaces to the launcher. It reads
//! the administrator's profiles with a size limit, and loads nothing.

use std::fs;
use std::path::Path;

use crate::args::files::read_document;

/// Larger than any profile of a distribution.
const PROFILE_BYTES_MAX: usize = 256 * 1024;
/// Suffixes that AppArmor ignores: files that packagers and editors leave beside a profile.
const LEFTOVERS: [&str; 14] = [
    "~",
    ".bak",
    ".disabled",
    ".dpkg-bak",
    ".dpkg-dist",
    ".dpkg-new",
    ".dpkg-old",
    ".dpkg-remove",
    ".orig",
    ".pacnew",
    ".pacsave",
    ".rej",
    ".rpmnew",
    ".rpmsave",
];

/// Returns whether a profile that is loaded at boot grants this program user namespaces.
pub(super) fn grants_userns(profiles: &Path, program: &Path) -> bool {
    let names = fs::read_dir(profiles).into_iter().flatten().flatten().map(|it| it.file_name());
    names.filter_map(|name| name.into_string().ok()).any(|name| {
        let disabled = profiles.join("disable").join(&name);
        is_profile(&name)
            && disabled.symlink_metadata().is_err()
            && read_document(&profiles.join(&name), PROFILE_BYTES_MAX)
                .is_ok_and(|text| text_grants_userns(&String::from_utf8_lossy(&text), program))
    })
}

fn is_profile(name: &str) -> bool {
    !name.starts_with('.') && !LEFTOVERS.iter().any(|leftover| name.ends_with(leftover))
}

/// Finds a `userns` rule in a profile of the program. An unusual layout counts as not granted.
fn text_grants_userns(text: &str, program: &Path) -> bool {
    let names_it = |word: &str| Path::new(word.trim_matches('"')) == program;
    // For each open block: whether it is the profile of the program.
    let mut blocks: Vec<bool> = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> =
            line.split_whitespace().take_while(|word| !word.starts_with('#')).collect();
        let (mut header_names_it, mut denied) = (false, false);
        for word in words {
            match word {
                "{" => blocks.push(std::mem::take(&mut header_names_it)),
                "}" => drop(blocks.pop()),
                "deny" => denied = true,
                "userns" | "userns," if !denied && blocks.last() == Some(&true) => return true,
                _ => header_names_it |= names_it(word),
            }
            denied &= !word.ends_with(',');
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const PACKAGED: &str = include_str!("../../../../../../../packaging/apparmor");
    const LAUNCHER: &str = "/usr/libexec/toolexec/toolexec-launch";

    #[test]
    fn packaged_profile_grants_only_the_programs_it_names() {
        for (what, text, program, grants_it) in [
            ("the packaged one", PACKAGED, LAUNCHER, true),
            ("toolexec itself", PACKAGED, "/usr/bin/toolexec", true),
            ("another launcher", PACKAGED, "/opt/toolexec-launch", false),
            ("a part of its name", PACKAGED, "/usr/libexec/toolexec/toolexec", false),
            (
                "by its path alone",
                "/l flags=(attach_disconnected, unconfined) {\n userns,\n}\n",
                "/l",
                true,
            ),
            ("in one line", "profile l \"/l\" { allow userns create, }", "/l", true),
            ("without the rule", "profile l /l {\n  capability,\n}\n", "/l", false),
            ("commented out", "profile l /l {\n  # userns,\n}\n", "/l", false),
            ("a profile commented out", "#profile l /l {\n  userns,\n}\n", "/l", false),
            ("denied", "profile l /l {\n  audit deny userns,\n}\n", "/l", false),
            (
                "of a profile within",
                "profile l /l {\n  profile c /c {\n    userns,\n  }\n}\n",
                "/l",
                false,
            ),
            ("of the next", "profile l /l {\n}\nprofile m /m {\n  userns,\n}\n", "/l", false),
            ("named in a rule of another", "profile m /m {\n  /l ix,\n  userns,\n}\n", "/l", false),
            ("more ends than beginnings", "}\nuserns,\n", "/l", false),
        ] {
            assert_eq!(text_grants_userns(text, Path::new(program)), grants_it, "{what}");
        }
    }

    #[test]
    fn files_that_apparmor_ignores_do_not_count() {
        for (name, counts) in [
            ("toolexec", true),
            ("usr.libexec.toolexec", true),
            ("toolexec.dpkg-new", false),
            ("toolexec.dpkg-old", false),
            ("toolexec.rpmsave", false),
            ("toolexec~", false),
            (".toolexec.swp", false),
        ] {
            assert_eq!(is_profile(name), counts, "{name}");
        }
    }

    fn write(place: &Path) {
        let mut file = fs::File::create(place).expect("made");
        file.write_all(PACKAGED.as_bytes()).expect("written");
    }

    #[test]
    fn the_files_of_a_host_are_read_and_a_disabled_one_does_not_count() {
        let profiles =
            std::env::temp_dir().join(format!("toolexec-apparmor-{}", std::process::id()));
        let granted = |name: &str| {
            let place = profiles.join(name);
            fs::create_dir_all(place.parent().expect("it is in a directory")).expect("made");
            write(&place);
            let granted = grants_userns(&profiles, Path::new(LAUNCHER));
            fs::remove_file(&place).expect("removed");
            granted
        };
        let found =
            ["toolexec", "usr.libexec", "toolexec.dpkg-new", "disable/toolexec"].map(granted);
        // A file in `disable/` prevents the profile of that name from being loaded.
        write(&profiles.join("toolexec"));
        let alone = grants_userns(&profiles, Path::new(LAUNCHER));
        std::os::unix::fs::symlink("../toolexec", profiles.join("disable/toolexec"))
            .expect("linked");
        let disabled = grants_userns(&profiles, Path::new(LAUNCHER));
        fs::remove_dir_all(&profiles).expect("removed");
        assert_eq!(found, [true, true, false, false]);
        assert_eq!((alone, disabled), (true, false));
        assert!(!grants_userns(&profiles, Path::new(LAUNCHER)), "the directory is missing");
    }
}
