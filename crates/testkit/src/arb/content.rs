//! Strategies for content.

use super::{maybe, number, one_of, up_to_three};
use domain::content::{Input, Json, Part, Role, TextKind, Usage};
use domain::ids::ToolRunId;
use proptest::prelude::*;

/// Text with line breaks, quotes, controls and letters of all kinds.
pub fn text() -> BoxedStrategy<String> {
    prop_oneof![
        4 => "[a-z ]{0,12}",
        1 => "\\PC{0,12}",
        1 => proptest::sample::select(&["", "\n", "\r\n\t", "\"\\/", "\u{0}\u{1b}[31m", "\u{2028}é👩‍👩‍👧", "{}", "null"][..])
            .prop_map(str::to_owned),
    ]
    .boxed()
}

/// JSON payloads, some written in odd ways.
pub fn json() -> BoxedStrategy<Json> {
    prop_oneof![
        3 => text().prop_map(|t| Json::verbatim(serde_json::json!({ "path": t, "n": [1, 2.5, null] }).to_string())),
        1 => one_of(&["{}", "null", "1e400", "-0.0", "\"\\u00e9\"", "[ 1 ,2]", "{\n  \"a\": 1\r\n}", " {} ",
            "{\"a\":1,\"a\":2}", "{\"$verbatim\":\"1\"}", "{ \"$verbatim\" : \"{\\n}\" }", "{\"$verbatim\":1}"])
            .prop_map(Json::verbatim),
    ]
    .boxed()
}

/// Every speaker of a message.
pub fn role() -> BoxedStrategy<Role> {
    one_of(&[Role::User, Role::Assistant, Role::System])
}

/// What a stream of text is.
pub fn text_kind() -> BoxedStrategy<TextKind> {
    one_of(&[TextKind::Text, TextKind::Thought])
}

/// Pieces of messages.
pub fn part() -> BoxedStrategy<Part> {
    prop_oneof![
        text().prop_map(Part::Text),
        (text(), maybe(text())).prop_map(|(text, signature)| Part::Thought { text, signature }),
        (text(), "[A-Za-z0-9+/]{0,16}")
            .prop_map(|(mime, base64)| Part::Image { mime, base64: base64.into() }),
        (maybe(text()), text(), maybe(text())).prop_map(|(language, text, path)| Part::Code {
            language,
            text,
            path
        }),
        (maybe(text()), text()).prop_map(|(path, text)| Part::Diff { path, text }),
        number().prop_map(|n| Part::Tool(ToolRunId(n))),
        (text(), json()).prop_map(|(kind, json)| Part::Opaque { kind, json }),
    ]
    .boxed()
}

/// What a person says.
pub fn input() -> BoxedStrategy<Input> {
    (text(), up_to_three(part())).prop_map(|(text, attachments)| Input { text, attachments }).boxed()
}

/// Tokens and money.
pub fn usage() -> BoxedStrategy<Usage> {
    (number(), number(), number(), number(), number(), any::<bool>())
        .prop_map(|(input, output, cache_read, cache_write, cost_micros, rough)| Usage {
            input,
            output,
            cache_read,
            cache_write,
            cost_micros,
            rough,
        })
        .boxed()
}
