#!/bin/sh
# check.sh BUILD [FILTER] - grades solutions, skeletons, mutants and attacks; FILTER: only items
# whose name contains it.  Several can run in parallel in the same BUILD if they name different
# items.
set -eu
build=${1:?usage: check.sh BUILD [FILTER]}
filter=${2:-}
planted=$build/planted/mutants
failed=0

# keep_tiles "TILE(8, 256|TILE(16" FILE: keeps only these rows of a table of kernels, because a
# mutant's case runs no other and each takes the compiler half a second.
keep_tiles()
{
    awk -v kept="$1" '
        BEGIN { n = split(kept, keep, "|") }
        !/^ *TILE\(/ { print; next }
        {
            for (rest = $0; match(rest, /TILE\([^)]*\),/); rest = substr(rest, RSTART + RLENGTH))
                for (i = 1; i <= n; i++)
                    if (index(substr(rest, RSTART, RLENGTH), keep[i])) print "    " substr(rest, RSTART, RLENGTH)
        }' "$2" >"$2.part"
    mv "$2.part" "$2"
}

# keep_kernels "product_kernel, conv_kernel<R == 3>" FILE: empties all other kernels, and templates
# outside of the condition.  A mutant's case starts no other kernel, and the compiler spends most of
# its time on kernels' bodies.
keep_kernels()
{
    awk -v kept="$1" '
        BEGIN {
            n = split(kept, keep, /, */)
            for (i = 1; i <= n; i++)
                if (at = index(keep[i], "<")) {
                    condition[i] = substr(keep[i], at + 1, length(keep[i]) - at - 1)
                    keep[i] = substr(keep[i], 1, at - 1)
                }
        }
        function kept_as(head,    i) {
            for (i = 1; i <= n; i++)
                if (head ~ ("[^A-Za-z0-9_]" keep[i] "\\(")) { found[i] = 1; return i }
            return 0
        }
        !within && /^[^\/*]*__global__/ { within = 1; head = ""; depth = 0 }
        !within { print; next }
        !depth {
            head = head " " $0
            if (!(at = index($0, "{"))) { print; next }
            which = kept_as(head)
            print substr($0, 1, at)
            if (which in condition) print "    if (!(" condition[which] ")) return;"
            if (which) print substr($0, at + 1)
        }
        depth && which
        { depth += gsub(/{/, "{") - gsub(/}/, "}") }
        !depth { if (!which) print "}"; within = 0 }
        END { for (i = 1; i <= n; i++) if (!found[i]) exit 1 }' "$2" >"$2.part" && mv "$2.part" "$2"
}

# apply SOURCE PATCH PLANTED: 0, or 1 if the patch does not apply.
apply()
{
    patch --silent --batch --fuzz=0 --output="$3.part" "$1" "$2" >/dev/null 2>&1 &&
        mv "$3.part" "$3"
}

# A mutant is its lab's solution with a fault planted.
command -v patch >/dev/null || { echo "not ok mutants: no patch program; install the package patch"; exit 1; }
for fault in autograder/tests/mutants/*/*; do
    case $fault in *.patch) ;; *) echo "not ok mutants: $fault is no patch"; failed=1; continue ;; esac
    name=${fault#autograder/tests/mutants/}
    name=${name%.patch}
    case mutants/$name in *"$filter"*) ;; *) continue ;; esac
    lab=${name%/*}
    source=$(sed -n 's/^source *= *//p' "labs/$lab/lab.ini")
    rm -rf "${planted:?}/$name"
    mkdir -p "$planted/$name"
    mutant=$planted/$name/$source
    if ! apply "solutions/$lab/$source" "$fault" "$mutant"; then
        echo "not ok mutants/$name: the patch does not apply to solutions/$lab/$source; make the patch again"
    else
        tiles=$(sed -n 's/^tiles *= *//p' "$fault")
        kernels=$(sed -n 's/^kernels *= *//p' "$fault")
        [ -z "$tiles" ] || keep_tiles "$tiles" "$mutant"
        [ -n "$kernels" ] || continue
        ! keep_kernels "$kernels" "$mutant" || continue
        echo "not ok mutants/$name: solutions/$lab/$source has no kernel that the patch names in: $kernels"
    fi
    rm -r "${planted:?}/$name"
    failed=1
done

"$build/tests/autograder/test_corpus" "$@" || failed=1
exit "$failed"
