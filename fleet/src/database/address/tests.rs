//! The addresses that are used, and those that are refused.

use std::time::Duration;

use tokio_postgres::config::{SslMode, TargetSessionAttrs};

use super::{AddressFault, DatabaseAddress, DatabaseTransport};

fn transport_of(url: &str, has_authorities: bool) -> Result<DatabaseTransport, AddressFault> {
    DatabaseAddress::parse(url, has_authorities).map(|address| address.transport)
}

#[test]
fn only_this_host_is_reached_without_tls() {
    for plain in [
        "postgres:///fleet?host=/run/postgresql&user=a",
        "postgresql://a@%2Frun%2Fpostgresql/fleet",
        "postgres://a@localhost/fleet",
        "postgres://a@127.0.0.1:5433/fleet?sslmode=disable",
        "postgres://a@[::1]/fleet",
        "postgres://a@db.example/fleet?hostaddr=127.0.0.1",
    ] {
        assert_eq!(transport_of(plain, false), Ok(DatabaseTransport::Plain), "{plain}");
    }
    for tls in [
        "postgres://a@db.example/fleet",
        "postgres://a@db.example/fleet?sslmode=prefer",
        "postgres://a@10.0.0.1/fleet",
        "postgres://a@localhost,db.example/fleet",
        "postgres://a@localhost/fleet?sslmode=require",
        "postgres://a@localhost/fleet?hostaddr=10.0.0.1",
    ] {
        assert_eq!(transport_of(tls, false), Ok(DatabaseTransport::Tls), "{tls}");
    }
    assert_eq!(transport_of("postgres://a@localhost/fleet", true), Ok(DatabaseTransport::Tls));
    for refused in [
        "postgres://a@db.example/f?sslmode=disable",
        "postgres://a@10.0.0.1,[::1]/f?sslmode=disable",
    ] {
        assert_eq!(transport_of(refused, true), Err(AddressFault::PlainText), "{refused}");
    }
}

#[test]
fn a_password_is_refused_and_never_shown() {
    for url in [
        "postgres://a:s3cret@db.example/fleet",
        "postgres://a:@db.example/fleet",
        "postgres://a@db.example/fleet?password=s3cret",
        "postgres://db.example/fleet?user=a&password=s3cret",
    ] {
        let fault = transport_of(url, false).unwrap_err();
        assert_eq!(fault, AddressFault::Password, "{url}");
        assert!(!fault.to_string().contains("s3cret"));
    }
    let unreadable = transport_of("postgres://a:s3cret@db.example:port/fleet", false);
    assert!(!unreadable.unwrap_err().to_string().contains("s3cret"));
}

#[test]
fn other_addresses_are_refused_with_an_action() {
    let faults = [
        ("host=db.example password=s3cret", AddressFault::Scheme),
        ("mysql://a@db.example/fleet", AddressFault::Scheme),
        ("", AddressFault::Scheme),
        ("postgres:///fleet", AddressFault::NoServer),
        ("postgres://a@db.example/f?options=-c%20x%3Dy", AddressFault::SessionOptions),
        ("postgres://a@db.example,%2Frun/fleet", AddressFault::Mixed),
    ];
    for (url, fault) in faults {
        assert_eq!(transport_of(url, false), Err(fault.clone()), "{url}");
        assert!(fault.to_string().contains("; help: "), "{fault}");
    }
    let syntax = transport_of("postgres://a@db.example/f?sslmode=never", false).unwrap_err();
    assert!(matches!(&syntax, AddressFault::Syntax(cause) if cause.contains("sslmode")));
}

#[test]
fn every_wait_is_bounded() {
    let url = "postgres://a@one.example,two.example/f?connect_timeout=900&keepalives=0";
    let mut address = DatabaseAddress::parse(url, false).unwrap();
    address.limit(Duration::from_secs(4), "toolexec-fleet");
    let config = &address.config;
    assert_eq!(config.get_connect_timeout(), Some(&Duration::from_secs(4)));
    assert_eq!(config.get_tcp_user_timeout(), Some(&Duration::from_secs(4)));
    assert!(config.get_keepalives());
    assert!(config.get_keepalives_idle() < Duration::from_secs(60));
    assert_eq!(config.get_ssl_mode(), SslMode::Require);
    assert_eq!(config.get_target_session_attrs(), TargetSessionAttrs::ReadWrite);
    assert_eq!(address.server_count(), 2);
    assert_eq!(address.servers(), "one.example, two.example");
}
