//! How a device shows that it is one: it signs a number that we have just made up, together with the host that it sees and its own id.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

/// What is signed, so that a signature is good for this connection to this host alone.
pub fn signed_text(nonce: &str, host: &str, id: &str) -> String {
    format!("parlor-device-1\n{nonce}\n{host}\n{id}")
}

/// Whether whoever has this key signed it.
pub(crate) fn holds(key: &[u8], nonce: &str, host: &str, id: &str, signature: &str) -> bool {
    URL_SAFE_NO_PAD.decode(signature).is_ok_and(|signature| {
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key);
        key.verify(signed_text(nonce, host, id).as_bytes(), &signature).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};

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
        assert!(holds(key, "n", "h:1", "dev-1", &signature));
        for (nonce, host, id) in
            [("m", "h:1", "dev-1"), ("n", "h:2", "dev-1"), ("n", "h:1", "dev-2"), ("n\nh:1", "dev-1", "")]
        {
            assert!(!holds(key, nonce, host, id, &signature), "{nonce} {host} {id}");
        }
        for bad in ["", "AA", "=", &signature[1..], &signature.repeat(2)] {
            assert!(!holds(key, "n", "h:1", "dev-1", bad), "{bad}");
        }
        assert!(
            !holds(&[4; 65], "n", "h:1", "dev-1", &signature) && !holds(&[], "n", "h:1", "dev-1", &signature)
        );
    }
}
