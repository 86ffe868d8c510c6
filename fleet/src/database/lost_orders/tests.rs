//! Orders of an operator, and rows that were changed by hand.

use fleet::model::HostName;

use super::*;

const FLEET_ID: &str = "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0";
const AT: &str = "2026-02-09T16:05:01Z";
const KEY: &str = "ssh-ed25519 \
                   AAAAC3NzaC1lZDI1NTE5AAAAINWhhgjmf+OQd+KwjQH7UdXhW9cSc0KlPxwjm8jp59SB";
/// A key of nothing here.
const OTHER_KEY: &str = "ssh-ed25519 \
                         AAAAC3NzaC1lZDI1NTE5AAAAIBF+x5bzcpkEwb8KPoL03Tu5rhaHQ5iWNiDztWVIMdMd";
/// Made by `ssh-keygen -Y sign -n fleet.tool-exec@threegate` over [`order`] with [`KEY`].
const SIGNATURE: &str = "-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAg1aGGCOZ/45B34rCNAftR1eFb1x
JzQqU/HCObyOnn1IEAAAAZZmxlZXQudG9vbC1leGVjQHRocmVlZ2F0ZQAAAAAAAAAGc2hh
NTEyAAAAUwAAAAtzc2gtZWQyNTUxOQAAAEAeSfR1cqX/DzkY22JyKnlIpUaJR9+kadD3Lz
tk4Hg3pYO11Hr7mqJWxt3NsOQ6p5jSy3tuPLraFUUcvrrFlYUM
-----END SSH SIGNATURE-----
";

fn order() -> LostRow {
    LostRow {
        host: HostName::parse("host-a").unwrap(),
        order: format!("toolexec-fleet-lost v1\nhost host-a\nfleet {FLEET_ID}\nat {AT}\n"),
        signature: SIGNATURE.to_owned(),
    }
}

fn trust(fleet_id: &str, key: &str) -> LostOrderTrust {
    let list = format!(
        "fleet: farm\nfleet_id: {fleet_id}\nserial: 1\nhosts:\n  - name: host-a\n    \
         record_keys: ['tool-exec {OTHER_KEY}']\n    log_key: host-a+01234567+AAAA\n    \
         witness_key: host-a-witness+01234567+BBBB\n"
    );
    let signers = format!("olga namespaces=\"fleet.tool-exec@threegate\" {key}\n");
    LostOrderTrust {
        list: Rc::new(FleetList::parse(list.as_bytes(), "fleet.yaml").unwrap()),
        signers: Rc::new(AllowedSigners::parse(&signers).unwrap()),
        now: AT.parse().unwrap(),
    }
}

#[test]
fn the_order_of_an_operator_counts() {
    let trust = trust(FLEET_ID, KEY);
    assert_eq!(trust.check(&[]), Ok(()));
    assert_eq!(trust.check(&[order()]), Ok(()));
}

#[test]
fn an_order_that_was_changed_by_hand_does_not_count() {
    let good = order();
    let text = |from: &str, to: &str| good.order.replace(from, to);
    let other_host = HostName::parse("host-b").unwrap();
    for (changed, expected) in [
        (LostRow { host: other_host, ..good.clone() }, "host host-b: order of a lost host: is for"),
        (LostRow { order: String::new(), ..good.clone() }, "line 1 is not"),
        (LostRow { order: text("16:05:01Z", "16:05:00Z"), ..good.clone() }, "does not verify"),
        (LostRow { signature: String::new(), ..good.clone() }, "not an SSH signature"),
    ] {
        // A good order before it hides nothing.
        let why = trust(FLEET_ID, KEY).check(&[good.clone(), changed]).unwrap_err();
        assert!(why.contains(expected) && why.contains("; help: "), "{why}");
    }
}

#[test]
fn an_order_counts_for_its_fleet_and_by_a_key_of_an_operator() {
    let other_fleet = trust("ffff-0123", KEY).check(&[order()]).unwrap_err();
    assert!(other_fleet.contains("not for this one"), "{other_fleet}");
    let other_key = trust(FLEET_ID, OTHER_KEY).check(&[order()]).unwrap_err();
    assert!(other_key.contains("is not in allowed_signers"), "{other_key}");
}
