//! What the schemas that are derived from the types leave to be said: comments are for readers of the code, and groups do not show.

use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform as _};
use serde_json::{Map, Value, json};

/// The schema without comments: a payload may be anything, and names that carry nothing are one list.
pub(crate) fn plain(schema: &mut Schema) {
    RecursiveTransform(|schema: &mut Schema| {
        schema.remove("description");
        if schema.as_object().is_some_and(Map::is_empty) {
            *schema = true.into();
        }
    })
    .transform(schema);
    let Some(Value::Array(variants)) = schema.remove("oneOf") else { return };
    let (mut names, mut forms) = (Vec::new(), Vec::new());
    for variant in variants {
        match (&variant["const"], &variant["enum"]) {
            (Value::String(_), _) => names.push(variant["const"].clone()),
            (_, Value::Array(several)) => names.extend(several.iter().cloned()),
            _ => forms.push(variant),
        }
    }
    let names = json!({ "type": "string", "enum": names });
    if forms.is_empty() {
        *schema = Schema::try_from(names).unwrap_or_default();
    } else {
        let names = names["enum"].as_array().is_some_and(|names| !names.is_empty()).then_some(names);
        schema.insert("oneOf".to_owned(), names.into_iter().chain(forms).collect());
    }
}

/// The schema of an enum of groups: the variants of all groups beside each other, and what stands alone.
pub(crate) fn flat(schema: &mut Schema) {
    plain(schema);
    let Some(Value::Array(variants)) = schema.remove("oneOf") else { return };
    let of_group = |variant: &Value| {
        let (_, group) = variant["properties"].as_object()?.iter().next()?;
        group["oneOf"].as_array().cloned()
    };
    let all = variants.into_iter().flat_map(|variant| of_group(&variant).unwrap_or_else(|| vec![variant]));
    schema.insert("oneOf".to_owned(), all.collect());
}
