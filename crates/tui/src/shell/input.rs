//! Reading the terminal on a thread of its own, so that a key is never kept waiting by a frame.
//!
//! While an editor has the terminal the thread must not read: [`InputThread::pause`] wakes it with a window-size signal (the one
//! thing that ends a blocking read without taking input) and waits until it stands still. Idle, it blocks and costs nothing.
//!
//! A terminal that is gone is watched for on a second thread: a read from it never ends and never gives anything, it only burns time.

use super::terminal;
use crate::key::{Code, Key};
use crate::msg::{Mouse, MouseAct, Msg};
use crossterm::event::{
    self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers, MouseButton, MouseEventKind,
};
use domain::ids::Millis;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use tokio::sync::mpsc;

/// Events that wait at most; the thread then waits too.
const MAX_EVENTS: usize = 1_024;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Gate {
    #[default]
    Open,
    /// The thread is to stop reading.
    Closing,
    Closed,
    /// The thread is to end.
    Ended,
}

/// The thread that reads.
#[derive(Debug)]
pub(super) struct InputThread {
    events: mpsc::Receiver<Input>,
    gate: Arc<(Mutex<Gate>, Condvar)>,
    /// Whether the next event is to be followed by where the cursor is.
    locate: Arc<AtomicBool>,
}

/// What the thread read.
#[derive(Debug)]
pub(super) enum Input {
    /// Something the person or the terminal did, and when: a frame may take long, and a key typed meanwhile is not meant for it.
    Msg(Box<Msg>, Millis),
    /// The terminal told the row and column of its cursor, from 0; or kept silent.
    Cursor(Option<(u16, u16)>),
    /// There is no terminal any more, or it cannot be read, whether or not a signal said so.
    Gone,
}

impl InputThread {
    /// Starts the threads that read the terminal.
    pub(super) fn start() -> io::Result<InputThread> {
        let (send, events) = mpsc::channel(MAX_EVENTS);
        let gate = Arc::new((Mutex::new(Gate::Open), Condvar::new()));
        let locate = Arc::new(AtomicBool::new(false));
        let (theirs, wanted) = (gate.clone(), locate.clone());
        let watching = send.clone();
        thread::Builder::new().name("terminal".to_owned()).spawn(move || {
            terminal::wait_until_gone();
            let _ = watching.blocking_send(Input::Gone);
        })?;
        thread::Builder::new().name("input".to_owned()).spawn(move || read(&send, &theirs, &wanted))?;
        Ok(InputThread { events, gate, locate })
    }

    pub(super) async fn next(&mut self) -> Option<Input> {
        self.events.recv().await
    }

    /// Asks the terminal where its cursor is; the answer, or that there is none, comes as [`Input::Cursor`].
    pub(super) fn locate(&self) {
        self.locate.store(true, Ordering::SeqCst);
        wake_reader();
    }

    /// Stops reading; returns when nothing reads any more.
    pub(super) async fn pause(&mut self) {
        self.set(Gate::Closing);
        wake_reader();
        let gate = self.gate.clone();
        let wait = tokio::task::spawn_blocking(move || {
            let mut state = gate.0.lock().unwrap_or_else(PoisonError::into_inner);
            while *state == Gate::Closing {
                state = gate.1.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        });
        let _ = wait.await;
    }

    /// Ends the thread that reads: something else will read the terminal from here on.
    pub(super) async fn end(mut self) {
        self.pause().await;
        self.set(Gate::Ended);
    }

    /// Lets the thread read again after a pause.
    pub(super) fn resume(&self) {
        self.set(Gate::Open);
    }

    fn set(&self, to: Gate) {
        *self.gate.0.lock().unwrap_or_else(PoisonError::into_inner) = to;
        self.gate.1.notify_all();
    }
}

/// Ends a blocking read without taking input.
fn wake_reader() {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::WINCH);
}

fn read(send: &mpsc::Sender<Input>, gate: &(Mutex<Gate>, Condvar), locate: &AtomicBool) {
    loop {
        {
            let mut state = gate.0.lock().unwrap_or_else(PoisonError::into_inner);
            while *state != Gate::Open {
                if *state == Gate::Ended {
                    return;
                }
                *state = Gate::Closed;
                gate.1.notify_all();
                state = gate.1.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        let Ok(event) = event::read() else {
            let _ = send.blocking_send(Input::Gone);
            return;
        };
        if let Some(msg) = translate(event)
            && send.blocking_send(Input::Msg(Box::new(msg), super::now())).is_err()
        {
            return;
        }
        if locate.swap(false, Ordering::SeqCst) {
            // Only this thread can ask: the answer comes the way keys come. Keys that come before it are kept.
            let cursor = crossterm::cursor::position().ok().map(|(column, row)| (row, column));
            if send.blocking_send(Input::Cursor(cursor)).is_err() {
                return;
            }
        }
    }
}

fn translate(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => translate_key(key).map(Msg::Key),
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Resize(columns, rows) => Some(Msg::Resize(columns, rows)),
        Event::Mouse(mouse) => {
            let act = match mouse.kind {
                MouseEventKind::ScrollUp => MouseAct::WheelUp,
                MouseEventKind::ScrollDown => MouseAct::WheelDown,
                MouseEventKind::Down(MouseButton::Left) => MouseAct::Press,
                MouseEventKind::Drag(MouseButton::Left) => MouseAct::Drag,
                MouseEventKind::Up(MouseButton::Left) => MouseAct::Release,
                _ => return None,
            };
            Some(Msg::Mouse(Mouse { act, column: mouse.column, row: mouse.row }))
        }
        Event::Key(_) | Event::FocusGained | Event::FocusLost => None,
    }
}

fn translate_key(key: KeyEvent) -> Option<Key> {
    let code = match key.code {
        KeyCode::Char(c) => Code::Char(c),
        KeyCode::Enter => Code::Enter,
        KeyCode::Tab => Code::Tab,
        KeyCode::BackTab => Code::BackTab,
        KeyCode::Backspace => Code::Backspace,
        KeyCode::Delete => Code::Delete,
        KeyCode::Esc => Code::Esc,
        KeyCode::Up => Code::Up,
        KeyCode::Down => Code::Down,
        KeyCode::Left => Code::Left,
        KeyCode::Right => Code::Right,
        KeyCode::Home => Code::Home,
        KeyCode::End => Code::End,
        KeyCode::PageUp => Code::PageUp,
        KeyCode::PageDown => Code::PageDown,
        KeyCode::F(n) => Code::F(n),
        _ => return None,
    };
    let held = |modifier| key.modifiers.contains(modifier);
    let (ctrl, alt) = (held(KeyModifiers::CONTROL), held(KeyModifiers::ALT));
    let shift = held(KeyModifiers::SHIFT) && !matches!(code, Code::Char(_) | Code::BackTab);
    let code = match code {
        Code::Char(c) if ctrl => Code::Char(c.to_ascii_lowercase()),
        // In its own form a shifted letter comes as the small one with shift.
        Code::Char(c) if held(KeyModifiers::SHIFT) && c.is_lowercase() => {
            Code::Char(c.to_uppercase().next().unwrap_or(c))
        }
        // Terminals send Ctrl-/ and Ctrl-_ as the same byte, which is read as Ctrl-7.
        other => other,
    };
    let code = if ctrl && code == Code::Char('7') { Code::Char('_') } else { code };
    Some(Key { code, ctrl, alt, shift })
}
