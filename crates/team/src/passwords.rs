//! The password of the database: from a file of the person's alone, in the form that all programs of PostgreSQL read.

use crate::address::Address;
use std::path::{Path, PathBuf};
use store::StoreError;
use tokio_postgres::config::Host;

/// Most bytes of a file with passwords.
const MAX_FILE: u64 = 1024 * 1024;

/// The password for this address; `None` where nothing names one, which is right where the server asks for none.
pub(crate) fn find(address: &Address) -> Result<Option<String>, StoreError> {
    let named = address
        .passfile
        .clone()
        .or_else(|| std::env::var_os("PGPASSFILE").filter(|file| !file.is_empty()).map(PathBuf::from));
    let file = match named {
        Some(file) => file,
        None => {
            let home = std::env::var_os("HOME").map(PathBuf::from);
            let Some(usual) = home.map(|home| home.join(".pgpass")).filter(|file| file.exists()) else {
                return Ok(None);
            };
            usual
        }
    };
    let text = read(&file, &address.shown)?;
    Ok(text.lines().find_map(|line| fitting(line, address)))
}

fn read(file: &Path, place: &str) -> Result<String, StoreError> {
    let denied = |why: String| StoreError::Denied { place: place.to_owned(), detail: why };
    let found = std::fs::metadata(file).map_err(|why| {
        denied(format!("the file with its password, {}, cannot be read: {why}", file.display()))
    })?;
    if !found.is_file() || found.len() > MAX_FILE {
        return Err(denied(format!("{} is no file with passwords", file.display())));
    }
    #[cfg(unix)]
    if std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o077 != 0 {
        let file = file.display();
        return Err(denied(format!("others may read the file with its password; run: chmod 600 {file}")));
    }
    std::fs::read_to_string(file).map_err(|why| denied(format!("{} cannot be read: {why}", file.display())))
}

/// The password of a line `HOST:PORT:DATABASE:USER:PASSWORD` if it is meant for this address; `*` fits everything.
fn fitting(line: &str, address: &Address) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let fields = split(line);
    let [host, port, database, user, password] = fields.as_slice() else { return None };
    let config = &address.config;
    let fits = |field: &String, is: &str| field == "*" || field == is;
    let is_host = config.get_hosts().iter().enumerate().any(|(at, of)| {
        let number = config.get_ports().get(at).or(config.get_ports().first()).copied().unwrap_or(5432);
        let name = match of {
            Host::Tcp(name) => fits(host, name),
            // The programs of PostgreSQL call every socket so.
            Host::Unix(path) => fits(host, "localhost") || fits(host, &path.to_string_lossy()),
        };
        name && fits(port, &number.to_string())
    });
    let is_meant = is_host
        && fits(database, config.get_dbname().unwrap_or_default())
        && (user == "*" || config.get_user().is_none_or(|name| name == user));
    is_meant.then(|| password.clone())
}

/// The fields between colons; `\:` and `\\` stand for themselves.
fn split(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => fields.last_mut().into_iter().for_each(|field| field.extend(letters.next())),
            // A password may hold colons.
            ':' if fields.len() < 5 => fields.push(String::new()),
            letter => fields.last_mut().into_iter().for_each(|field| field.push(letter)),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_fits_counts() {
        let address = Address::parse("postgres://ada@db.example/team").unwrap();
        for (line, password) in [
            ("db.example:5432:team:ada:secret", Some("secret")),
            ("*:*:*:*:a\\:b\\\\c:d", Some("a:b\\c:d")),
            ("other:5432:team:ada:secret", None),
            ("db.example:5433:team:ada:secret", None),
            ("db.example:5432:team:bob:secret", None),
            ("# db.example:5432:team:ada:secret", None),
            ("db.example:5432", None),
        ] {
            assert_eq!(fitting(line, &address).as_deref(), password, "{line}");
        }
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pass");
        std::fs::write(&file, "*:*:*:*:secret\n").unwrap();
        let text = format!("postgres://ada@db.example/team?passfile={}", file.display());
        let address = Address::parse(&text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let refused = find(&address).unwrap_err().to_string();
        assert!(refused.contains("chmod 600") && !refused.contains("secret"), "{refused}");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(find(&address).unwrap().as_deref(), Some("secret"));
        std::fs::remove_file(&file).unwrap();
        assert!(find(&address).unwrap_err().to_string().contains("cannot be read"));
    }
}
