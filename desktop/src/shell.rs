//! The shell: its window, its tray, and what each word and click does.
//!
//! Invariant: whatever shows or hides the window leaves sessions and questions as they are.

use crate::outside::{Opened, warn};
use crate::{ask, clipboard, notices, place, shortcut, tray};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tauri::webview::{NewWindowResponse, PageLoadEvent};
use tauri::{
    AppHandle, Manager as _, Url, WebviewUrl, WebviewWindow, WebviewWindowBuilder, WindowEvent, Wry,
};
use tokio::sync::watch;
use tokio::task::JoinSet;
use window::kept::{Kept, SMALL, Settings};
use window::tray::{Choice, Fleet};
use window::words::Wish;
use window::{Channel, Finder, Refused, address, autostart, finder, follow};

/// The name of the window, in the capabilities too.
const WINDOW: &str = "main";
/// Where the page shows what a session begins with.
const NEW: &str = "#/";
/// Where the page lies: nothing else is ever shown in the window.
const PAGE: (&str, &str) = ("tauri", "localhost");

/// What the window, the tray, the shortcut and other starts act on.
pub(crate) struct Shell {
    app: AppHandle,
    finder: Arc<Finder>,
    /// The page's connections.
    pub(crate) channel: Channel,
    /// Our own, for the tray.
    own: Channel,
    opened: Opened,
    tasks: Mutex<JoinSet<()>>,
    begun: watch::Sender<u64>,
    /// Changes when the person looks at the window.
    looked: watch::Sender<u64>,
    /// Whether they want to be told of who waits.
    notify: AtomicBool,
    /// Whether there is a place in the tray.
    tray: OnceLock<()>,
}

/// What the page is told of how the window stands and starts.
#[derive(Debug, Serialize)]
pub(crate) struct Standing {
    settings: Settings,
    /// Whether there is a place in the tray to start in.
    tray: bool,
    /// Why there is no shortcut here, whatever is set.
    no_shortcut: Option<&'static str>,
}

/// The shell of an application.
pub(crate) fn of(app: &AppHandle) -> Arc<Shell> {
    app.state::<Arc<Shell>>().inner().clone()
}

impl Shell {
    pub(crate) fn new(app: AppHandle) -> Shell {
        let ours = std::env::current_exe().ok();
        let named = std::env::var_os(finder::PROGRAM).map(PathBuf::from);
        let finder = Arc::new(Finder::new(finder::program(named, ours.as_deref())));
        let [channel, own] = [(); 2].map(|()| Channel::new(finder.clone()));
        Shell {
            app,
            finder,
            channel,
            own,
            opened: Opened::default(),
            tasks: Mutex::default(),
            begun: watch::Sender::new(0),
            looked: watch::Sender::new(0),
            notify: AtomicBool::new(true),
            tray: OnceLock::new(),
        }
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn window(&self) -> Option<WebviewWindow<Wry>> {
        self.app.get_webview_window(WINDOW)
    }

    fn gtk_window(&self) -> Option<gtk::ApplicationWindow> {
        self.window()?.gtk_window().ok()
    }

    /// Makes the window and the place in the tray, and does what the first start asks for.
    pub(crate) fn start(self: &Arc<Shell>, wish: &Wish) -> tauri::Result<()> {
        let kept = place::read();
        self.notify.store(kept.notify, Relaxed);
        let (tell, told) = watch::channel(None);
        let has_tray = self.put_into_tray(told.clone());
        self.follow(tell, told);
        let hidden = *wish == Wish::Hide || (kept.hidden && *wish == Wish::Show);
        self.make_window(&kept, hidden && has_tray, has_tray)?;
        if hidden && !has_tray {
            self.put_aside();
        }
        if let Err(why) = shortcut::take(&self.app, &kept.shortcut) {
            warn(&why);
        }
        match wish {
            Wish::Quit => self.app.exit(0),
            Wish::Link(_) => self.wish(wish),
            _ => {}
        }
        Ok(())
    }

    /// Follows who waits, and has the desktop tell it while nobody looks at the window.
    fn follow(self: &Arc<Shell>, tell: watch::Sender<Option<Fleet>>, told: watch::Receiver<Option<Fleet>>) {
        let (shell, seen, open) = (self.clone(), Arc::downgrade(self), Arc::downgrade(self));
        let following = async move {
            let told = |fleet: Option<&Fleet>| drop(tell.send_replace(fleet.cloned()));
            follow::follow(&shell.own, shell.begun.subscribe(), told).await;
        };
        let seen =
            move || seen.upgrade().is_none_or(|shell| shell.is_looked_at() || !shell.notify.load(Relaxed));
        let open = move |session: &str| {
            if let Some(shell) = open.upgrade() {
                shell.choose(&Choice::Session(session.to_owned()));
            }
        };
        let telling = notices::tell(told, self.looked.subscribe(), seen, open);
        let runtime = tauri::async_runtime::handle();
        let mut tasks = self.tasks();
        tasks.spawn_on(following, runtime.inner());
        tasks.spawn_on(telling, runtime.inner());
    }

    /// Seen, in front, and with the focus: whoever sits there sees what happens in it.
    pub(crate) fn is_looked_at(&self) -> bool {
        self.window().is_some_and(|window| {
            window.is_visible().unwrap_or_default()
                && window.is_focused().unwrap_or_default()
                && !window.is_minimized().unwrap_or_default()
        })
    }

    fn put_into_tray(self: &Arc<Shell>, told: watch::Receiver<Option<Fleet>>) -> bool {
        let ours = Arc::downgrade(self);
        let choose = move |choice: &Choice| {
            if let Some(shell) = ours.upgrade() {
                shell.choose(choice);
            }
        };
        match tray::put(Arc::new(choose)) {
            Ok(handle) => {
                let _ = self.tray.set(());
                let runtime = tauri::async_runtime::handle();
                self.tasks().spawn_on(tray::show(handle, told), runtime.inner());
                true
            }
            Err(why) => {
                warn(&format!("this desktop has no tray ({why}): the window stays in the task bar"));
                false
            }
        }
    }

    fn make_window(self: &Arc<Shell>, kept: &Kept, hidden: bool, has_tray: bool) -> tauri::Result<()> {
        let (width, height) = if kept.small { SMALL } else { (kept.width, kept.height) };
        // Where closing does something else than elsewhere, the window says so.
        let title =
            if has_tray { "Parlor" } else { "Parlor (no tray here: closing it puts it into the task bar)" };
        let (navigating, opening, loading) = (self.clone(), self.clone(), self.clone());
        let window = WebviewWindowBuilder::new(&self.app, WINDOW, WebviewUrl::default())
            .title(title)
            .inner_size(f64::from(width), f64::from(height))
            .visible(false)
            .devtools(cfg!(debug_assertions))
            // The page takes files and pictures that are dropped on it, as in a browser.
            .disable_drag_drop_handler()
            .on_navigation(move |to| {
                let stays = is_page(to);
                if !stays {
                    navigating.ask_to_open(to);
                }
                stays
            })
            .on_new_window(move |to, _| {
                opening.ask_to_open(&to);
                NewWindowResponse::Deny
            })
            .on_download(|_, _| false)
            .on_page_load(move |_, load| {
                // Connections of a page that is gone are nobody's.
                if load.event() == PageLoadEvent::Started {
                    loading.channel.close_all();
                }
            })
            .build()?;
        place::restore(&window, kept)?;
        let shell = self.clone();
        window.on_window_event(move |event| match event {
            WindowEvent::CloseRequested { api, .. } => {
                api.prevent_close();
                shell.put_aside();
            }
            WindowEvent::Focused(true) => shell.looked.send_modify(|times| *times += 1),
            _ => {}
        });
        if hidden { Ok(()) } else { window.show() }
    }

    fn ask_to_open(self: &Arc<Shell>, address: &Url) {
        let (shell, shown) = (self.clone(), address.to_string());
        self.on_main(move || {
            let parent = shell.gtk_window();
            ask::open(parent.as_ref(), &shown, move |address| shell.opened.open(address));
        });
    }

    /// Does it where windows are drawn; an application that ends does nothing more.
    fn on_main(&self, what: impl FnOnce() + Send + 'static) {
        let _ = self.app.run_on_main_thread(what);
    }

    /// The person wants Parlor to run.
    pub(crate) async fn begin(&self) -> Result<(), Refused> {
        self.finder.begin().await?;
        self.begun.send_modify(|times| *times += 1);
        Ok(())
    }

    /// What is pasted where the view pastes nothing by itself.
    pub(crate) async fn clipboard_picture(&self) -> Result<Vec<u8>, String> {
        clipboard::picture(&self.app).await
    }

    /// How the window stands and starts.
    pub(crate) fn standing(&self) -> Standing {
        let autostart = autostart_file().is_some_and(|file| autostart::is_on(&file));
        Standing {
            settings: place::read().settings(autostart),
            tray: self.tray.get().is_some(),
            no_shortcut: shortcut::why_none(),
        }
    }

    /// As the person wants it from now on: all of it, or nothing and why not.
    pub(crate) fn set(&self, wanted: &Settings) -> Result<(), String> {
        let file = place::file().ok_or("there is no folder to keep settings in: set HOME")?;
        let (before, wrong) = Kept::read(&file);
        if let Some(why) = wrong {
            return Err(format!("{why}; mend it or remove it first"));
        }
        let kept = before.clone().with(wanted);
        shortcut::change(&self.app, &before.shortcut, &kept.shortcut)?;
        if let Err(why) = starts_at_login(wanted.autostart)
            .and_then(|()| kept.write(&file).map_err(|why| format!("{}: {why}", file.display())))
        {
            // The old one was there a moment ago.
            let _ = shortcut::change(&self.app, &kept.shortcut, &before.shortcut);
            return Err(why);
        }
        self.notify.store(kept.notify, Relaxed);
        self.looked.send_modify(|times| *times += 1);
        if let Some(window) = self.window().filter(|_| (before.small, before.zoom) != (kept.small, kept.zoom))
        {
            let resized = before.small != kept.small;
            self.on_main(move || {
                let zoom = f64::from(kept.zoom) / 100.0;
                let _ = if resized { place::change(&window, &kept) } else { window.set_zoom(zoom) };
            });
        }
        Ok(())
    }

    /// Does what a start asks for, the first or another.
    pub(crate) fn wish(self: &Arc<Shell>, wish: &Wish) {
        match wish {
            Wish::Show => self.show(),
            Wish::Hide => self.put_aside(),
            Wish::Toggle => self.toggle(),
            Wish::Quit => self.app.exit(0),
            Wish::Link(link) => {
                let (shell, link) = (self.clone(), link.clone());
                self.on_main(move || {
                    let parent = shell.gtk_window();
                    ask::follow(parent.as_ref(), &link, move |place| shell.go(place));
                });
            }
            Wish::Help | Wish::Version => {}
        }
    }

    /// What a line of the tray's menu does.
    pub(crate) fn choose(self: &Arc<Shell>, choice: &Choice) {
        match choice {
            Choice::Session(id) => match address::place_of(id) {
                Some(place) => self.go(&place),
                None => self.show(),
            },
            Choice::New => self.go(NEW),
            Choice::Toggle => self.toggle(),
            Choice::Quit => self.app.exit(0),
            Choice::Nothing => {}
        }
    }

    /// Shows a place of the page.
    pub(crate) fn go(&self, place: &str) {
        self.show();
        if let (Some(window), Ok(place)) = (self.window(), serde_json::to_string(place)) {
            let _ = window.eval(format!("location.hash = {place}"));
        }
    }

    fn show(&self) {
        if let Some(window) = self.window() {
            let _ = window.unminimize();
            let _ = window.show();
            let _ = window.set_focus();
        }
    }

    /// Out of sight: into the tray, or into the task bar where there is none.
    fn put_aside(&self) {
        let Some(window) = self.window() else { return };
        place::keep(&window);
        let _ = if self.tray.get().is_some() { window.hide() } else { window.minimize() };
    }

    /// Out of sight if it is seen, else into sight.
    pub(crate) fn toggle(&self) {
        let Some(window) = self.window() else { return };
        let is_seen = window.is_visible().unwrap_or_default() && !window.is_minimized().unwrap_or_default();
        if is_seen { self.put_aside() } else { self.show() }
    }

    /// The shell ends: how the window stood is kept, and connections are given back.
    pub(crate) fn leave(&self) {
        if let Some(window) = self.window() {
            place::keep(&window);
        }
        self.tasks().abort_all();
        self.channel.close_all();
    }
}

/// Whether an address is one of the page itself.
fn is_page(to: &Url) -> bool {
    (to.scheme(), to.host_str()) == (PAGE.0, Some(PAGE.1))
}

/// The file by which the desktop starts us at login.
fn autostart_file() -> Option<PathBuf> {
    autostart::file(|name| std::env::var_os(name).map(PathBuf::from))
}

/// Has us started at login, or no longer.
fn starts_at_login(on: bool) -> Result<(), String> {
    let file = autostart_file().ok_or("there is no folder for what is started at login: set HOME")?;
    if autostart::is_on(&file) == on {
        return Ok(());
    }
    let program =
        std::env::current_exe().map_err(|why| format!("this program's own path is not known: {why}"))?;
    autostart::set(&file, &program, on)
}
