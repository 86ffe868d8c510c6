//! `script`: arguments, `/in` and `/out`, and everything outside them.

use std::os::unix::fs::symlink;

use crate::support::MontyBench;

#[test]
fn arguments_are_in_argv() {
    let bench = MontyBench::new();
    let file = bench.write("script.py", "print(argv[1:], len(argv))");
    let output = bench.script(&file, &["--time-ms", "-x", "", "é"]);
    let expected = "['--time-ms', '-x', '', 'é'] 5\n";
    assert_eq!((output.status, output.out.as_str()), (0, expected), "{output:?}");
    let output = bench.script_text("import sys\nprint(sys.argv)");
    assert!(output.status == 1 && output.err.contains("AttributeError"), "{output:?}");
}

#[test]
fn in_is_read_and_out_is_written() {
    let bench = MontyBench::new();
    bench.write("in/numbers.txt", "1\n2\n39\n");
    let output = bench.script_text(
        "from pathlib import Path\n\
         with open('/in/numbers.txt') as file:\n    lines = file.readlines()\n\
         total = sum(int(line) for line in lines)\n\
         Path('/out/sub').mkdir()\n\
         Path('/out/sub/total.txt').write_text(str(total))\n\
         with open('/out/log.txt', 'a') as file:\n    file.write('one')\n    file.write('two')\n\
         print(sorted(str(path) for path in Path('/out').iterdir()))\n",
    );
    let expected = "['/out/log.txt', '/out/sub']\n";
    assert_eq!((output.status, output.out.as_str()), (0, expected), "{output:?}");
    assert_eq!(bench.read("out/sub/total.txt"), "42");
    assert_eq!(bench.read("out/log.txt"), "onetwo");
}

#[test]
fn in_cannot_be_changed() {
    let bench = MontyBench::new();
    bench.write("in/a.txt", "kept");
    for code in [
        "open('/in/a.txt', 'w')",
        "open('/in/a.txt', 'a').write('x')",
        "open('/in/new.txt', 'w')",
        "from pathlib import Path\nPath('/in/a.txt').unlink()",
        "import os\nos.rename('/in/a.txt', '/in/b.txt')",
        "import os\nos.rename('/in/a.txt', '/out/a.txt')",
        "import os\nos.mkdir('/in/sub')",
    ] {
        let output = bench.script_text(code);
        assert!(output.status == 1 && output.err.contains("Error: "), "{code}: {output:?}");
    }
    assert_eq!(bench.read("in/a.txt"), "kept");
    assert_eq!(std::fs::read_dir(bench.path("in")).unwrap().count(), 1);
    assert_eq!(std::fs::read_dir(bench.path("out")).unwrap().count(), 0);
}

#[test]
fn no_path_leads_out() {
    let bench = MontyBench::new();
    bench.write("secret.txt", "secret");
    symlink(bench.path("secret.txt"), bench.path("in/absolute")).unwrap();
    symlink("../secret.txt", bench.path("in/relative")).unwrap();
    symlink("..", bench.path("out/above")).unwrap();
    for path in [
        "/in/../secret.txt",
        "/in/../../etc/passwd",
        "/in/absolute",
        "/in/relative",
        "/out/above/secret.txt",
        "/etc/passwd",
        "/proc/self/environ",
        "../secret.txt",
        "secret.txt",
        "/in/\\x00",
    ] {
        let output = bench.script_text(&format!("print(open('{path}').read())"));
        assert!(output.status == 1 && output.out.is_empty(), "{path}: {output:?}");
        assert!(output.err.contains("Error: "), "{path}: {output:?}");
    }
    let output = bench.script_text("open('/out/above/written.txt', 'w').write('x')");
    assert_eq!(output.status, 1, "{output:?}");
    assert!(!bench.path("written.txt").exists());
    let output = bench.script_text("from pathlib import Path\nprint(Path('/etc').exists())");
    assert!(!output.out.contains("True"), "{output:?}");
}

#[test]
fn a_missing_directory_is_refused() {
    let bench = MontyBench::new();
    std::fs::remove_dir(bench.path("out")).unwrap();
    let output = bench.script_text("print('ran')");
    assert_eq!((output.status, output.out.as_str()), (2, ""), "{output:?}");
    assert!(output.err.starts_with("toolexec-monty: /out: "), "{output:?}");
}

#[test]
fn a_missing_script_is_refused() {
    let bench = MontyBench::new();
    let output = bench.script(&bench.path("missing.py"), &[]);
    assert!(output.status == 2 && output.err.contains("missing.py"), "{output:?}");
}
