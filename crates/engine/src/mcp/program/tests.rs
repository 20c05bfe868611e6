//! Which files belong to a command line, form by form.

use super::*;
use std::collections::BTreeSet;

const FILES: &[(&str, &str)] = &[
    ("srv.py", ""),
    ("helper.py", ""),
    ("pkg/__init__.py", ""),
    ("pkg/__main__.py", ""),
    ("pkg/deep/tool.py", ""),
    ("pkg/__pycache__/x.pyc", ""),
    ("src/inner/__init__.py", ""),
    ("lib/other.py", ""),
    (
        "package.json",
        r#"{"main": "lib/main", "scripts": {"start": "node --no-warnings ./app/run.js", "prestart": "sh make.sh",
        "serve": "npm run start", "loop": "npm run loop", "mod": "cross-env A=1 python -m pkg"}}"#,
    ),
    ("lib/main.js", ""),
    ("index.js", ""),
    ("app/run.js", ""),
    ("make.sh", ""),
    ("server/package.json", r#"{"main": "dist", "scripts": {"start": "node begin.js"}}"#),
    ("server/dist/index.js", ""),
    ("server/begin.js", ""),
    ("server/node_modules/x/index.js", ""),
    ("node_modules/.bin/tool", ""),
    (
        "pyproject.toml",
        "[project.scripts]\nserve = 'inner.cli:main'\n[tool.poetry.scripts]\nold = 'pkg:main'\n",
    ),
    ("deno.json", ""),
    ("main.ts", ""),
    ("conf.json", ""),
    ("cmd/x/main.go", ""),
    ("go.mod", ""),
    ("Makefile", ""),
    ("docs/a.md", ""),
    ("rs/Cargo.toml", ""),
];

/// A command line, and what of the project belongs to it.
const FORMS: &[(&str, &[&str])] = &[
    // Python.
    ("python srv.py", &["srv.py"]),
    ("python3.12 -u srv.py --root docs", &["srv.py"]),
    ("python -m srv", &["srv.py"]),
    ("python -msrv", &["srv.py"]),
    ("python3 -X dev -m pkg.deep.tool", &["pkg/__init__.py", "pkg/__main__.py", "pkg/deep/tool.py"]),
    ("python3 -m inner", &["src/inner/__init__.py"]),
    ("python pkg", &["pkg/__init__.py", "pkg/__main__.py", "pkg/deep/tool.py"]),
    ("sh -c 'exec python3 -m srv'", &["srv.py"]),
    ("env PYTHONPATH=lib python -m other", &["lib/other.py"]),
    // Node and its like.
    ("node ./app/run", &["app/run.js"]),
    ("node .", &["package.json", "lib/main.js", "index.js"]),
    ("node server", &["server/package.json", "server/dist/index.js", "server/begin.js"]),
    ("node --import ./app/run.js . docs", &["app/run.js", "package.json", "lib/main.js", "index.js"]),
    ("tsx main", &["main.ts"]),
    ("deno run -A main.ts", &["main.ts", "package.json", "deno.json"]),
    ("bun run main.ts", &["main.ts", "package.json", "deno.json"]),
    // Scripts of packages.
    ("npm start", &["package.json", "app/run.js", "make.sh"]),
    ("npm run serve", &["package.json", "app/run.js", "make.sh"]),
    ("pnpm run start", &["package.json", "app/run.js", "make.sh"]),
    ("yarn start", &["package.json", "app/run.js", "make.sh"]),
    ("npm run loop", &["package.json"]),
    ("npm run mod", &["package.json", "pkg/__init__.py", "pkg/__main__.py", "pkg/deep/tool.py"]),
    (
        "npm --prefix server start",
        &[
            "package.json",
            "app/run.js",
            "make.sh",
            "server/package.json",
            "server/begin.js",
            "server/dist/index.js",
        ],
    ),
    (
        "sh -c 'cd server && npm start'",
        &[
            "package.json",
            "app/run.js",
            "make.sh",
            "server/package.json",
            "server/begin.js",
            "server/dist/index.js",
        ],
    ),
    ("npx tool", &["package.json", "node_modules/.bin/tool"]),
    // Python projects.
    ("uv run serve", &["pyproject.toml", "src/inner/__init__.py"]),
    ("uv run srv.py", &["pyproject.toml", "srv.py"]),
    ("uv run python -m srv", &["pyproject.toml", "srv.py"]),
    ("poetry run old", &["pyproject.toml", "pkg/__init__.py", "pkg/__main__.py", "pkg/deep/tool.py"]),
    ("uvx installed", &["pyproject.toml"]),
    // Others.
    ("go run ./cmd/x", &["go.mod", "cmd/x/main.go"]),
    ("make serve", &["Makefile"]),
    ("cargo run --manifest-path rs/Cargo.toml", &["rs/Cargo.toml"]),
    ("some-server --config=conf.json", &["conf.json"]),
    ("npx-like-server docs", &[]),
    ("python -m installed", &[]),
    ("node ../outside.js", &[]),
];

pub(super) fn project() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("work");
    for (name, text) in FILES {
        std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        std::fs::write(root.join(name), text).unwrap();
    }
    std::fs::write(root.join("../outside.js"), "").unwrap();
    (dir, root)
}

fn of(root: &Path, line: &str) -> Program {
    // As an entry has them: what is quoted is one argument.
    let args = line.split('\'').enumerate().flat_map(|(at, part)| match at % 2 {
        0 => part.split_whitespace().collect::<Vec<_>>(),
        _ => vec![part],
    });
    Program::of(root, root, &args.collect::<Vec<_>>(), &BTreeMap::new())
}

#[test]
fn every_form_is_known_by_its_files() {
    let (_dir, root) = project();
    for (line, wanted) in FORMS {
        let found = of(&root, line);
        let names: BTreeSet<String> = found
            .files()
            .iter()
            .map(|file| file.strip_prefix(&root).unwrap().display().to_string())
            .collect();
        let wanted: BTreeSet<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(names, wanted, "{line}");
    }
}

#[test]
fn folders_to_look_in_may_stand_in_the_environment() {
    let (_dir, root) = project();
    let env = BTreeMap::from([("PYTHONPATH".to_owned(), "x:lib".to_owned())]);
    let found = Program::of(&root, &root, &["python", "-m", "other"], &env);
    assert_eq!(found.files(), [root.join("lib/other.py")]);
}

#[test]
fn a_person_is_told_what_is_compared_and_that_the_rest_is_not() {
    let (_dir, root) = project();
    let words = of(&root, "python -m installed").words(&root);
    assert!(words.contains("is not among the files of the project that are compared"), "{words}");
    let words = of(&root, "node .").words(&root);
    assert!(
        words.starts_with("You are asked again when one of these files changes: package.json, ")
            && words.contains("What they load from elsewhere"),
        "{words}"
    );
    let words = of(&root, "npm start").words(&root);
    assert!(
        words.starts_with("What it runs is not known whole") && words.contains("changes: package.json, "),
        "{words}"
    );
    for number in 0..MAX_FILES {
        std::fs::write(root.join(format!("pkg/{number}.py")), "").unwrap();
    }
    let many = of(&root, "python -m pkg");
    assert_eq!(many.files().len(), MAX_FILES);
    assert!(many.words(&root).contains("there are more, which are not compared"), "{}", many.words(&root));
    let large = std::fs::File::create(root.join("lib/large")).unwrap();
    large.set_len(MAX_BYTES + 1).unwrap();
    let found = of(&root, "python lib");
    assert!(found.cut && !found.files().contains(&root.join("lib/large")));
}

#[test]
fn a_line_that_would_be_looked_at_for_ever_is_not() {
    let (_dir, root) = project();
    let many = |word: &str| format!("{} srv.py", format!("{word} ").repeat(20_000));
    for word in ["python", "npm", "--dir=pkg/deep", "x", "-x docs -x lib -x src -x app -x cmd"] {
        assert!(of(&root, &many(word)).cut, "{word}");
    }
    // What was found before that is compared, and the person hears of the rest.
    let found = of(&root, &format!("python -m srv {}", many("x")));
    assert!(found.files() == [root.join("srv.py")] && found.words(&root).contains("there are more"));
}
