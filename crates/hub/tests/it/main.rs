//! The hub from outside: disks that fail, stores that answer late, UIs that are early, slow or foreign, who watches the fleet, and what each may do.

mod disk;
mod early;
mod fleet;
mod foreign;
mod groups;
mod late;
mod rights;
mod slow;
