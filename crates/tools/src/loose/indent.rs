//! Indentation as a model wrote it, and as the file has it: rules that lead from the one to the other. Pure.

/// Blanks that editors show for a tab.
const WIDTHS: [usize; 4] = [2, 3, 4, 8];

/// How the lines of a file are indented.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Style {
    tabs: bool,
    blanks: bool,
}

impl Style {
    /// Blank lines do not count: they are indented by accident.
    pub(super) fn of(lines: &[&str]) -> Style {
        let mut style = Style::default();
        for line in lines.iter().filter(|line| !line.trim().is_empty()) {
            style.tabs |= line.starts_with('\t');
            style.blanks |= line.starts_with("  ");
        }
        style
    }

    /// Whether the file itself is indented in this way.
    fn knows(self, indent: &str) -> bool {
        let unindented = !self.tabs && !self.blanks;
        let tabs_fit = !indent.contains('\t') || self.tabs || unindented;
        let blanks_fit = !indent.starts_with("  ") || self.blanks || unindented;
        tabs_fit && blanks_fit
    }
}

/// A rule that leads from the indentation that a model wrote to that of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IndentRule<'a> {
    /// The model left this out at the beginning of each line.
    Deeper(&'a str),
    /// The model put this at the beginning of each line.
    Shallower(&'a str),
    /// The model wrote so many blanks for a tab, and left out some tabs before that.
    Tabs { width: usize, more: usize },
    /// The model wrote a tab for so many blanks, and left out some blanks before that.
    Blanks { width: usize, more: usize },
}

impl<'a> IndentRule<'a> {
    /// Every rule that leads from each of the model's indentations to the file's. `pairs` are of the file and of the model.
    pub(super) fn all(pairs: &[(&'a str, &'a str)]) -> Vec<IndentRule<'a>> {
        let Some((file, wrote)) = pairs.first().copied() else { return Vec::new() };
        let mut rules = Vec::new();
        if let Some(more) = file.strip_suffix(wrote) {
            rules.push(IndentRule::Deeper(more));
        } else if let Some(more) = wrote.strip_suffix(file) {
            rules.push(IndentRule::Shallower(more));
        }
        // Where the model wrote no blanks for a tab that is there, nobody knows what its blanks are.
        let translates = pairs.iter().any(|(_, wrote)| wrote.starts_with(' '));
        if translates && is_all(file, '\t') && is_all(wrote, ' ') {
            let left_out = |width: usize| file.len().checked_sub(wrote.len() / width);
            let rule = |width| left_out(width).map(|more| IndentRule::Tabs { width, more });
            rules.extend(WIDTHS.into_iter().filter_map(rule));
        }
        // How wide a tab is here only two lines can tell.
        if let Some((more_file, more_wrote)) = pairs.iter().find(|(_, more)| more.len() > wrote.len())
            && is_all(file, ' ')
            && is_all(more_wrote, '\t')
            && !more_wrote.is_empty()
        {
            let width = more_file.len().saturating_sub(file.len()) / (more_wrote.len() - wrote.len());
            let more = file.len().checked_sub(width * wrote.len());
            rules.extend(more.filter(|_| width > 0).map(|more| IndentRule::Blanks { width, more }));
        }
        let holds = |rule: &IndentRule<'_>| {
            pairs.iter().all(|(file, wrote)| rule.apply(wrote).as_deref() == Some(*file))
        };
        rules.retain(holds);
        rules
    }

    /// The file's indentation for what the model wrote; `None` where the rule says nothing of it.
    fn apply(self, wrote: &str) -> Option<String> {
        match self {
            IndentRule::Deeper(more) => Some(format!("{more}{wrote}")),
            IndentRule::Shallower(more) => wrote.strip_prefix(more).map(str::to_owned),
            IndentRule::Tabs { width, more } => (is_all(wrote, ' ') && wrote.len().is_multiple_of(width))
                .then(|| "\t".repeat(wrote.len() / width + more)),
            IndentRule::Blanks { width, more } => {
                is_all(wrote, '\t').then(|| " ".repeat(wrote.len() * width + more))
            }
        }
    }

    /// The same for an indentation that the file is not known to have there: it has to be of the file's kind.
    pub(super) fn lead(self, wrote: &str, style: Style) -> Option<String> {
        let kept = matches!(self, IndentRule::Deeper(_) | IndentRule::Shallower(_));
        self.apply(wrote).filter(|_| !kept || style.knows(wrote))
    }
}

fn is_all(text: &str, letter: char) -> bool {
    text.chars().all(|c| c == letter)
}

/// The blanks and tabs that a line begins with, and the rest.
pub(super) fn split(line: &str) -> (&str, &str) {
    let body = line.trim_start_matches([' ', '\t']);
    (line.strip_suffix(body).unwrap_or_default(), body)
}
