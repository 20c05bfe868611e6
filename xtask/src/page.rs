//! The page that `parlor web` serves: built from `page/` by Vite, and committed, so that `cargo run` needs no Node.
//!
//! Whether what is committed was built from the sources beside it is told by two digests in `page/dist/digest.txt`: of the sources with the
//! lock file, and of what was built. So a change of either alone is found without building anything.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context, Result, bail};
use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha256};

use crate::needs;
use crate::shell::Shell;

/// The folder of the page.
const FOLDER: &str = "page";
/// Where Vite puts what browsers load, and where the server takes it from.
const BUILT: &str = "page/dist";
const DIGESTS: &str = "digest.txt";
/// Versions and digests of all that is installed.
const LOCK: &str = "package-lock.json";
/// The digest of the lock file that was installed by.
const INSTALLED: &str = "node_modules/.parlor-installed";
/// What decides how the page is built; a folder means all in it.
const SOURCES: &[&str] =
    &["index.html", "package-lock.json", "package.json", "public", "src", "tsconfig.json", "vite.config.ts"];
/// Most bytes that a browser loads over the wire, with the older of the two compressions.
const MOST_BYTES: usize = 180 * 1024;
/// What stands compressed beside each file, by its ending; the page's own build writes both.
const COMPRESSED: [&str; 2] = [".br", ".gz"];

/// One file: its path below the folder, and its bytes.
type File = (String, Vec<u8>);

/// Builds the page anew and writes its digests down.
pub(crate) fn build(shell: &Shell) -> Result<()> {
    needs::ensure(shell, needs::FOR_PAGE)?;
    install(shell)?;
    let folder = shell.root().join(FOLDER);
    let sources = sources(&folder)?;
    // The page knows what it is: it tells when the server has another one.
    let own = digest(&sources);
    shell.step("npm", &["run", "build", "--prefix", FOLDER], &[("PARLOR_PAGE_SOURCES", own.as_str())])?;
    let told = digests(&sources, &built(&folder.join("dist"))?);
    let path = shell.root().join(BUILT).join(DIGESTS);
    std::fs::write(&path, told).with_context(|| format!("could not write {}", path.display()))?;
    check(shell)
}

/// Checks that what is committed was built from the sources, and that it is small.
pub(crate) fn check(shell: &Shell) -> Result<()> {
    let folder = shell.root().join(FOLDER);
    let (sources, built) = (sources(&folder)?, built(&folder.join("dist"))?);
    let written = std::fs::read_to_string(shell.root().join(BUILT).join(DIGESTS)).unwrap_or_default();
    if written != digests(&sources, &built) {
        bail!(
            "{BUILT} was not built from the sources beside it, or was changed by hand: `cargo xtask page` builds it"
        );
    }
    let bytes = compressed(&built)?;
    if bytes > MOST_BYTES {
        bail!("{BUILT} has {bytes} bytes compressed, and may have {MOST_BYTES}");
    }
    println!("page: fine, {bytes} bytes compressed");
    Ok(())
}

/// The form of its files and what its linter finds in them, as `page/biome.jsonc` has it.
pub(crate) fn lint(shell: &Shell) -> Result<()> {
    needs::ensure(shell, needs::FOR_PAGE)?;
    install(shell)?;
    shell.step("npm", &["run", "lint", "--prefix", FOLDER], &[])
}

/// Its types and its own tests: they need nothing of ours to be built.
pub(crate) fn test_alone(shell: &Shell) -> Result<()> {
    install(shell)?;
    shell.step("npm", &["run", "check", "--prefix", FOLDER], &[])?;
    shell.step("npm", &["test", "--prefix", FOLDER], &[])
}

/// The tests in a browser on the built program, once the page is installed.
pub(crate) fn test_in_a_browser(shell: &Shell, binary: &str) -> Result<()> {
    shell.step("npm", &["run", "test:browser", "--prefix", FOLDER], &[("PARLOR_BIN", binary)])
}

/// The page in the web view that the desktop shell shows it with, on the built program.
pub(crate) fn test_in_webkit(shell: &Shell, binary: &str) -> Result<()> {
    needs::ensure(shell, needs::FOR_PAGE_TESTS)?;
    install(shell)?;
    shell.step("npm", &["run", "test:webkit", "--prefix", FOLDER], &[("PARLOR_BIN", binary)])
}

/// Exactly what the lock file names. It is not done again while the same is installed: `npm ci` begins with nothing, and asks the registry.
///
/// The lock file names the packages of every system, so that `npm ci` works on each. Of the bindings of rolldown that no registry at hand
/// had when it was written it knows the version and not the digest.
fn install(shell: &Shell) -> Result<()> {
    let folder = shell.root().join(FOLDER);
    let lock = std::fs::read(folder.join(LOCK)).with_context(|| format!("could not read {FOLDER}/{LOCK}"))?;
    let wanted = digest(&[(LOCK.to_owned(), lock)]);
    let mark = folder.join(INSTALLED);
    if std::fs::read_to_string(&mark).is_ok_and(|there| there == wanted) {
        return Ok(());
    }
    shell.step("npm", &["ci", "--no-audit", "--no-fund", "--prefix", FOLDER], &[])?;
    std::fs::write(&mark, wanted).with_context(|| format!("could not write {}", mark.display()))
}

fn digests(sources: &[File], built: &[File]) -> String {
    format!("sources {}\nbuilt {}\n", digest(sources), digest(built))
}

/// Of every path and of every byte; the lengths keep two files apart.
fn digest(files: &[File]) -> String {
    let mut hasher = Sha256::new();
    for (path, bytes) in files {
        hasher.update(format!("{} {} {path}\n", path.len(), bytes.len()));
        hasher.update(bytes);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// How many bytes go over the wire. Each file has to stand compressed beside itself in both ways; that the older one is the same file is
/// seen here, of the newer one by every browser that loads the page.
fn compressed(files: &[File]) -> Result<usize> {
    let mut bytes = 0;
    let own = |path: &str| COMPRESSED.iter().any(|ending| path.ends_with(ending));
    let beside = |name: String| files.iter().find(|(path, _)| *path == name).map(|(_, bytes)| bytes);
    for (path, file) in files.iter().filter(|(path, _)| !own(path)) {
        for ending in COMPRESSED {
            let Some(small) = beside(format!("{path}{ending}")) else {
                bail!("{BUILT}/{path} has no {ending} beside it: `cargo xtask page` builds it")
            };
            if ending != ".gz" {
                continue;
            }
            let mut whole = Vec::new();
            GzDecoder::new(small.as_slice())
                .read_to_end(&mut whole)
                .with_context(|| format!("{BUILT}/{path}.gz cannot be read"))?;
            if whole != *file {
                bail!("{BUILT}/{path}.gz is another file than {path}: `cargo xtask page` builds it");
            }
            bytes += small.len();
        }
    }
    Ok(bytes)
}

fn sources(folder: &Path) -> Result<Vec<File>> {
    let mut files = Vec::new();
    for name in SOURCES {
        collect(folder, name, &mut files)?;
    }
    Ok(files)
}

fn built(folder: &Path) -> Result<Vec<File>> {
    let mut files = Vec::new();
    collect(folder, "", &mut files)?;
    files.retain(|(path, _)| path != DIGESTS);
    Ok(files)
}

/// The file of this name, or all files of the folder of this name, in the order of their paths. What is not there is left out.
fn collect(folder: &Path, name: &str, files: &mut Vec<File>) -> Result<()> {
    let path = folder.join(name);
    if path.is_file() {
        let bytes = std::fs::read(&path).with_context(|| format!("could not read {}", path.display()))?;
        files.push((name.to_owned(), bytes));
    } else if path.is_dir() {
        let entries = std::fs::read_dir(&path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let entries = entries.with_context(|| format!("could not list {}", path.display()))?;
        let mut names: Vec<String> =
            entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        for inside in names {
            let inside = if name.is_empty() { inside } else { format!("{name}/{inside}") };
            collect(folder, &inside, files)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        (path.to_owned(), text.as_bytes().to_vec())
    }

    #[test]
    fn the_lock_file_names_what_every_system_needs_and_no_host() {
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../page").join(LOCK);
        let lock: serde_json::Value = serde_json::from_slice(&std::fs::read(lock).unwrap()).unwrap();
        let packages = lock["packages"].as_object().unwrap();
        for (path, package) in packages {
            assert!(package.get("resolved").is_none(), "{path} names a host");
            let optional = package["optionalDependencies"].as_object().into_iter().flatten();
            for (name, version) in optional {
                let inner = packages.get(&format!("{path}/node_modules/{name}"));
                let there = inner.or_else(|| packages.get(&format!("node_modules/{name}")));
                assert!(
                    there.is_some_and(|there| there["version"].is_string()),
                    "`npm ci` wants {name} {version}"
                );
            }
        }
    }

    #[test]
    fn every_change_of_a_path_or_a_byte_is_another_digest() {
        let files = [file("src/a.ts", "one"), file("src/b.ts", "two")];
        let others = [
            vec![file("src/a.ts", "one")],
            vec![file("src/a.ts", "onf"), file("src/b.ts", "two")],
            vec![file("src/a.tsx", "one"), file("src/b.ts", "two")],
            vec![file("src/a.ts", "onesrc/b.ts"), file("", "two")],
        ];
        for other in others {
            assert_ne!(digest(&files), digest(&other), "{other:?}");
        }
        assert_eq!(digest(&files), digest(&files.clone()));
    }

    #[test]
    fn every_file_stands_compressed_beside_itself() {
        // `gzip` of "one".
        let small = [31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 207, 75, 5, 0, 241, 134, 108, 122, 3, 0, 0, 0];
        let all = |text: &str, small: &[u8]| {
            vec![file("a.js", text), ("a.js.br".to_owned(), vec![1]), ("a.js.gz".to_owned(), small.to_vec())]
        };
        let told = |files: &[File]| compressed(files).map_err(|error| error.to_string());
        assert!(told(&all("two", &small)).unwrap_err().contains("another file"));
        assert!(told(&all("one", b"x")).unwrap_err().contains("cannot be read"));
        assert!(told(&all("one", &small)[..2]).unwrap_err().contains("no .gz"));
        assert_eq!(told(&all("one", &small)), Ok(small.len()));
    }

    #[test]
    fn sources_are_what_decides_the_build_and_nothing_else() {
        let folder = std::env::temp_dir().join(format!("parlor-xtask-page-{}", std::process::id()));
        for path in
            ["src/deep/a.ts", "src/b.ts", "index.html", "dist/index.html", "node_modules/x.js", "tests/t.ts"]
        {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let found = sources(&folder).map(|files| files.into_iter().map(|(path, _)| path).collect::<Vec<_>>());
        let all = built(&folder.join("dist")).map(|files| files.len());
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found.unwrap(), ["index.html", "src/b.ts", "src/deep/a.ts"]);
        assert_eq!(all.unwrap(), 1);
    }
}
