//! Transcripts as text, in the one canonical spelling: comments of the head, heads in a fixed order, an empty line,
//! then the steps, one line each.

use std::fmt::{self, Write};

use super::{Heads, Kind, Leave, Leaving, Millis, Raw, RawBytes, Say, Screen, Step, Transcript};

impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.heads)?;
        if self.heads != Heads::default() && !self.steps.is_empty() {
            f.write_char('\n')?;
        }
        for step in &self.steps {
            writeln!(f, "{step}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Heads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for comment in &self.preface {
            writeln!(f, "{comment}")?;
        }
        let heads = [
            ("dialect", &self.dialect),
            ("title", &self.title),
            ("seed", &self.seed),
            ("session-cwd", &self.session_cwd),
            ("home", &self.home),
        ];
        for (word, value) in heads {
            if let Some(value) = value {
                writeln!(f, "{word} {value}")?;
            }
        }
        for (name, value) in &self.options {
            writeln!(f, "option {name}={value}")?;
        }
        Ok(())
    }
}

/// Without the newline at its end; a screen or a block takes several lines.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(after) = self.after {
            write!(f, "@+{after} ")?;
        }
        write!(f, "{}", self.kind)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Note(text) => f.write_str(text),
            Self::Say(say) => write!(f, "{say}"),
            Self::Optional(say) => write!(f, "optional {say}"),
            Self::AnyOrder(steps) => {
                writeln!(f, "anyorder")?;
                for step in steps {
                    writeln!(f, "{step}")?;
                }
                f.write_str("end")
            }
            Self::Raw(raw) => write!(f, "{raw}"),
            Self::Model(text) => write!(f, "model {text}"),
            Self::Tool(text) => write!(f, "tool {text}"),
            Self::Command(text) => write!(f, "command {text}"),
            Self::Event(text) => write!(f, "event {text}"),
            Self::Keys(text) => write!(f, "keys {text}"),
            Self::Screen(screen) => write!(f, "{screen}"),
            Self::Wait(time) => write!(f, "wait {time}"),
            Self::Leave(leave) => write!(f, "{leave}"),
        }
    }
}

impl fmt::Display for Say {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{} {}", self.side.sign(), LaneMark(self.lane), self.pattern)
    }
}

impl fmt::Display for Raw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = if self.side == super::Side::Runtime { "<" } else { "" };
        let lane = LaneMark(self.lane);
        match &self.bytes {
            RawBytes::Line(text) if text.is_empty() => write!(f, "!{side}{lane}"),
            RawBytes::Line(text) => write!(f, "!{side}{lane} {text}"),
            RawBytes::Exact(bytes) => {
                write!(f, "!{side}hex{lane} ")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

impl fmt::Display for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("screen")?;
        if let Some((columns, rows)) = self.size {
            write!(f, " {columns}x{rows}")?;
        }
        self.lines.iter().try_for_each(|line| write!(f, "\n  |{line}"))
    }
}

impl fmt::Display for Leave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.how {
            Leaving::Close => "close",
            Leaving::Kill => "kill",
        })?;
        self.side.map_or(Ok(()), |side| write!(f, " {}", side.sign()))
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_multiple_of(1000) { write!(f, "{}s", self.0 / 1000) } else { write!(f, "{}ms", self.0) }
    }
}

/// `@1`, and nothing for the first lane.
struct LaneMark(u8);

impl fmt::Display for LaneMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { Ok(()) } else { write!(f, "@{}", self.0) }
    }
}
