//! The fleet: opening its screen, what its keys do, and who is told when a session elsewhere waits.

use super::{commands, devices, news};
use crate::clean::clean_line;
use crate::fleet::{Board, FleetChoice, next_waiting};
use crate::layout::fleet_list;
use crate::model::{Model, Want};
use crate::msg::{FleetAct, FleetNews, FleetWish, Fx, ScreenExit};
use domain::command::{Command, LibraryCommand};
use domain::fleet::{Row, newly_waiting};
use domain::ids::SessionId;
use domain::signal::Level;

/// Opens the screen, or closes it.
pub(super) fn toggle(model: &mut Model, fx: &mut Vec<Fx>) {
    if model.screen.over.fleet().is_some() {
        return leave(model, fx);
    }
    open(model, fx);
}

/// Closes the screen; who answered from it is where they were before.
fn leave(model: &mut Model, fx: &mut Vec<Fx>) {
    close(model, fx);
    let home = model.screen.fleet.ends_errand().filter(|home| model.world.current.as_ref() != Some(home));
    if let Some(session) = home {
        model.send(Want::Nothing, Command::Library(LibraryCommand::Open { session }), fx);
    }
}

/// The question that the person came for from here is answered, and nothing more is asked there: who waits next is shown.
pub(super) fn settle(model: &mut Model, fx: &mut Vec<Fx>) {
    if model.screen.asks.is_open() || model.screen.over.is_open() {
        return;
    }
    let here = model.world.current.clone();
    if model.screen.fleet.comes_back(here.as_ref()) {
        open(model, fx);
    }
}

/// Opens the screen over whatever is there.
pub(super) fn open(model: &mut Model, fx: &mut Vec<Fx>) {
    if model.screen.start.here().fleet.is_none() {
        return model.toast(Level::Info, "the fleet is not gathered here; `parlor ps --watch` shows it");
    }
    model.screen.preferences.recolour();
    let mut board = Board::default();
    board.settle(model.screen.fleet.rows());
    model.screen.over.survey(board);
    fx.extend(model.fleet_wish());
}

/// Closes whatever stands over the screen; the fleet is told of no longer, unless that is wanted always.
pub(super) fn close(model: &mut Model, fx: &mut Vec<Fx>) {
    let was_open = model.screen.over.fleet().is_some();
    model.screen.over.close();
    if was_open {
        model.screen.fleet.looked_at();
        fx.extend(model.fleet_wish());
        if !model.screen.preferences.settings().fleet {
            model.screen.fleet.forget();
            news::retitle(model, fx);
        }
    }
}

/// Takes in what was gathered.
pub(super) fn hear(model: &mut Model, heard: FleetNews, fx: &mut Vec<Fx>) {
    let rows = match heard {
        FleetNews::Said(words) => return model.toast(Level::Info, clean_line(&words)),
        FleetNews::Asking(asking) => return devices::asks(model, asking, fx),
        FleetNews::Joined(device) => return devices::joined(model, &device),
        FleetNews::Devices(all) => return devices::list(model, all),
        FleetNews::Rows(rows) => rows,
    };
    // Closed meanwhile, and told late.
    if model.screen.over.fleet().is_none() && !model.screen.preferences.settings().fleet {
        return;
    }
    let before = model.screen.fleet.take(rows);
    let rows = model.screen.fleet.shared();
    if let Some(board) = model.screen.over.fleet_mut() {
        board.settle(&rows);
    }
    // What waited before anybody looked is seen at once. What waits on this screen has rung already.
    if let Some(before) = before {
        let here = model.world.current.clone();
        let elsewhere = newly_waiting(&before, &rows).into_iter().filter(|row| row.session != here);
        for row in elsewhere {
            let words = format!("{} waits for you", clean_line(&row.title));
            model.ring(&words, fx);
            if model.screen.over.fleet().is_none() {
                model.toast(Level::Warning, words);
            }
        }
    }
    news::retitle(model, fx);
}

/// Goes to the session that waits next for the person, besides this one; where none is known, the fleet shows what there is.
pub(super) fn next(model: &mut Model, fx: &mut Vec<Fx>) {
    let rows = model.screen.fleet.shared();
    let here = model.world.current.clone();
    let at = rows.iter().position(|row| row.session.is_some() && row.session == here);
    let next = next_waiting(&rows, at.unwrap_or(rows.len())).and_then(|at| rows.get(at));
    match next.filter(|row| row.session != here) {
        Some(row) => go(model, row, fx),
        None if model.screen.fleet.is_told() => model.toast(Level::Info, "no other session waits for you"),
        None => open(model, fx),
    }
}

/// A key goes to the screen.
pub(super) fn press(model: &mut Model, key: crate::key::Key, page: usize, fx: &mut Vec<Fx>) {
    let rows = model.screen.fleet.shared();
    let Some(board) = model.screen.over.fleet_mut() else { return };
    match board.key(key, &rows, page) {
        FleetChoice::Nothing => {}
        FleetChoice::Close => leave(model, fx),
        FleetChoice::Not(why) => model.toast(Level::Info, why),
        FleetChoice::Open(row) => go_from_here(model, &row, fx),
        FleetChoice::Agents if model.screen.start.here().exits => {
            leave(model, fx);
            commands::execute(model, "/agents", fx);
        }
        FleetChoice::Agents => elsewhere(model, "parlor attach NAME"),
        FleetChoice::Say(row, text) => {
            if let (Some(pid), Some(session)) = (row.pid, row.session.clone()) {
                let busy = row.is_busy();
                fx.push(Fx::Fleet(FleetWish::Act(FleetAct::Say { pid, session, text, busy })));
            }
        }
        FleetChoice::Stop(row) => {
            if let (Some(pid), Some(session)) = (row.pid, row.session) {
                fx.push(Fx::Fleet(FleetWish::Act(FleetAct::Stop { pid, session })));
            }
        }
    }
}

/// A click moves the cursor.
pub(super) fn click(model: &mut Model, row: u16) {
    let area = fleet_list(model);
    let Some(row) = row.checked_sub(area.y).filter(|row| *row < area.height) else { return };
    let rows = model.screen.fleet.shared();
    if let Some(board) = model.screen.over.fleet_mut() {
        board.click(usize::from(row), usize::from(area.height), &rows);
    }
}

/// The same from the fleet. Our own runtime joins what another process has open: a question is answered on this screen, in its
/// session, and then the fleet is there again.
fn go_from_here(model: &mut Model, row: &Row, fx: &mut Vec<Fx>) {
    let can = &model.world.seen().abilities;
    let joins = can.policy
        && can.open_session
        && row.runtime.is_none()
        && model.screen.start.here().fleet.is_some_and(|here| here.visits);
    let here = model.world.current.clone();
    match row.session.clone().filter(|session| row.is_waiting() && (joins || here.as_ref() == Some(session)))
    {
        Some(session) => {
            let is_here = here.as_ref() == Some(&session);
            model.screen.fleet.goes_to_answer(session.clone(), here);
            if is_here { close(model, fx) } else { open_here(model, session, fx) }
        }
        None => {
            model.screen.fleet.ends_errand();
            go(model, row, fx);
        }
    }
}

/// Goes to the session of a row, where it shows its whole question.
fn go(model: &mut Model, row: &Row, fx: &mut Vec<Fx>) {
    let Some(session) = row.session.clone() else {
        return model.toast(Level::Info, row.about().map_or_else(String::new, |about| clean_line(&about)));
    };
    if model.world.current.as_ref() == Some(&session) {
        return close(model, fx);
    }
    let Some(here) = model.screen.start.here().fleet else { return };
    match row.pid {
        Some(pid) if pid != here.pid && here.visits => {
            close(model, fx);
            fx.push(Fx::Leave(ScreenExit::Visit { pid, session }));
        }
        Some(pid) if pid != here.pid => elsewhere(model, &format!("parlor attach --session {session}")),
        // Kept with another program, it is gone on with by that program.
        _ if row.pid.is_none() && row.runtime.is_some() && goes_on(model) => {
            close(model, fx);
            fx.push(Fx::Leave(ScreenExit::GoOn(session)));
        }
        _ if row.pid.is_none() && row.runtime.is_some() => {
            elsewhere(model, &format!("parlor --resume {session}"));
        }
        _ => open_here(model, session, fx),
    }
}

/// Whether the person can be taken to a conversation with another program from here.
fn goes_on(model: &Model) -> bool {
    model.screen.start.here().exits && model.world.seen().abilities.policy
}

fn elsewhere(model: &mut Model, command: &str) {
    model.toast(Level::Info, format!("in another terminal: {command}"));
}

fn open_here(model: &mut Model, session: SessionId, fx: &mut Vec<Fx>) {
    if !model.world.seen().abilities.open_session {
        return elsewhere(model, &format!("parlor --resume {session}"));
    }
    close(model, fx);
    model.send(Want::Nothing, Command::Library(LibraryCommand::Open { session }), fx);
}
