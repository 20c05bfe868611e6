//! What would let a program change without a question: over every form, either the change of what it runs is noticed, or the person was
//! told that it is not known whole.

use super::*;
use serde_json::{Value, json};

/// A server's entry, the files of its project, and the one of them that it runs. `->` makes a link.
struct Form {
    line: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    files: &'static [(&'static str, &'static str)],
    runs: &'static str,
}

const fn form(
    line: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
    runs: &'static str,
) -> Form {
    Form { line, env: &[], files, runs }
}

const fn with(
    env: &'static [(&'static str, &'static str)],
    line: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
    runs: &'static str,
) -> Form {
    Form { line, env, files, runs }
}

/// Forms in which the change is noticed.
const NOTICED: &[Form] = &[
    form(&["python3", "-um", "srv"], &[("srv.py", "")], "srv.py"),
    form(&["python3", "-umsrv"], &[("srv.py", "")], "srv.py"),
    form(&["python3", "-B", "-Im", "srv"], &[("srv.py", "")], "srv.py"),
    form(&["python3", "@ROOT@/srv.py"], &[("srv.py", "")], "srv.py"),
    form(&["python3", "my srv.py"], &[("my srv.py", "")], "my srv.py"),
    form(&["python3", "."], &[("__main__.py", "")], "__main__.py"),
    form(&["python3", "-m", "srv"], &[("srv.py", ""), ("srv.abi3.so", "")], "srv.abi3.so"),
    form(&["python3", "-c", "import srv"], &[("srv.py", "")], "srv.py"),
    form(&["python3", "${NOPE:-srv.py}"], &[("srv.py", "")], "srv.py"),
    form(&["python3", "${PWD}/srv.py"], &[("srv.py", "")], "srv.py"),
    form(
        &["python3", "-m", "pkg"],
        &[("pkg/__init__.py", ""), ("real/x.py", ""), ("pkg/impl", "->../real")],
        "real/x.py",
    ),
    with(&[("PYTHONPATH", "lib")], &["python3", "-m", "srv"], &[("lib/srv.py", "")], "lib/srv.py"),
    with(&[("PYTHONPATH", "my lib")], &["python3", "-m", "srv"], &[("my lib/srv.py", "")], "my lib/srv.py"),
    with(
        &[("PYTHONPATH", "a:b:c:d:lib")],
        &["python3", "-m", "srv"],
        &[("a/x", ""), ("b/x", ""), ("c/x", ""), ("d/x", ""), ("lib/srv.py", "")],
        "lib/srv.py",
    ),
    form(&["node", "server"], &[("server.ts", ""), ("server/index.js", "")], "server/index.js"),
    form(
        &["node", "server"],
        &[("server.mjs", ""), ("server/package.json", r#"{"main": "m.js"}"#), ("server/m.js", "")],
        "server/m.js",
    ),
    form(&["node", "server/"], &[("server.js", ""), ("server/index.js", "")], "server.js"),
    form(&["node", "my app"], &[("my app/index.js", "")], "my app/index.js"),
    with(
        &[("NODE_OPTIONS", "--require ./pre.js")],
        &["node", "a.js"],
        &[("a.js", ""), ("pre.js", "")],
        "pre.js",
    ),
    with(
        &[("NODE_OPTIONS", "--require ./pre")],
        &["node", "a.js"],
        &[("a.js", ""), ("pre.js", "")],
        "pre.js",
    ),
    with(&[("BASH_ENV", "./x.sh")], &["bash", "-c", "true"], &[("x.sh", "")], "x.sh"),
    with(&[("PATH", "bin:/usr/bin")], &["srv"], &[("bin/srv", "")], "bin/srv"),
    form(&["npm", "start"], &[("package.json", r#"{"name": "x"}"#), ("server.js", "")], "server.js"),
    form(&["npm", "t"], &[("package.json", r#"{"scripts": {"test": "node a.js"}}"#), ("a.js", "")], "a.js"),
    form(
        &["npm", "restart"],
        &[("package.json", r#"{"scripts": {"start": "node a.js"}}"#), ("a.js", "")],
        "a.js",
    ),
    form(
        &["npm", "start"],
        &[("package.json", r#"{"scripts": {"start": "cd server && node x.js"}}"#), ("server/x.js", "")],
        "server/x.js",
    ),
    form(
        &["npm", "start"],
        &[("package.json", r#"{"scripts": {"start": "PYTHONPATH=lib python -m srv"}}"#), ("lib/srv.py", "")],
        "lib/srv.py",
    ),
    form(
        &["pnpm", "-C", "a", "start"],
        &[("a/package.json", r#"{"scripts": {"start": "node x.js"}}"#), ("a/x.js", "")],
        "a/x.js",
    ),
    form(&["npx", "."], &[("package.json", r#"{"name": "x", "bin": "cli.js"}"#), ("cli.js", "")], "cli.js"),
    form(
        &["npx", "x"],
        &[("package.json", r#"{"name": "x", "bin": {"x": "cli.js"}}"#), ("cli.js", "")],
        "cli.js",
    ),
    form(&["npx", "tsx", "src/index"], &[("package.json", "{}"), ("src/index.ts", "")], "src/index.ts"),
    form(&["npx", "tsx", "src/index.js"], &[("package.json", "{}"), ("src/index.ts", "")], "src/index.ts"),
    form(&["bun", "index"], &[("index.tsx", "")], "index.tsx"),
    form(&["bun", "."], &[("package.json", r#"{"module": "m.ts"}"#), ("m.ts", "")], "m.ts"),
    form(
        &["deno", "task", "start"],
        &[("deno.json", r#"{"tasks": {"start": "deno run main.ts"}}"#), ("main.ts", "")],
        "main.ts",
    ),
    form(
        &["pdm", "run", "start"],
        &[("pyproject.toml", "[tool.pdm.scripts]\nstart = 'python srv.py'\n"), ("srv.py", "")],
        "srv.py",
    ),
    form(
        &["pdm", "run", "start"],
        &[("pyproject.toml", "[tool.pdm.scripts]\nstart = {cmd = 'python srv.py'}\n"), ("srv.py", "")],
        "srv.py",
    ),
    form(
        &["hatch", "run", "start"],
        &[("pyproject.toml", "[tool.hatch.envs.default.scripts]\nstart = 'python srv.py'\n"), ("srv.py", "")],
        "srv.py",
    ),
    form(
        &["uv", "run", "start"],
        &[("pyproject.toml", "[project.gui-scripts]\nstart = 'srv:main'\n"), ("srv.py", "")],
        "srv.py",
    ),
    form(
        &["uv", "run", "start"],
        &[("pyproject.toml", "[project.scripts]\nstart = 'srv:main'\n"), ("python/srv.py", "")],
        "python/srv.py",
    ),
    form(&["uv", "run", "-m", "srv"], &[("pyproject.toml", ""), ("srv.py", "")], "srv.py"),
    form(&["uv", "run", "--module", "srv"], &[("pyproject.toml", ""), ("srv.py", "")], "srv.py"),
    form(
        &["uv", "--directory", "a", "run", "srv.py"],
        &[("a/pyproject.toml", ""), ("a/srv.py", "")],
        "a/srv.py",
    ),
    form(
        &["uv", "--directory", "a", "run", "start"],
        &[("a/pyproject.toml", "[project.scripts]\nstart = 'srv:main'\n"), ("a/srv.py", "")],
        "a/srv.py",
    ),
    form(&["sh", "-c", "cd a && cd b && python3 srv.py"], &[("a/b/srv.py", "")], "a/b/srv.py"),
    form(&["sh", "-c", "cd a && python3 srv.py"], &[("a/srv.py", "")], "a/srv.py"),
    form(&["sh", "-c", "cd a && ./srv.sh"], &[("a/srv.sh", "")], "a/srv.sh"),
    form(&["env", "-C", "a", "./srv.sh"], &[("a/srv.sh", "")], "a/srv.sh"),
    form(&["env", "--chdir=a", "python3", "srv.py"], &[("a/srv.py", "")], "a/srv.py"),
    form(&["go", "run", "."], &[("go.mod", "module x"), ("main.go", "")], "main.go"),
    form(&["cargo", "run"], &[("Cargo.toml", ""), ("src/main.rs", "")], "src/main.rs"),
    form(&["./srv.sh", "x"], &[("srv.sh", "")], "srv.sh"),
    form(&["bash", "bin/srv"], &[("bin/srv", "")], "bin/srv"),
];

/// Forms in which it is not, while other files of theirs are compared.
const UNNOTICED: &[Form] = &[
    form(
        &["npm", "start", "-w", "foo"],
        &[
            ("package.json", r#"{"workspaces": ["packages/*"]}"#),
            ("packages/foo/package.json", r#"{"name": "foo", "scripts": {"start": "node x.js"}}"#),
            ("packages/foo/x.js", ""),
        ],
        "packages/foo/x.js",
    ),
    form(&["make", "serve"], &[("Makefile", "serve:\n\tpython srv.py"), ("srv.py", "")], "srv.py"),
    form(&["sh", "-c", "python3 s*.py"], &[("s", ""), ("srv.py", "")], "srv.py"),
    form(&["python3", "-Wd::srv.X", "a.py"], &[("a.py", ""), ("lib/srv.py", "")], "lib/srv.py"),
    form(&["python3", "-Xpresite=q", "a.py"], &[("a.py", ""), ("lib/q.py", "")], "lib/q.py"),
    form(&["python3", "-m", "ns"], &[("ns/x.py", ""), ("lib/ns/__main__.py", "")], "lib/ns/__main__.py"),
    form(&["python3", "-"], &[("-", ""), ("srv.py", "")], "srv.py"),
    form(&["python-config", "a.py"], &[("a.py", ""), ("srv.py", "")], "srv.py"),
    form(&["nodemon", "a.js"], &[("a.js", ""), ("b.js", "")], "b.js"),
    form(&["node", "inspect", "../b"], &[("inspect.js", ""), ("b.js", "")], "b.js"),
    form(&["node", "--run", "x"], &[("x.js", ""), ("b.js", "")], "b.js"),
    form(&["node", "x"], &[("x.js", "->/etc/hostname"), ("x/index.js", ""), ("b.js", "")], "b.js"),
    form(&["node_modules/.bin/run", "a"], &[("node_modules/.bin/run", ""), ("b.js", "")], "b.js"),
    form(&["bin/python", "a.py"], &[("bin/python", ""), ("a.py", ""), ("b.py", "")], "b.py"),
    form(&["/opt/odd/python", "a.py"], &[("a.py", ""), ("b.py", "")], "b.py"),
    form(&["bash", "--rcfile", "a.sh"], &[("a.sh", ""), ("b.sh", "")], "b.sh"),
    form(&["srv"], &[("srv", ""), ("b.sh", "")], "b.sh"),
    with(&[("LD_PRELOAD", "$ORIGIN/b.so")], &["./a"], &[("a", ""), ("lib/b.so", "")], "lib/b.so"),
];

/// Command lines that are understood to their end, in the project of the first test.
const EXACT: &[&[&str]] = &[
    &["python", "srv.py", "--root", "docs"],
    &["/usr/bin/python3.12", "-u", "srv.py"],
    &["python3", "-um", "pkg.deep.tool"],
    &["python3", "pkg"],
    &["node", "--no-warnings", "app/run"],
    &["node", "server"],
    &["node", "."],
    &["bash", "make.sh"],
    &["./make.sh", "x"],
];

struct Seen {
    noticed: bool,
    words: String,
}

fn see(form: &Form) -> Seen {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("work");
    std::fs::create_dir(&root).unwrap();
    for (name, text) in form.files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        match text.strip_prefix("->") {
            Some(target) => std::os::unix::fs::symlink(target, path).unwrap(),
            None => std::fs::write(path, text).unwrap(),
        }
    }
    let line: Vec<String> =
        form.line.iter().map(|word| word.replace("@ROOT@", &root.display().to_string())).collect();
    let env: serde_json::Map<String, Value> =
        form.env.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    let servers = json!({"mcpServers": {"s": {"command": line[0], "args": line[1..], "env": env}}});
    std::fs::write(root.join(".mcp.json"), servers.to_string()).unwrap();
    let look = || {
        let listed =
            crate::mcp::book::servers_in(&crate::config::Config::default(), dir.path(), Some(&root), &[])
                .0
                .remove(0);
        (listed.entry.digest, listed.compared.unwrap())
    };
    let (before, words) = look();
    std::fs::write(root.join(form.runs), "changed").unwrap();
    Seen { noticed: look().0 != before, words }
}

fn reassures(words: &str) -> bool {
    !words.contains("is not known whole") && !words.contains("is not among the files")
}

#[test]
fn no_form_reassures_and_fails_to_notice_a_change() {
    for form in NOTICED {
        let Seen { noticed, words } = see(form);
        assert!(noticed, "{:?} {:?}: {words}", form.line, form.env);
    }
    for form in UNNOTICED {
        let Seen { noticed, words } = see(form);
        assert!(noticed || !reassures(&words), "{:?} {:?}: {words}", form.line, form.env);
    }
}

#[test]
fn what_is_understood_is_told_as_all_that_is_compared() {
    let (_dir, root) = tests::project();
    for line in EXACT {
        let words = Program::of(&root, &root, line, &BTreeMap::new()).words(&root);
        assert!(reassures(&words), "{line:?}: {words}");
    }
}
