//! Enums whose variants a wire tells apart by one member, each named once: for writing, for reading and for the schema.

/// An enum of newtype variants, written with the variant's word as the member `tag`. `read` takes the word and the text of the whole
/// object; it gives `None` for a word that is not known, which is not the same as a known one with wrong members.
#[macro_export]
macro_rules! tagged {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident by $tag:tt {
            $($(#[$doc:meta])* $word:literal => $variant:ident($inner:ty),)+
        }
    ) => {
        $(#[$meta])*
        #[derive(serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(tag = $tag)]
        $vis enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant($inner),)+
        }

        impl $name {
            /// Reads the object that has this word.
            pub fn read(word: &str, object: &str) -> Option<Result<$name, serde_json::Error>> {
                Some(match word {
                    $($word => serde_json::from_str(object).map($name::$variant),)+
                    _ => return None,
                })
            }
        }
    };
}
