//! Shell functions for tests that type a page as an operator does.

/// Functions for the files of a host below the directory `$1`. `write_config` writes its
/// configuration. `fit_policy` adds the one exception that the host of an ordinary user needs.
pub const HOST_FILES: &str = r#"
write_config() {
    cat > "$1/etc/toolexecd.yaml" <<END
config_version: 1
spool: $1/spool
state: $1/state
policy: $1/etc/policy.yaml
allowed_signers: $1/etc/allowed_signers
shutdown_grace_sec: 1
END
}
fit_policy() {
    [ "$(id -u)" = 0 ] || sed -i 's/exceptions: \[\]/exceptions: [cgroup]/' "$1/etc/policy.yaml"
}
"#;

/// Answers every prompt of `toolexec approve` with yes.
pub const ANSWERED_PROMPTS: &str = r#"
toolexec() {
    case $1 in
        approve) command toolexec "$@" --yes ;;
        *) command toolexec "$@" ;;
    esac
}
"#;
