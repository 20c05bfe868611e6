//! Lines that no wire means: odd bytes, odd shapes, odd sizes.

/// A line that is no JSON.
pub(crate) const WORDS: &[u8] = b"not JSON at all\n";

/// Each is one or more whole lines.
pub(crate) fn lines() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = [
        b"\xff\xfe\xfd\n".as_slice(),
        b"\0\0\0\n",
        b"{\"type\":\"\\ud800\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"\\u001b]52;c;cHduZWQ=\\u0007\",\"params\":{}}\n",
        b"{\"type\":\"event\",\"event\":{\"type\":\"\\u202e\\u2066 reversed\",\"data\":[]}}\n",
        b"{\"a\":1,\"a\":2,\"a\":{\"a\":3,\"a\":4}}\n",
        b"{\"number\":1e999999,\"other\":-0.0000000000000000000000000000000001,\"third\":18446744073709551616}\n",
        b"[1,2,3]\n",
        b"null\n",
        b"\"words\"\n",
        b"{\"unfinished\":\n",
        WORDS,
        b"\r\n\r\n\t\n",
    ]
    .map(<[u8]>::to_vec)
    .to_vec();
    all.push(b"\n".repeat(10_000));
    all.push(line(&b"[".repeat(100_000)));
    all.push(line(&b"{\"a\":".repeat(100_000)));
    // One byte too many, and far too many.
    all.push(line(&b"x".repeat(10 * 1024 * 1024 + 1)));
    all.push(line(&b"y".repeat(24 * 1024 * 1024)));
    all.push(line(format!("{{\"key\":\"{}\"}}", "k".repeat(9 * 1024 * 1024)).as_bytes()));
    all
}

fn line(bytes: &[u8]) -> Vec<u8> {
    [bytes, b"\n"].concat()
}
