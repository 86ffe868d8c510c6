# Asks bash itself for its reading of command lines. A line is parsed within the body of a
# function that is never called. Its words are passed to `args`, which records them.
#
# Must never run a command of a line. The caller marks lines that could run one, and these are not
# passed to `args`. Besides, nothing can run: no PATH, no other builtin, no redirection, no file.
#
# Standard input: one line each, after `+` if its words may be expanded here, else after `-`.
# Standard output: for each line its flags, the number of its words, and its words, each ending in
# NUL. Flags: s parses as a command, w consists of words only, k begins with a reserved word, a
# begins with an assignment, e was expanded. The other flags and the words exist only with e: t has
# a home directory, b braces, g a file name pattern.
exec 2>/dev/null
ulimit -f 0 -c 0 -t 60 -v 2000000
shopt -u extglob
keywords=" $(compgen -k | while read -r word; do printf '%s ' "$word"; done)"
mapfile -t lines
HOME=/home/nobody PATH=/nonexistent PWD=/a OLDPWD=/b
for name in $(compgen -b); do
    case $name in
        eval | printf | set | shopt | local | return | : | enable) ;;
        *) enable -n "$name" ;;
    esac
done
enable -n enable
set -r

# Succeeds if the text parses as a list of commands. To end the body, a line would need all of
# these closing words in their order; the caller excludes such a line.
body() {
    eval "unused() { if :; then case x in x) while :; do ( {
$1
} ) ; done ;; esac; fi; }"
}

# A syntax error within a substitution ends the shell that reads it.
parses() {
    case $1 in
        *[\$\<\>]\(*) (body "$1") ;;
        *) body "$1" ;;
    esac
}

args() { words=("$@"); }

expand() {
    words=()
    eval "args $1"
}

# Only an assignment lets `x=(1)` stand after it without being a syntax error.
begins_with_assignment() {
    local pattern='^[A-Za-z_][A-Za-z0-9_]*(\[|\+?=)' head= rest="$1 " at
    [[ $1 =~ $pattern ]] || return 1
    while [[ -n $rest ]]; do
        at=${rest%%[ $'\t']*}
        head+=$at
        parses "$head x=(1)" && return 0
        rest=${rest:${#at}}
        head+=${rest:0:1}
        rest=${rest:1}
    done
    return 1
}

expansions() {
    local plain bare
    set -f +B
    expand "$1"
    base=("${words[@]}")
    plain=${words[*]@Q}
    expand "${1//\~/%}"
    bare=${words[*]@Q}
    [[ ${plain//\~/%} == "$bare" ]] || flags+=t
    set -B
    expand "$1"
    [[ ${words[*]@Q} == "$plain" ]] || flags+=b
    set +f +B
    shopt -s nullglob
    expand "$1"
    [[ ${words[*]@Q} == "$plain" ]] || flags+=g
    shopt -u nullglob
}

for line in "${lines[@]}"; do
    may=${line:0:1} line=${line:1} flags= base=()
    parses "$line" && flags+=s
    # A comment would swallow what stands behind the line, a backslash at its end the line feed.
    if parses "args $line" && parses "for x in $line ;do :;done" && parses "for x in $line
do :;done"; then
        flags+=w
        start=${line#"${line%%[! $'\t']*}"}
        [[ $keywords == *" ${start%%[ $'\t']*} "* ]] && flags+=k
        begins_with_assignment "$start" && flags+=a
        if [[ $may == + ]]; then
            flags+=e
            expansions "$line"
        fi
    fi
    printf '%s\0' "$flags" "${#base[@]}"
    [[ ${#base[@]} == 0 ]] || printf '%s\0' "${base[@]}"
done
