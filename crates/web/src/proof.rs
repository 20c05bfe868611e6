//! How both sides show who they are. A device signs a number that we have just made up, together with the host that it sees and its own
//! id. The server signs a number that a page has just made up, so that a tab that stayed loaded can tell it from a program that took its
//! port meanwhile.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, UnparsedPublicKey,
};

/// What is signed, so that a signature is good for this connection to this host alone.
pub fn signed_text(nonce: &str, host: &str, id: &str) -> String {
    format!("parlor-device-1\n{nonce}\n{host}\n{id}")
}

/// What a browser signs that wants to become a device, so that nobody has a key of another's enrolled.
pub fn enrol_text(nonce: &str, host: &str, key: &str, tab: &str) -> String {
    format!("parlor-enrol-1\n{nonce}\n{host}\n{key}\n{tab}")
}

/// What the server signs: the page's number, and its own with the host, so that it is good for this connection alone.
pub fn server_text(theirs: &str, host: &str, ours: &str) -> String {
    format!("parlor-server-1\n{theirs}\n{host}\n{ours}")
}

/// Whether whoever has this key signed this text.
pub(crate) fn holds(key: &[u8], text: &str, signature: &str) -> bool {
    URL_SAFE_NO_PAD.decode(signature).is_ok_and(|signature| {
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key);
        key.verify(text.as_bytes(), &signature).is_ok()
    })
}

/// What the server of a data folder is known by to tabs that stay loaded while it is started again.
pub struct Identity(EcdsaKeyPair);

impl Identity {
    /// A new one, as it is to be kept (PKCS #8); `None` when the system has no random numbers.
    pub fn make() -> Option<Vec<u8>> {
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        made.ok().map(|kept| kept.as_ref().to_vec())
    }

    /// The one that was kept; `None` when that is none.
    pub fn read(kept: &[u8]) -> Option<Identity> {
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, kept, &SystemRandom::new());
        pair.ok().map(Identity)
    }

    /// Its public half.
    pub(crate) fn shown(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0.public_key().as_ref())
    }

    /// `None` when the system has no random numbers.
    pub(crate) fn sign(&self, text: &str) -> Option<String> {
        let signature = self.0.sign(&SystemRandom::new(), text.as_bytes()).ok()?;
        Some(URL_SAFE_NO_PAD.encode(signature))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_good_for_one_nonce_host_and_device() {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
        let signature = pair.sign(&random, signed_text("n", "h:1", "dev-1").as_bytes()).unwrap();
        let signature = URL_SAFE_NO_PAD.encode(signature);
        let key = pair.public_key().as_ref();
        assert_eq!(key.len(), crate::devices::KEY_BYTES);
        let signs = |key: &[u8], nonce: &str, host: &str, id: &str, signature: &str| {
            holds(key, &signed_text(nonce, host, id), signature)
        };
        assert!(signs(key, "n", "h:1", "dev-1", &signature));
        for (nonce, host, id) in
            [("m", "h:1", "dev-1"), ("n", "h:2", "dev-1"), ("n", "h:1", "dev-2"), ("n\nh:1", "dev-1", "")]
        {
            assert!(!signs(key, nonce, host, id, &signature), "{nonce} {host} {id}");
        }
        for bad in ["", "AA", "=", &signature[1..], &signature.repeat(2)] {
            assert!(!signs(key, "n", "h:1", "dev-1", bad), "{bad}");
        }
        assert!(
            !signs(&[4; 65], "n", "h:1", "dev-1", &signature) && !signs(&[], "n", "h:1", "dev-1", &signature)
        );
    }

    #[test]
    fn a_server_is_known_again_by_what_it_kept_and_by_nothing_else() {
        let (kept, other) = (Identity::make().unwrap(), Identity::make().unwrap());
        let (before, after) = (Identity::read(&kept).unwrap(), Identity::read(&kept).unwrap());
        assert_eq!(before.shown(), after.shown());
        let public = URL_SAFE_NO_PAD.decode(before.shown()).unwrap();
        let text = server_text("theirs", "h:1", "ours");
        assert!(holds(&public, &text, &after.sign(&text).unwrap()));
        let impostor = Identity::read(&other).unwrap();
        assert!(!holds(&public, &text, &impostor.sign(&text).unwrap()));
        assert!(Identity::read(&kept[1..]).is_none() && Identity::read(b"").is_none());
    }
}
