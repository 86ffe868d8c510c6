//! The loopback interface, the only one of the guest. The kernel creates it without raising it.

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};

use super::failure::InitFailure;

/// Loopback is always the first interface.
const LOOPBACK_INDEX: u32 = 1;
const RTM_NEWLINK: u16 = 16;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST_ACK: u16 = 5;
const IFF_UP: u32 = 1;
const MESSAGE_BYTES: u32 = 32;

pub(super) fn raise_loopback() -> Result<(), InitFailure> {
    let answer = ask().map_err(InitFailure::at("loopback"))?;
    match error_number(&answer) {
        Some(0) => Ok(()),
        number => Err(InitFailure::new(format!("loopback: the kernel answered {number:?}"))),
    }
}

fn ask() -> Result<Vec<u8>, Errno> {
    let flags = SocketFlags::CLOEXEC;
    // Without a protocol it is the routing socket.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
    send(&socket, &request(), SendFlags::empty())?;
    let mut answer = [0; 256];
    let (count, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    Ok(answer.get(..count).unwrap_or_default().to_vec())
}

/// Returns a netlink header and an interface message.
fn request() -> Vec<u8> {
    let mut message = MESSAGE_BYTES.to_ne_bytes().to_vec();
    message.extend_from_slice(&RTM_NEWLINK.to_ne_bytes());
    message.extend_from_slice(&NLM_F_REQUEST_ACK.to_ne_bytes());
    // Sequence number and port: one request needs neither. Family and type of the interface: any.
    message.extend_from_slice(&[0; 12]);
    for number in [LOOPBACK_INDEX, IFF_UP, IFF_UP] {
        message.extend_from_slice(&number.to_ne_bytes());
    }
    message
}

/// Returns the error number of an acknowledgement.
fn error_number(answer: &[u8]) -> Option<i32> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let number = i32::from_ne_bytes(answer.get(16..20)?.try_into().ok()?);
    (kind == NLMSG_ERROR).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_has_the_length_that_it_states() {
        assert_eq!(u32::try_from(request().len()), Ok(MESSAGE_BYTES));
    }

    #[test]
    fn only_an_acknowledgement_has_a_number() {
        let mut answer = vec![0; 36];
        assert_eq!(error_number(&answer), None);
        answer[4..6].copy_from_slice(&NLMSG_ERROR.to_ne_bytes());
        assert_eq!(error_number(&answer), Some(0));
        answer[16..20].copy_from_slice(&(-1_i32).to_ne_bytes());
        assert_eq!(error_number(&answer), Some(-1));
        assert_eq!(error_number(&answer[..18]), None);
    }
}
