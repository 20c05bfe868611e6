//! The guard against every host and origin that is not ours, in the forms that others were broken by.

use super::*;

fn names() -> Names {
    Names::new("127.0.0.1:4000".parse().unwrap(), &["desk.lan".to_owned()], Reached::Plainly, false)
}

fn asked(method: &str, headers: &[(&str, &str)]) -> Result<(), u16> {
    let mut request = Request::builder().method(method).uri("/wire");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    judge(&names(), &request.body(Body::empty()).unwrap()).map_err(|(status, _)| status.as_u16())
}

const HOST: (&str, &str) = ("host", "127.0.0.1:4000");
const OURS: (&str, &str) = ("origin", "http://127.0.0.1:4000");

#[test]
fn only_our_own_hosts_are_answered() {
    for host in ["127.0.0.1:4000", "localhost:4000", "[::1]:4000", "desk.lan:4000"] {
        assert_eq!(asked("GET", &[("host", host)]), Ok(()), "{host}");
    }
    for host in [
        "evil.example:4000",
        "127.0.0.1",
        "127.0.0.1:4001",
        "localhost",
        "localhost:4000.evil.example",
        "evil.example@127.0.0.1:4000",
        "127.0.0.1:4000 ",
        "0.0.0.0:4000",
        "desk.lan",
        "2130706433:4000",
        "",
    ] {
        assert_eq!(asked("GET", &[("host", host)]), Err(421), "{host}");
    }
    assert_eq!(asked("GET", &[]), Err(421));
    assert_eq!(asked("GET", &[HOST, ("host", "evil.example")]), Err(421));
    let absolute =
        Request::builder().uri("http://evil.example/").header("host", HOST.1).body(Body::empty()).unwrap();
    assert!(judge(&names(), &absolute).is_err());
}

/// The page that is told for an address and names, and whether a browser that asks for this host is answered.
fn told(address: &str, further: &[&str], reached: Reached, host: &str) -> (String, bool) {
    let further: Vec<String> = further.iter().map(|name| (*name).to_owned()).collect();
    let names = Names::new(address.parse().unwrap(), &further, reached, false);
    let request = Request::builder().uri("/").header("host", host).body(Body::empty()).unwrap();
    (names.page(), judge(&names, &request).is_ok())
}

#[test]
fn the_usual_port_is_left_out_as_browsers_do() {
    let (page, answered) = told("0.0.0.0:443", &["desk.lan", "other.lan"], Reached::ByTls, "desk.lan");
    assert_eq!((page.as_str(), answered), ("https://desk.lan/", true));
    assert!(told("0.0.0.0:443", &["desk.lan"], Reached::ByTls, "desk.lan:443").1);
    assert!(told("127.0.0.1:80", &[], Reached::Plainly, "localhost").1);
    // What is usual without encryption is not so with it.
    assert!(!told("127.0.0.1:80", &[], Reached::ByTls, "localhost").1);
    assert!(!told("127.0.0.1:4000", &["desk.lan"], Reached::Plainly, "desk.lan").1);
}

#[test]
fn the_page_is_told_by_the_address_that_is_listened_on() {
    for (address, page, host) in [
        ("127.0.0.2:4000", "http://127.0.0.2:4000/", "127.0.0.2:4000"),
        ("[::1]:4000", "http://[::1]:4000/", "[::1]:4000"),
        ("127.0.0.1:4000", "http://127.0.0.1:4000/", "localhost:4000"),
        ("[::]:4000", "http://[::1]:4000/", "127.0.0.1:4000"),
    ] {
        assert_eq!(told(address, &[], Reached::Plainly, host), (page.to_owned(), true));
    }
}

#[test]
fn what_changes_something_says_its_origin_and_it_is_ours() {
    let upgrade = ("upgrade", "websocket");
    assert_eq!(asked("POST", &[HOST, OURS]), Ok(()));
    assert_eq!(asked("GET", &[HOST, OURS, upgrade]), Ok(()));
    for missing in [asked("POST", &[HOST]), asked("GET", &[HOST, upgrade]), asked("DELETE", &[HOST])] {
        assert_eq!(missing, Err(403));
    }
    for origin in [
        "null",
        "",
        "http://evil.example",
        "http://127.0.0.1:4001",
        "https://127.0.0.1:4000",
        "http://127.0.0.1:4000.evil.example",
        "http://127.0.0.1",
        "http://127.0.0.1:4000/",
        "file://",
        "http://192.168.0.1:4000",
    ] {
        assert_eq!(asked("POST", &[HOST, ("origin", origin)]), Err(403), "{origin}");
        assert_eq!(asked("GET", &[HOST, ("origin", origin)]), Err(403), "{origin}");
        assert_eq!(asked("GET", &[HOST, ("origin", origin), upgrade]), Err(403), "{origin}");
    }
    // A page at a name that was bound anew to us has an origin equal to its host: neither is ours.
    assert_eq!(
        asked("POST", &[("host", "evil.example:4000"), ("origin", "http://evil.example:4000")]),
        Err(421)
    );
    assert_eq!(asked("POST", &[HOST, OURS, ("origin", "http://evil.example")]), Err(403));
}

#[test]
fn other_sites_may_link_to_the_page_and_no_more() {
    let site = ("sec-fetch-site", "cross-site");
    let follows = [HOST, site, ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
    assert_eq!(asked("GET", &follows), Ok(()));
    assert_eq!(
        asked("GET", &[HOST, site, ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")]),
        Err(403)
    );
    assert_eq!(asked("GET", &[HOST, site, ("sec-fetch-mode", "no-cors")]), Err(403));
    for site in ["cross-site", "same-site", "x"] {
        assert_eq!(asked("POST", &[HOST, OURS, ("sec-fetch-site", site)]), Err(403));
    }
    assert_eq!(asked("POST", &[HOST, OURS, ("sec-fetch-site", "same-origin")]), Ok(()));
}

#[test]
fn a_proxy_has_its_own_name_and_is_reached_by_tls() {
    let names =
        Names::new("127.0.0.1:4000".parse().unwrap(), &["Parlor.Example".to_owned()], Reached::ByTls, true);
    let request = |origin: &str| {
        Request::builder()
            .method("POST")
            .header("host", "parlor.example")
            .header("origin", origin)
            .body(Body::empty())
            .unwrap()
    };
    assert!(judge(&names, &request("https://parlor.example")).is_ok());
    assert!(judge(&names, &request("http://parlor.example")).is_err());
}
