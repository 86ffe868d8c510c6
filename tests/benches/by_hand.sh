#!/usr/bin/env bash
# The script that a careful user would write instead of a daemon: takes each approved file, writes its
# digest, runs the program in bubblewrap, signs the result with ssh-keygen, makes it durable and moves it
# to its destination. The bench `pipeline` compares it with the daemon. It checks no request, has no
# ledger and no log, limits nothing, and does not recover.
#
# Must never: omit a sync that a careful user would make, or do more than such a user would.
#
#   tests/benches/by_hand.sh SPOOL KEY PROGRAM     (runs until it is killed)
set -eu

cd "$1"
key=$2 program=$3
mkdir -p work results archive
while :; do
    idle=yes
    for request in approved/*.md; do
        [ -e "$request" ] || continue
        idle=no
        id=${request#approved/} id=${id%.md}
        new=work/$id
        mkdir -p "$new/out"
        sha256sum "$request" >"$new/request.sha256"
        status=0
        bwrap --unshare-all --die-with-parent --new-session --clearenv \
            --ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/bin /bin \
            --ro-bind "$program" /tool --proc /proc --dev /dev --tmpfs /tmp --bind "$new/out" /out \
            -- /tool >"$new/stdout" 2>"$new/stderr" || status=$?
        {
            cat "$new/request.sha256"
            (cd "$new" && sha256sum stdout stderr)
            printf 'exit %d\nended %(%FT%TZ)T\n' "$status" -1
        } >"$new/record.md"
        ssh-keygen -q -Y sign -n record -f "$key" "$new/record.md" 2>/dev/null
        sync -f "$new/record.md"
        mv "$new" "results/$id"
        sync results
        mv "$request" archive/
    done
    [ "$idle" = no ] || sleep 0.01
done
