//! Both roles facing each other.
