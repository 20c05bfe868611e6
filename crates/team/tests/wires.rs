//! What goes over the wire to another machine is encrypted, and the server is held to its name and its authority.

use crate::script::{fold, script, session};
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{Durability, Store as _, StoreError};
use team::{Address, PostgresStore};
use testkit::postgres::Database;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, UnixStream};

/// What a client asks first: whether the server speaks TLS.
const ASKED_FOR_TLS: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// A server that speaks TLS in front of one that is on this machine only. It ends with its runtime.
struct Front {
    port: u16,
    /// The certificate of its authority.
    authority: String,
    _runtime: tokio::runtime::Runtime,
}

fn front(server: PathBuf, name: &str) -> Front {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config =
        rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let door = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let port = door.local_addr().unwrap().port();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    runtime.spawn(async move {
        while let Ok((mut client, _)) = door.accept().await {
            let (acceptor, server) = (acceptor.clone(), server.clone());
            tokio::spawn(async move {
                let mut asked = [0; 8];
                client.read_exact(&mut asked).await.ok().filter(|_| asked == ASKED_FOR_TLS)?;
                client.write_all(b"S").await.ok()?;
                let mut client = acceptor.accept(client).await.ok()?;
                let mut server = UnixStream::connect(&server).await.ok()?;
                tokio::io::copy_bidirectional(&mut client, &mut server).await.ok()
            });
        }
    });
    Front { port, authority: authority.pem(), _runtime: runtime }
}

fn address(database: &Database, port: u16, authority: &Path) -> Address {
    let text = format!(
        "postgres://postgres@localhost:{port}/{}?sslmode=require&sslrootcert={}",
        database.name(),
        authority.display()
    );
    Address::parse(&text).unwrap()
}

#[test]
fn a_session_is_kept_over_tls_with_a_server_that_proves_who_it_is() {
    let (database, place) = (Database::new(), tempfile::tempdir().unwrap());
    let (ours, other) = (front(database.socket(), "localhost"), front(database.socket(), "db.example"));
    let trusted = |name: &str, front: &Front| {
        let file = place.path().join(name);
        std::fs::write(&file, &front.authority).unwrap();
        file
    };
    let (known, elsewhere) = (trusted("ours.pem", &ours), trusted("other.pem", &other));
    let mut store = PostgresStore::at(address(&database, ours.port, &known)).unwrap();
    store.create(&session()).unwrap();
    store.append(&session(), &script(), Durability::Now).unwrap();
    assert_eq!(store.load(&session()).unwrap().state, fold(&script()));
    // Somebody else's authority, and a certificate for another name.
    for (port, authority) in [(ours.port, &elsewhere), (other.port, &elsewhere)] {
        let refused = PostgresStore::at(address(&database, port, authority)).err().unwrap();
        assert!(
            matches!(&refused, StoreError::Unreachable { detail, .. } if detail.contains("certificate")),
            "{refused:?}"
        );
    }
    let nothing = place.path().join("nothing.pem");
    std::fs::write(&nothing, "").unwrap();
    let refused = PostgresStore::at(address(&database, ours.port, &nothing)).err().unwrap();
    assert!(matches!(refused, StoreError::Place(_)), "{refused:?}");
}

#[test]
fn a_server_that_speaks_no_tls_is_not_spoken_with_in_the_clear() {
    let database = Database::new();
    // The real one has no certificate, and says so.
    let text = format!("{}&sslmode=require", database.address());
    let refused = PostgresStore::at(Address::parse(&text).unwrap()).err().unwrap();
    assert!(matches!(refused, StoreError::Unreachable { .. }), "{refused:?}");
}
