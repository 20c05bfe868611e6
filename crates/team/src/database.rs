//! The connection to the database, on a thread of its own: calls are plain functions that block, as the contract of a store wants it, also
//! where the caller is in the middle of asynchronous work of its own.
//!
//! A connection that is lost is made anew with the next call. Which of the calls may be made again, the caller knows.

use crate::address::Address;
use crate::passwords;
use crate::tls::Encryption;
use crate::trouble::{Trouble, trouble};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use store::StoreError;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio_postgres::tls::NoTls;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row, Statement};

/// How long one call may take. Past it nobody knows what became of it.
pub(crate) const CALL_WITHIN: Duration = Duration::from_secs(3);
/// How long what only reads is tried where the connection is lost.
const READ_PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait before a lost connection is made anew.
const PAUSE: Duration = Duration::from_millis(100);
/// How every connection is set. There is no time-out of the server's own for a statement: one that ends the wait for a standby would say
/// that a commit is kept which is not.
const SETTINGS: &str = "SET lock_timeout = '2s'; SET statement_timeout = 0; SET default_transaction_isolation = 'read committed'; SET idle_in_transaction_session_timeout = '10s'; SET client_min_messages = warning; \
     SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')";

/// A database, and the thread on which it is spoken with.
pub(crate) struct Database {
    address: Arc<Address>,
    handle: Handle,
    link: Arc<tokio::sync::Mutex<Option<Arc<Link>>>>,
    /// Dropped, the thread ends.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Database").field(&self.address).finish()
    }
}

/// One connection.
pub(crate) struct Link {
    client: Client,
    statements: Mutex<HashMap<&'static str, Statement>>,
    driver: AbortHandle,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// What a statement is given.
pub(crate) type Given<'a> = &'a [&'a (dyn ToSql + Sync)];

impl Link {
    /// A statement, prepared once for each connection.
    async fn statement(&self, sql: &'static str) -> Result<Statement, tokio_postgres::Error> {
        let known = self.statements.lock().unwrap_or_else(PoisonError::into_inner).get(sql).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let prepared = self.client.prepare(sql).await?;
        self.statements.lock().unwrap_or_else(PoisonError::into_inner).insert(sql, prepared.clone());
        Ok(prepared)
    }

    /// The rows that a statement gives.
    pub(crate) async fn rows(
        &self,
        sql: &'static str,
        given: Given<'_>,
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        let statement = self.statement(sql).await?;
        self.client.query(&statement, given).await
    }

    /// Several statements without anything given, one after the other.
    pub(crate) async fn batch(&self, sql: &str) -> Result<(), tokio_postgres::Error> {
        self.client.batch_execute(sql).await
    }
}

impl Database {
    /// Begins the thread; nothing is connected with yet.
    pub(crate) fn at(address: Address) -> Result<Database, StoreError> {
        let place = |why: std::io::Error| StoreError::Unreachable {
            place: address.shown.clone(),
            detail: why.to_string(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(place)?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::Builder::new().name("postgres".to_owned()).spawn(move || {
            // It ends by being dropped.
            let _ = runtime.block_on(stopped);
        });
        let thread = Some(thread.map_err(place)?);
        Ok(Database { address: Arc::new(address), handle, link: Arc::default(), stop: Some(stop), thread })
    }

    /// Another connection to the same database.
    pub(crate) fn beside(&self) -> Result<Database, StoreError> {
        Database::at(self.address.as_ref().clone())
    }

    /// How it is named to people.
    pub(crate) fn place(&self) -> &str {
        &self.address.shown
    }

    /// Makes one call, on a connection that is there or is made for it.
    pub(crate) fn call<T, W, F>(&self, within: Duration, work: W) -> Result<T, Trouble>
    where
        T: Send + 'static,
        W: FnOnce(Arc<Link>) -> F + Send + 'static,
        F: Future<Output = Result<T, tokio_postgres::Error>> + Send + 'static,
    {
        let (answer, answered) = std::sync::mpsc::sync_channel(1);
        let (address, link) = (self.address.clone(), self.link.clone());
        let task = self.handle.spawn(async move {
            let made = async {
                let mut link = link.lock().await;
                if link.as_ref().is_none_or(|link| link.client.is_closed()) {
                    *link = Some(Arc::new(connect(&address).await?));
                }
                link.clone().ok_or_else(Trouble::silent)
            };
            let called = async {
                let used = made.await?;
                work(used).await.map_err(|error| trouble(&address.shown, &error))
            };
            let done = tokio::time::timeout(within, called).await.unwrap_or_else(|_| Err(Trouble::silent()));
            if let Err(Trouble::Lost(_)) = done {
                // What still comes over it is about something that nobody waits for.
                *link.lock().await = None;
            }
            let _ = answer.send(done);
        });
        let answered = answered.recv();
        drop(task);
        answered.unwrap_or_else(|_| Err(Trouble::Lost("its thread has ended".to_owned())))
    }

    /// The same for what changes nothing: made again, for a while, where the connection is lost.
    pub(crate) fn read<T, W, F>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: Fn(Arc<Link>) -> F + Clone + Send + 'static,
        F: Future<Output = Result<T, tokio_postgres::Error>> + Send + 'static,
    {
        let begun = Instant::now();
        loop {
            match self.call(READ_PATIENCE, work.clone()) {
                Err(Trouble::Lost(_) | Trouble::Again(_)) if begun.elapsed() < READ_PATIENCE => self.pause(),
                done => return done.map_err(|why| why.told(self.place())),
            }
        }
    }

    /// The same for what may be made twice without being done twice.
    pub(crate) fn write<T, W, F>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: Fn(Arc<Link>) -> F + Clone + Send + 'static,
        F: Future<Output = Result<T, tokio_postgres::Error>> + Send + 'static,
    {
        self.read(work)
    }

    /// Lets a little time pass before a connection is tried again.
    pub(crate) fn pause(&self) {
        std::thread::sleep(PAUSE);
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn connect(address: &Address) -> Result<Link, Trouble> {
    let mut config = address.config.clone();
    // Read anew each time, so that a new one counts at once.
    if let Some(password) = passwords::find(address).map_err(Trouble::Refused)? {
        config.password(password);
    }
    let place = &address.shown;
    let failed = |error: tokio_postgres::Error| trouble(place, &error);
    let (client, driver) = if config.get_ssl_mode() == tokio_postgres::config::SslMode::Disable {
        let (client, connection) = config.connect(NoTls).await.map_err(failed)?;
        (client, tokio::spawn(async move { drop(connection.await) }).abort_handle())
    } else {
        let encryption = Encryption::of(address).map_err(Trouble::Refused)?;
        let (client, connection) = config.connect(encryption).await.map_err(failed)?;
        (client, tokio::spawn(async move { drop(connection.await) }).abort_handle())
    };
    let link = Link { client, statements: Mutex::default(), driver };
    link.batch(SETTINGS).await.map_err(failed)?;
    Ok(link)
}
