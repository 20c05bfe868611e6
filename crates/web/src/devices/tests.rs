//! The list of devices: what is written reads back, what is odd lets nobody in, and there is an end to everything.

use super::*;

fn key(first: u8) -> Vec<u8> {
    let mut key = vec![first; KEY_BYTES];
    key[0] = 4;
    key
}

#[test]
fn what_is_written_reads_back() {
    let mut devices = Devices::default();
    let one = devices.enrol(key(1), Stay::Lasting, "Firefox on Linux", Role::Controller, 5).unwrap();
    let two = devices.enrol(key(2), Stay::Lasting, "phone\u{202e}\n evil", Role::Approver, 6).unwrap();
    assert_eq!(two.name, "phone evil");
    assert!(devices.rename(&one.id, " desk ") && devices.entrust(&one.id, Role::Observer));
    assert!(devices.revoke(&two.id, 7) && !devices.revoke(&two.id, 8));
    let again = Devices::read(&devices.text()).unwrap();
    assert_eq!(again, devices);
    assert_eq!(
        again.active().map(|device| (&*device.name, device.role)).collect::<Vec<_>>(),
        [("desk", Role::Observer)]
    );
    assert_eq!(again.find(&two.id).unwrap().revoked, Some(7));
    assert!(!devices.clone().entrust(&two.id, Role::Controller), "a revoked one gets no role");
}

#[test]
fn odd_entries_let_nobody_in_and_are_kept() {
    let mut devices = Devices::default();
    let one = devices.enrol(key(1), Stay::Lasting, "one", Role::Controller, 5).unwrap();
    let mut file: Value = serde_json::from_str(&devices.text()).unwrap();
    let list = file["devices"].as_array_mut().unwrap();
    let with = |name: &str, value: Value| {
        let mut entry = entry(&one);
        entry["id"] = "dev-other".into();
        entry[name] = value;
        entry
    };
    list.extend([
        json!(null),
        json!("x"),
        json!({}),
        with("role", "admin".into()),
        with("key", "AAAA".into()),
        with("id", 5.into()),
        with("id", one.id.clone().into()),
    ]);
    let read = Devices::read(&file.to_string()).unwrap();
    assert_eq!((read.active().count(), read.unread()), (1, 7));
    let again: Value = serde_json::from_str(&read.text()).unwrap();
    assert_eq!(again["devices"].as_array().unwrap().len(), 8);
    // Revoked in whatever way.
    let odd = json!({"devices": [with("revoked", json!("yes"))]}).to_string();
    assert_eq!(Devices::read(&odd).unwrap().active().count(), 0);
}

#[test]
fn no_text_panics_and_none_that_is_no_list_is_taken_for_an_empty_one() {
    for text in [
        "[]",
        "{}",
        "{",
        "\0",
        "{\"devices\":{}}",
        "\"devices\"",
        &"[".repeat(10_000),
        &" x".repeat(MAX_FILE),
    ] {
        assert!(Devices::read(text).is_err(), "{:.20}", text);
    }
    for text in ["", " \n"] {
        assert_eq!(Devices::read(text), Ok(Devices::default()));
    }
}

#[test]
fn there_is_an_end_to_devices_and_to_revoked_ones() {
    let mut devices = Devices::default();
    for number in 0..MAX_DEVICES {
        let mut key = key(0);
        key[1..9].copy_from_slice(&number.to_be_bytes());
        assert!(devices.enrol(key, Stay::Lasting, "x", Role::Observer, number as u64).is_some());
    }
    assert!(devices.enrol(key(255), Stay::Lasting, "x", Role::Observer, 1).is_none());
    let ids: Vec<String> = devices.active().map(|device| device.id.clone()).collect();
    for (at, id) in ids.iter().enumerate() {
        devices.revoke(id, at as u64);
    }
    assert_eq!(devices.devices.len(), MAX_REVOKED);
    assert!(
        devices.enrol(vec![4; 10], Stay::Lasting, "x", Role::Observer, 1).is_none()
            && devices.enrol(vec![2; 65], Stay::Lasting, "x", Role::Observer, 1).is_none()
    );
}

#[test]
fn a_device_is_meant_by_id_beginning_or_name() {
    let mut devices = Devices::default();
    let one = devices.enrol(key(1), Stay::Lasting, "Phone", Role::Controller, 5).unwrap();
    devices.enrol(key(2), Stay::Lasting, "Desk", Role::Controller, 5).unwrap();
    for word in [&*one.id, &one.id[..10], &one.id[4..10], "phone"] {
        assert_eq!(devices.meant(word), [&one], "{word}");
    }
    assert_eq!((devices.meant("dev-").len(), devices.meant("").len(), devices.meant("x y").len()), (2, 0, 0));
}

fn of_run(run: &str, tab: u8) -> Stay {
    Stay::ThisRun { run: run.to_owned(), tab: key(tab) }
}

#[test]
fn which_key_is_good_where() {
    let mut devices = Devices::default();
    let here = devices.enrol(key(1), of_run("a", 2), "here", Role::Controller, 5).unwrap();
    let far = devices.enrol(key(3), Stay::Lasting, "far", Role::Controller, 5).unwrap();
    let mut old = entry(&far);
    old.as_object_mut().unwrap().remove("stays");
    let old = device(&old).unwrap();
    let read = Devices::read(&devices.text()).unwrap();
    assert_eq!((read.find(&here.id), read.find(&far.id)), (Some(&here), Some(&far)));
    let (plain, again, encrypted) = (
        Ground { lasting: false, run: "a" },
        Ground { lasting: false, run: "b" },
        Ground { lasting: true, run: "a" },
    );
    for (device, signs, ground, good) in [
        (&here, Signs::Key, plain, Some(key(1))),
        (&here, Signs::Key, again, None),
        (&here, Signs::Key, encrypted, None),
        (&here, Signs::Tab, plain, Some(key(2))),
        (&here, Signs::Tab, again, Some(key(2))),
        (&here, Signs::Tab, encrypted, None),
        (&far, Signs::Key, plain, None),
        (&far, Signs::Key, encrypted, Some(key(3))),
        (&far, Signs::Tab, encrypted, None),
        // From before anybody wrote down how it was enrolled.
        (&old, Signs::Key, plain, None),
        (&old, Signs::Key, encrypted, Some(key(3))),
    ] {
        assert_eq!(device.good_key(signs, ground), good.as_deref(), "{} {signs:?} {ground:?}", device.name);
    }
    for (name, value) in [("stays", json!("for ever")), ("tab", json!("AAAA")), ("run", json!(5))] {
        let mut odd = entry(&here);
        odd[name] = value;
        assert!(device(&odd).is_none(), "{odd}");
    }
}

#[test]
fn devices_of_earlier_runs_make_room() {
    let mut devices = Devices::default();
    let lasting = devices.enrol(key(1), Stay::Lasting, "far", Role::Controller, 0).unwrap();
    for number in 0..=MAX_EARLIER {
        let mut own = key(2);
        own[1] = u8::try_from(number).unwrap();
        devices.enrol(own, of_run("a", 9), "here", Role::Controller, number as u64).unwrap();
    }
    assert_eq!(devices.active().count(), MAX_EARLIER + 2, "those of one run stay");
    devices.enrol(key(3), of_run("b", 9), "here", Role::Controller, 100).unwrap();
    assert_eq!(devices.active().count(), MAX_EARLIER + 2);
    assert!(
        devices.find(&lasting.id).is_some()
            && devices.active().all(|device| device.added != 0 || device.id == lasting.id)
    );
}
