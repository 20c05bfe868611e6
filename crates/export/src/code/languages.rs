//! What the usual languages have in common, and where they differ: a table.

/// How a family of languages writes comments, texts and words.
pub(super) struct Language {
    /// What people write behind the fence of a block, in small letters.
    pub(super) names: &'static [&'static str],
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comment: Option<(&'static str, &'static str)>,
    /// Texts that go over lines,
    pub(super) long_texts: &'static [&'static str],
    /// and whether a backslash in them is only a backslash.
    pub(super) raw: bool,
    /// Characters that begin and end a text on one line.
    pub(super) quotes: &'static str,
    /// Whether one letter stands between single quotes, which begin other things too.
    pub(super) letters: bool,
    /// Whether a name behind `<` is what a keyword is elsewhere.
    pub(super) tags: bool,
    /// The keywords, with a space between them,
    pub(super) words: &'static str,
    /// and whether they may be written large, too.
    pub(super) any_case: bool,
}

/// Where a language has nothing special.
const PLAIN: Language = Language {
    names: &[],
    line_comments: &[],
    block_comment: None,
    long_texts: &[],
    raw: false,
    quotes: "\"'",
    letters: false,
    tags: false,
    words: "",
    any_case: false,
};

const C_LIKE: &str = "if else for while do switch case default break continue return struct enum union typedef const static void int char float double long short unsigned signed sizeof goto extern inline volatile bool true false null nullptr class public private protected virtual override template typename namespace using new delete this throw try catch auto constexpr final abstract interface extends implements import package instanceof super synchronized throws var record sealed string object readonly foreach in out ref async await";

/// The first whose names contain it counts.
pub(super) const LANGUAGES: &[Language] = &[
    Language {
        names: &["rust", "rs"],
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        quotes: "\"",
        letters: true,
        words: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while",
        ..PLAIN
    },
    Language {
        names: &["python", "py"],
        line_comments: &["#"],
        long_texts: &["\"\"\"", "'''"],
        words: "and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield match case self",
        ..PLAIN
    },
    Language {
        names: &["js", "javascript", "ts", "typescript", "jsx", "tsx", "mjs"],
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        long_texts: &["`"],
        words: "abstract any as async await boolean break case catch class const continue debugger default delete do else enum export extends false finally for from function get if implements import in instanceof interface let new null number of package private protected public readonly return set static string super switch this throw true try type typeof undefined var void while with yield",
        ..PLAIN
    },
    Language {
        names: &["go", "golang"],
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        long_texts: &["`"],
        raw: true,
        words: "break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var string int bool error byte any",
        ..PLAIN
    },
    Language {
        names: &[
            "c", "h", "cpp", "c++", "cc", "hpp", "java", "cs", "csharp", "kotlin", "kt", "swift", "scala",
            "dart", "php", "c#", "zig",
        ],
        line_comments: &["//"],
        block_comment: Some(("/*", "*/")),
        words: C_LIKE,
        ..PLAIN
    },
    Language {
        names: &["sh", "bash", "shell", "zsh", "fish", "console", "dockerfile", "makefile", "make"],
        line_comments: &["#"],
        words: "if then else elif fi for in do done while until case esac function return local export echo cd set unset exit source alias FROM RUN COPY ADD ENV WORKDIR CMD ENTRYPOINT",
        ..PLAIN
    },
    Language {
        names: &["json", "jsonc", "json5", "jsonl"],
        line_comments: &["//"],
        quotes: "\"",
        words: "true false null",
        ..PLAIN
    },
    Language {
        names: &["toml", "yaml", "yml", "ini", "conf"],
        line_comments: &["#", ";"],
        long_texts: &["\"\"\""],
        words: "true false null yes no on off",
        ..PLAIN
    },
    Language {
        names: &["sql"],
        line_comments: &["--"],
        block_comment: Some(("/*", "*/")),
        any_case: true,
        words: "select from where insert into values update set delete create table index view drop alter add primary key foreign references join left right inner outer on group by order having limit offset union all distinct and or not null is in like between as case when then else end begin commit rollback",
        ..PLAIN
    },
    Language {
        names: &["lua", "haskell", "hs", "elm", "ada"],
        line_comments: &["--"],
        words: "and break do else elseif end false for function goto if in local nil not or repeat return then true until while module where import data type class instance let of case deriving",
        ..PLAIN
    },
    Language {
        names: &["ruby", "rb", "elixir", "ex", "exs", "crystal", "perl", "pl", "r", "nix"],
        line_comments: &["#"],
        long_texts: &["\"\"\""],
        words: "def defp defmodule do end if else elsif unless case when while until for in class module self nil true false and or not return yield begin rescue ensure raise require import alias use fn with cond my sub foreach last next function",
        ..PLAIN
    },
    Language {
        names: &["html", "xml", "svg", "vue", "svelte"],
        block_comment: Some(("<!--", "-->")),
        tags: true,
        ..PLAIN
    },
    Language {
        names: &["css", "scss", "less"],
        block_comment: Some(("/*", "*/")),
        words: "important inherit initial none auto flex grid block inline absolute relative fixed",
        ..PLAIN
    },
];
