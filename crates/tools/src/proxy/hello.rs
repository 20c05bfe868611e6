//! The first words of TLS: which host a client says that it wants. Pure; what is said later is encrypted, and nobody's to read.

/// Bytes of a hello that are waited for; usual ones are far shorter.
pub(super) const MAX_HELLO: usize = 16 * 1024;

/// The record that carries a handshake.
const HANDSHAKE: u8 = 22;
/// The first message of one.
const CLIENT_HELLO: u8 = 1;
/// The extension that names the host, and the only kind of name in it.
const SERVER_NAME: usize = 0;
const HOST_NAME: u8 = 0;
/// Longest record.
const MAX_RECORD: usize = 16 * 1024;

/// What the bytes so far say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Hello {
    /// More must come first.
    Unfinished,
    /// A whole hello, with the host that it names.
    Names(Option<String>),
    /// Something else, or a hello that two readers could read differently.
    Other,
}

/// Whether a byte can be the first of TLS.
pub(super) fn begins(first: u8) -> bool {
    first == HANDSHAKE
}

/// Reads what a client has sent so far.
pub(super) fn read(bytes: &[u8]) -> Hello {
    if bytes.len() > MAX_HELLO {
        return Hello::Other;
    }
    let mut message = Vec::new();
    let mut rest = Fields(bytes);
    loop {
        if let Some(whole) = whole(&message) {
            let Some(body) = whole else { return Hello::Other };
            return body_names(body).map_or(Hello::Other, Hello::Names);
        }
        match rest.0.first() {
            Some(&HANDSHAKE) => {}
            Some(_) => return Hello::Other,
            None => return Hello::Unfinished,
        }
        let Some([_, major, _]) = rest.take(3) else { return Hello::Unfinished };
        if *major != 3 {
            return Hello::Other;
        }
        let Some(length) = rest.number(2) else { return Hello::Unfinished };
        if length == 0 || length > MAX_RECORD {
            return Hello::Other;
        }
        // What has come of an unfinished record is enough where the message ends in it; that is seen once it is whole.
        let Some(piece) = rest.take(length) else { return Hello::Unfinished };
        message.extend_from_slice(piece);
    }
}

/// The body of the message, once all of it is there; nothing in it where it is no hello.
fn whole(message: &[u8]) -> Option<Option<&[u8]>> {
    let mut fields = Fields(message);
    let [kind] = fields.take(1)? else { return Some(None) };
    if *kind != CLIENT_HELLO {
        return Some(None);
    }
    let length = fields.number(3)?;
    if length > MAX_HELLO {
        return Some(None);
    }
    fields.take(length).map(Some)
}

/// The host that a hello names; `None` where it is not a lawful hello.
fn body_names(body: &[u8]) -> Option<Option<String>> {
    let mut fields = Fields(body);
    // Version and random, then what is counted: session, ciphers, compressions.
    fields.take(2 + 32)?;
    for width in [1, 2, 1] {
        fields.counted(width)?;
    }
    if fields.0.is_empty() {
        return Some(None);
    }
    let mut extensions = Fields(fields.counted(2)?);
    let mut name = None;
    while !extensions.0.is_empty() {
        let kind = extensions.number(2)?;
        let data = extensions.counted(2)?;
        if kind == SERVER_NAME {
            // A second one could be the one that the server reads.
            if name.is_some() {
                return None;
            }
            name = Some(server_name(data)?);
        }
    }
    fields.0.is_empty().then_some(name)
}

fn server_name(data: &[u8]) -> Option<String> {
    let mut fields = Fields(data);
    let mut list = Fields(fields.counted(2)?);
    let [kind] = list.take(1)? else { return None };
    let name = list.counted(2)?;
    let alone = *kind == HOST_NAME && list.0.is_empty() && fields.0.is_empty();
    let text = std::str::from_utf8(name).ok()?;
    alone.then(|| text.to_owned())
}

/// Bytes that are read from the front.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self, width: usize) -> Option<usize> {
        Some(self.take(width)?.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    /// As many bytes as the number before them says.
    fn counted(&mut self, width: usize) -> Option<&'a [u8]> {
        let count = self.number(width)?;
        self.take(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counted(width: usize, bytes: &[u8]) -> Vec<u8> {
        let length = u32::try_from(bytes.len()).unwrap().to_be_bytes();
        [&length[4 - width..], bytes].concat()
    }

    fn named(name: &str) -> Vec<u8> {
        let entry = [&[HOST_NAME][..], &counted(2, name.as_bytes())].concat();
        [&[0, 0][..], &counted(2, &counted(2, &entry))].concat()
    }

    /// A hello with these extensions, cut into records of this length.
    fn hello(extensions: &[u8], record: usize) -> Vec<u8> {
        let mut body = vec![3, 3];
        body.extend([7; 32]);
        body.extend(counted(1, &[9; 32]));
        body.extend(counted(2, &[0x13, 1]));
        body.extend(counted(1, &[0]));
        body.extend(counted(2, extensions));
        let message = [&[CLIENT_HELLO][..], &counted(3, &body)].concat();
        let records =
            message.chunks(record).map(|piece| [&[HANDSHAKE, 3, 1][..], &counted(2, piece)].concat());
        records.collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_real_client_is_understood() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let config = rustls::ClientConfig::builder()
            .with_root_certificates(rustls::RootCertStore::empty())
            .with_no_client_auth();
        let said = |name: &'static str| {
            let name = rustls::pki_types::ServerName::try_from(name).unwrap();
            let mut client = rustls::ClientConnection::new(config.clone().into(), name).unwrap();
            let mut bytes = Vec::new();
            client.write_tls(&mut bytes).unwrap();
            read(&bytes)
        };
        assert_eq!(said("registry.npmjs.org"), Hello::Names(Some("registry.npmjs.org".to_owned())));
        assert_eq!(said("1.1.1.1"), Hello::Names(None));
    }

    #[test]
    fn a_hello_that_could_be_read_in_two_ways_is_none() {
        let twice = [named("a.example"), named("b.example")].concat();
        let two =
            [&[HOST_NAME][..], &counted(2, b"a.example"), &[HOST_NAME], &counted(2, b"b.example")].concat();
        let list = [&[0, 0][..], &counted(2, &counted(2, &two))].concat();
        for odd in [twice, list, vec![0, 0, 0, 0], vec![0, 0, 0, 9, 1]] {
            assert_eq!(read(&hello(&odd, 9000)), Hello::Other);
        }
        for other in [
            &b"GET / HTTP/1.1\r\n"[..],
            b"SSH-2.0-x\r\n",
            &[HANDSHAKE, 2, 0, 0, 1, 1],
            &[HANDSHAKE, 3, 1, 0, 1, 2],
        ] {
            assert_eq!(read(other), Hello::Other, "{other:?}");
        }
        assert_eq!(read(&vec![HANDSHAKE; MAX_HELLO + 1]), Hello::Other);
    }

    proptest! {
        /// However it is cut into records and pieces, the same host is named, and never before it is whole.
        #[test]
        fn any_cut_gives_the_same_name(record in 1..600_usize, cut in 0..600_usize) {
            let bytes = hello(&[vec![0, 16, 0, 1, 0], named("a.example")].concat(), record);
            prop_assert_eq!(read(&bytes), Hello::Names(Some("a.example".to_owned())));
            if cut < bytes.len() {
                prop_assert_eq!(read(&bytes[..cut]), Hello::Unfinished);
            }
        }

        #[test]
        fn no_bytes_break_it(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&bytes);
            let _ = read(&[&[HANDSHAKE, 3, 1, 1, 0, 1, 0, 0, 0xfc][..], &bytes].concat());
        }
    }
}
