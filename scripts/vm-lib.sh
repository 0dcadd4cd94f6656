# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Where does the test VM keep what it fetched, and from where does it fetch? (sourced, not run)

comet_cache=$(realpath -m "${COMET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/comet}")
debian_key=/usr/share/keyrings/debian-archive-keyring.gpg

say() {
	printf 'vm: %s\n' "$*" >&2
}

die() {
	say "$@"
	exit 1
}

# need COMMAND...: all of them are here, or say how to get them.
need() {
	local command
	for command in "$@"; do
		[[ -n $(type -P "$command") ]] || die "$command is not installed: run scripts/setup.sh test"
	done
}

# make_cached NAME MAKER [ARG...]: makes $comet_cache/NAME by MAKER ARG... WORK-DIR, which leaves it in
# WORK-DIR/done. Atomic: what has the final name is whole, and two callers make it once.
make_cached() {
	local name=$1 lock work
	shift
	[[ ! -e $comet_cache/$name ]] || return 0
	mkdir -p "$comet_cache"
	exec {lock}>"$comet_cache/.lock-$name"
	if ! flock -n "$lock"; then
		say "waiting for another process that makes $name ..."
		flock "$lock"
	fi
	if [[ ! -e $comet_cache/$name ]]; then
		# Under the lock, so what is left of an interrupted maker is nobody's.
		rm -rf "$comet_cache/.work-$name".*
		work=$(mktemp -d "$comet_cache/.work-$name.XXXXXX")
		# apt and mmdebstrap as root read their files as another user.
		chmod 755 "$work"
		# In a subshell with its own -e: a function called in a condition would lose it.
		set +e
		(
			set -e
			"$@" "$work"
		)
		local status=$?
		set -e
		if ((status == 0)); then
			mv -T "$work/done" "$comet_cache/$name"
		fi
		rm -rf "$work"
		((status == 0)) || die "could not make $name"
	fi
	exec {lock}>&-
}

# debian_sources SUITE: one-line apt sources for SUITE, at the mirror this machine is set up for.
debian_sources() {
	local suite=$1 targets main security
	# shellcheck disable=SC2016 # apt expands these
	targets=$(apt-get indextargets --format '$(ORIGIN)|$(RELEASE)|$(REPO_URI)' 'Identifier: Packages')
	main=$(awk -F'|' '$1 == "Debian" && $2 !~ /-(security|backports)/ { print $3; exit }' <<<"$targets")
	security=$(awk -F'|' '$1 == "Debian" && $2 ~ /-security$/ { print $3; exit }' <<<"$targets")
	[[ -n $main ]] || die "apt knows no Debian mirror: configure one, then run apt-get update"
	[[ -r $debian_key ]] || die "debian-archive-keyring is not installed: run scripts/setup.sh test"
	echo "deb [signed-by=$debian_key] $main $suite main"
	if [[ -n $security && $suite =~ ^(bookworm|trixie)$ ]]; then
		echo "deb [signed-by=$debian_key] $security $suite-security main"
	fi
}
