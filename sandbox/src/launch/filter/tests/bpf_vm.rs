//! An interpreter for seccomp's classic BPF, written from the kernel's documentation
//! (Documentation/networking/filter.rst, uapi/linux/seccomp.h) and independent of the compiler.

/// The input of a filter.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimulatedCall {
    pub(super) number: u32,
    pub(super) arch: u32,
    pub(super) arguments: [u64; 6],
}

impl SimulatedCall {
    fn word(self, offset: u32) -> u32 {
        let halves = |wide: u64| [(wide & 0xffff_ffff) as u32, (wide >> 32) as u32];
        match offset {
            0 => self.number,
            4 => self.arch,
            // The instruction pointer, which no program here may read.
            8 | 12 => panic!("a program that depends on where it is called from"),
            _ => {
                assert!(offset.is_multiple_of(4) && offset < 64, "a load from {offset}");
                let at = (offset as usize - 16) / 4;
                halves(self.arguments[at / 2])[at % 2]
            }
        }
    }
}

/// Returns the answer of a program, and the number of executed instructions.
pub(super) fn run(program: &[libc::sock_filter], call: SimulatedCall) -> (u32, usize) {
    let (mut at, mut accumulator) = (0, 0);
    for steps in 1.. {
        let it = program[at];
        let jump = |holds: bool| usize::from(if holds { it.jt } else { it.jf });
        at += 1;
        match it.code {
            0x20 => accumulator = call.word(it.k),
            0x54 => accumulator &= it.k,
            0x05 => at += it.k as usize,
            0x15 => at += jump(accumulator == it.k),
            0x35 => at += jump(accumulator >= it.k),
            0x45 => at += jump(accumulator & it.k != 0),
            0x06 => return (it.k, steps),
            code => panic!("instruction {code:#x}"),
        }
    }
    unreachable!("programs have no loops")
}
