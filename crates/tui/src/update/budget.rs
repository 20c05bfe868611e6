//! `/budget`: what the session may spend and has spent; sets a bound, or lifts it.

use crate::layout::budget_told;
use crate::model::{Model, Want};
use crate::msg::Fx;
use domain::command::{Command, SessionCommand};
use domain::session::Budget;
use domain::signal::Level;

const USAGE: &str = "write /budget cost 2.50 (dollars), /budget steps 40, /budget time 600 (seconds), or off in place of a number";
/// Millionths in a dollar.
const MICROS: f64 = 1e6;
/// Most dollars that a bound may name.
const MAX_DOLLARS: f64 = 1e6;

/// Does what was typed behind the command.
pub(super) fn command(model: &mut Model, argument: &str, fx: &mut Vec<Fx>) {
    let state = model.world.state();
    let words: Vec<&str> = argument.split_whitespace().collect();
    let budget = match words.as_slice() {
        [] => {
            let told = budget_told(state).unwrap_or_else(|| "no budget is set in this session".to_owned());
            return model.toast(Level::Info, format!("{told}; {USAGE}"));
        }
        [word] => Some(Budget::OFF).filter(|_| *word == "off"),
        [what, most] => bounded(state.settings.budget, what, most),
        _ => None,
    };
    match budget {
        Some(budget) => {
            let word = if model.world.is_running() {
                "budget set: it counts from the next prompt on"
            } else {
                "budget set"
            };
            model.send(Want::Word(word), Command::Session(SessionCommand::SetBudget { budget }), fx);
        }
        None => model.toast(Level::Info, USAGE),
    }
}

/// A budget with another bound; `None` for words that mean nothing.
fn bounded(budget: Budget, what: &str, most: &str) -> Option<Budget> {
    let number = |text: &str| text.parse::<u64>().ok().filter(|most| *most > 0);
    let bound = |read: &dyn Fn(&str) -> Option<u64>| if most == "off" { Some(0) } else { read(most) };
    Some(match what {
        "cost" => Budget { max_cost_micros: Some(bound(&dollars)?), ..budget },
        "steps" => Budget { max_steps: Some(bound(&number)?), ..budget },
        "time" => Budget { max_time_s: Some(bound(&number)?), ..budget },
        _ => return None,
    })
}

/// Dollars as millionths.
fn dollars(text: &str) -> Option<u64> {
    let dollars: f64 = text.strip_prefix('$').unwrap_or(text).parse().ok()?;
    let micros = (dollars * MICROS).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is between one and a trillion"
    )]
    (micros >= 1.0 && dollars <= MAX_DOLLARS).then_some(micros as u64)
}
