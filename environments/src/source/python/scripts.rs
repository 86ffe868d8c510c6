//! The scripts in `bin/`: installers write the host's path of the interpreter into their first
//! line. It is replaced by the path in the sandbox.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::source::document::overwrite;
use crate::source::error::SourceError;

/// Installers write short scripts; programs of a wheel may be large, and are left alone.
const SCRIPT_BYTES_MAX: u64 = 1 << 20;
/// The first lines of a script whose interpreter's path is too long for the kernel.
const SHELL_HEAD: &[u8] = b"#!/bin/sh\n'''exec' ";
const SHELL_LINES: usize = 3;

/// Gives each Python script in a directory this interpreter.
pub(super) fn replace_interpreters(bin: &Path, interpreter: &Path) -> Result<(), SourceError> {
    if !bin.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(bin).map_err(SourceError::io(bin))? {
        let path = entry.map_err(SourceError::io(bin))?.path();
        let about = fs::symlink_metadata(&path).map_err(SourceError::io(&path))?;
        if !about.is_file() || about.len() > SCRIPT_BYTES_MAX {
            continue;
        }
        let mut text = Vec::new();
        let read = File::open(&path).and_then(|mut file| file.read_to_end(&mut text));
        read.map_err(SourceError::io(&path))?;
        if let Some(changed) = with_interpreter(&text, interpreter) {
            overwrite(&path, &changed)?;
        }
    }
    Ok(())
}

/// Returns the script with this interpreter, if it is one of Python.
fn with_interpreter(script: &[u8], interpreter: &Path) -> Option<Vec<u8>> {
    let line_end = |text: &[u8]| text.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
    let lines = if script.starts_with(SHELL_HEAD) { SHELL_LINES } else { 1 };
    let mut rest = script;
    for _ in 0..lines {
        rest = rest.get(line_end(rest)?..)?;
    }
    let head = script.strip_suffix(rest)?;
    let is_python = head.starts_with(b"#!") && String::from_utf8_lossy(head).contains("python");
    is_python.then(|| [format!("#!{}\n", interpreter.display()).as_bytes(), rest].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(script: &str) -> Option<String> {
        let changed = with_interpreter(script.as_bytes(), Path::new("/usr/bin/python3"));
        changed.map(|it| String::from_utf8(it).unwrap())
    }

    #[test]
    fn scripts_of_python_get_the_interpreter_of_the_sandbox() {
        let expected = Some("#!/usr/bin/python3\nimport x\n".to_owned());
        assert_eq!(changed("#!/home/a/venv/bin/python\nimport x\n"), expected);
        assert_eq!(changed("#!/usr/bin/env python3\nimport x\n"), expected);
        let long = "#!/bin/sh\n'''exec' \"/long path/python3\" \"$0\" \"$@\"\n' '''\nimport x\n";
        assert_eq!(changed(long), expected);
    }

    #[test]
    fn other_programs_are_left_alone() {
        for other in ["#!/bin/sh\necho python\n", "\u{7f}ELF\npython\n", "#!/usr/bin/python3", ""] {
            assert_eq!(changed(other), None, "{other:?}");
        }
    }
}
