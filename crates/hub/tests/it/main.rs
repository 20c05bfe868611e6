//! The hub from outside: disks that fail, stores that answer late, UIs that are early, slow or foreign, and who watches the fleet.

mod disk;
mod early;
mod fleet;
mod foreign;
mod late;
mod slow;
