//! Encryption with a certificate of the person's own.

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// A certificate with its key, ready to be shown.
#[derive(Clone)]
pub struct Tls(pub(crate) TlsAcceptor);

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoTls {
    #[error("{} is no certificate in PEM form: {why}", path.display())]
    Certificate { path: PathBuf, why: String },
    #[error("{} is no private key in PEM form: {why}", path.display())]
    Key { path: PathBuf, why: String },
    #[error("the certificate and the key do not go together: {0}")]
    Pair(String),
}

impl Tls {
    /// Reads both from PEM files.
    ///
    /// # Errors
    /// Which of them cannot be used, and why.
    pub fn read(certificate: &Path, key: &Path) -> Result<Tls, NoTls> {
        let no_certificate = |why: String| NoTls::Certificate { path: certificate.to_owned(), why };
        let chain =
            CertificateDer::pem_file_iter(certificate).map_err(|why| no_certificate(why.to_string()))?;
        let chain: Result<Vec<_>, _> = chain.collect();
        let chain = chain.map_err(|why| no_certificate(why.to_string()))?;
        if chain.is_empty() {
            return Err(no_certificate("there is none in it".to_owned()));
        }
        let private = PrivateKeyDer::from_pem_file(key);
        let private = private.map_err(|why| NoTls::Key { path: key.to_owned(), why: why.to_string() })?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(chain, private))
            .map_err(|why| NoTls::Pair(why.to_string()))?;
        Ok(Tls(TlsAcceptor::from(Arc::new(config))))
    }
}
