//! What a schema demands: of a wire that others write too, only what its readers do not do without.

use super::WRITES;
use serde_json::{Map, Value};

/// The keyword for members that Parlor always writes and that others may leave out.
pub const WRITTEN: &str = "x-written";

/// What such a schema says of itself in place of [`WRITES`].
const DEMANDS: &str = "It describes the lines that Parlor writes, member by member. What is `required` nobody may leave out; what others \
    may leave out and Parlor always writes stands in `x-written`. Members that are not known are passed over.";

/// The schema of what is written, demanding only what the other one, of what is read, demands as well.
///
/// # Errors
/// When one of them is no JSON.
pub fn demanding(written: &str, read: &str) -> Result<String, serde_json::Error> {
    let (mut written, read): (Value, Value) = (serde_json::from_str(written)?, serde_json::from_str(read)?);
    if let Some(Value::String(about)) = written.get_mut("description") {
        *about = about.replace(WRITES, DEMANDS);
    }
    relax(&mut written, &read);
    Ok(format!("{written:#}\n"))
}

/// Goes through both together. Where they are not of one shape, what is written stays as it is.
fn relax(written: &mut Value, read: &Value) {
    match (written, read) {
        (Value::Object(written), Value::Object(read)) => {
            if written.contains_key("properties") && read.contains_key("properties") {
                demand(written, read);
            }
            for (key, part) in written.iter_mut() {
                if let Some(other) = read.get(key) {
                    relax(part, other);
                }
            }
        }
        (Value::Array(written), Value::Array(read)) if written.len() == read.len() => {
            written.iter_mut().zip(read).for_each(|(written, read)| relax(written, read));
        }
        _ => {}
    }
}

fn demand(written: &mut Map<String, Value>, read: &Map<String, Value>) {
    let names = |schema: &Map<String, Value>| -> Vec<Value> {
        schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let (demanded, always) = (names(read), names(written));
    let both: Vec<Value> = always.iter().filter(|name| demanded.contains(name)).cloned().collect();
    if both.len() == always.len() {
        return;
    }
    written.insert(WRITTEN.to_owned(), Value::Array(always));
    match both.is_empty() {
        true => written.remove("required"),
        false => written.insert("required".to_owned(), Value::Array(both)),
    };
}
