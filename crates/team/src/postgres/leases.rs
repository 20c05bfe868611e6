//! Taking leases, renewing them, giving them back; and stopping in time where they cannot be renewed.

use super::{PostgresStore, lease_seconds};
use crate::database::CALL_WITHIN;
use crate::lease::RENEW_AFTER;
use crate::reading::{self, int, nat};
use crate::statements;
use crate::trouble::Trouble;
use crate::writer::Writer;
use domain::ids::{Seq, SessionId};
use std::collections::BTreeMap;
use std::time::Duration;
use store::parts::Chain;
use store::{Fence, StoreError};

/// A lease that was taken, and where the log stood then.
pub(super) struct TakenLease {
    pub(super) id: i64,
    pub(super) fence: Fence,
    pub(super) last: Seq,
    pub(super) chain: Chain,
}

/// Where the log of each session stands whose lease is still ours.
pub(super) type Heads = BTreeMap<i64, (Seq, Vec<u8>)>;

impl PostgresStore {
    /// Takes the lease of a session, and when it was asked for.
    pub(super) fn take(&self, session: &SessionId) -> Result<(TakenLease, Duration), StoreError> {
        let asked = self.clock.now();
        let (name, node, address) = (session.as_str().to_owned(), self.node.clone(), self.address.clone());
        // Taken twice it is ours all the same, with a higher epoch.
        let rows = self.database.write(move |link| {
            let (name, node, address) = (name.clone(), node.clone(), address.clone());
            async move { link.rows(statements::TAKE, &[&name, &node, &address, &lease_seconds()]).await }
        })?;
        let Some(row) = rows.first() else { return Err(self.held(session)?) };
        let chain = reading::chain(&self.database, session, row.get(2))?;
        let (last, fence) = (Seq(nat(row.get(1))), Fence(nat(row.get(3))));
        Ok((TakenLease { id: row.get(0), fence, last, chain }, asked))
    }

    /// Why a lease could not be taken.
    fn held(&self, session: &SessionId) -> Result<StoreError, StoreError> {
        let name = session.as_str().to_owned();
        let rows = self.database.read(move |link| {
            let name = name.clone();
            async move { link.rows(statements::HOLDER, &[&name]).await }
        })?;
        let Some(row) = rows.first() else { return Ok(StoreError::Unknown(session.clone())) };
        let holder: String = row.get(3);
        let holder = if holder.is_empty() { "another process".to_owned() } else { holder };
        Ok(StoreError::Elsewhere { session: session.clone(), holder })
    }

    /// Gives a lease back.
    pub(super) fn release(&self, id: i64, fence: Fence) -> Result<(), StoreError> {
        let (epoch, node) = (int(fence.0), self.node.clone());
        let released = self.database.write(move |link| {
            let node = node.clone();
            async move { link.rows(statements::RELEASE, &[&id, &epoch, &node]).await }
        });
        released.map(drop)
    }

    /// Takes a session away; `false` where it is another's by now.
    pub(super) fn remove(&self, id: i64, fence: Fence) -> Result<bool, StoreError> {
        let epoch = int(fence.0);
        let removed = self
            .database
            .write(move |link| async move { link.rows(statements::DELETE, &[&id, &epoch]).await })?;
        Ok(!removed.is_empty())
    }

    /// Renews leases, and tells where the logs of those stand that are still ours.
    pub(super) fn renew(&self, leases: Vec<(i64, Fence)>) -> Result<Heads, Trouble> {
        let (ids, epochs): (Vec<i64>, Vec<i64>) =
            leases.iter().map(|(id, fence)| (*id, int(fence.0))).unzip();
        let node = self.node.clone();
        let rows = self.database.call(CALL_WITHIN, move |link| async move {
            link.rows(statements::RENEW, &[&ids, &epochs, &node, &lease_seconds()]).await
        })?;
        Ok(rows.iter().map(|row| (row.get(0), (Seq(nat(row.get(1))), row.get(2)))).collect())
    }

    /// Renews the leases that have grown old, and stops where one is not ours any more or could not be renewed in time.
    pub(super) fn tend_leases(&mut self) {
        self.stop_what_is_over();
        let now = self.clock.now();
        let is_old = |writer: &Writer| now.saturating_sub(writer.asked) >= RENEW_AFTER;
        let old: Vec<(i64, Fence)> = self
            .writers
            .values()
            .filter(|writer| is_old(writer))
            .map(|writer| (writer.id, writer.fence))
            .collect();
        if old.is_empty() {
            return;
        }
        match self.renew(old.clone()) {
            Ok(heads) => self.renewed(&old, &heads, now),
            // It is tried again, until it is time to stop.
            Err(_) => self.stop_what_is_over(),
        }
    }

    /// Takes in which of the leases that were asked for are ours, by the answer to what was asked at `asked`.
    pub(super) fn renewed(&mut self, leases: &[(i64, Fence)], heads: &Heads, asked: Duration) {
        let mut taken = Vec::new();
        for (session, writer) in &mut self.writers {
            if !leases.contains(&(writer.id, writer.fence)) {
                continue;
            }
            if heads.contains_key(&writer.id) {
                writer.asked = asked;
            } else {
                taken.push(session.clone());
            }
        }
        for session in taken {
            let why = self.who_has(&session);
            self.stop(&session, why);
        }
    }

    /// Stops with every session whose lease could not be renewed for so long that another may have it soon.
    pub(super) fn stop_what_is_over(&mut self) {
        let now = self.clock.now();
        let over = self.writers.iter().filter(|(_, writer)| writer.stops() <= now);
        let over: Vec<SessionId> = over.map(|(session, _)| session.clone()).collect();
        for session in over {
            let seconds = crate::lease::STOP_AFTER.as_secs();
            self.stop(
                &session,
                format!("its lease could not be renewed for {seconds} s, so that another may have it"),
            );
        }
    }

    /// From now on nothing of a session is written here.
    pub(super) fn stop(&mut self, session: &SessionId, why: String) {
        if self.writers.remove(session).is_some() {
            self.lost.insert(session.clone(), why);
        }
    }

    /// Who has a session that was ours.
    pub(super) fn who_has(&self, session: &SessionId) -> String {
        match self.held(session) {
            Ok(StoreError::Unknown(_)) => "it was deleted".to_owned(),
            Ok(StoreError::Elsewhere { holder, .. }) => format!("it was taken over by {holder}"),
            Ok(why) | Err(why) => why.to_string(),
        }
    }
}
