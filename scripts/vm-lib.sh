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

# debian_targets: where the machine's apt gets packages from: origin, release and address.
debian_targets() {
	# shellcheck disable=SC2016 # apt expands these
	apt-get indextargets --format '$(ORIGIN)|$(RELEASE)|$(REPO_URI)' 'Identifier: Packages'
}

# debian_sources SUITE: one-line apt sources for SUITE, at the mirror this machine is set up for.
debian_sources() {
	local suite=$1 targets main security
	targets=$(debian_targets)
	if [[ $targets != *Debian* && $EUID == 0 ]]; then
		# A machine on which apt has not been used yet.
		apt-get update -qq >&2
		targets=$(debian_targets)
	fi
	main=$(awk -F'|' '$1 == "Debian" && $2 !~ /-(security|backports)/ { print $3; exit }' <<<"$targets")
	security=$(awk -F'|' '$1 == "Debian" && $2 ~ /-security$/ { print $3; exit }' <<<"$targets")
	[[ -n $main ]] || die "apt knows no Debian mirror: configure one, then run apt-get update"
	[[ -r $debian_key ]] || die "debian-archive-keyring is not installed: run scripts/setup.sh test"
	echo "deb [signed-by=$debian_key] $main $suite main"
	if [[ -n $security && $suite =~ ^(bookworm|trixie)$ ]]; then
		echo "deb [signed-by=$debian_key] $security $suite-security main"
	fi
}

# Which Debian has which kernel.
declare -A debian_suites=([6.1]=bookworm [6.12]=trixie [7.2]=sid)

# private_apt ARCH WORK COMMAND...: apt with its own state in WORK, so that the machine's apt never
# learns of another suite or architecture.
private_apt() {
	local arch=$1 work=$2 command=$3
	shift 3
	"$command" -o Dir::State="$work/state" -o Dir::State::status="$work/state/status" \
		-o Dir::Cache="$work/cache" -o Dir::Etc::sourcelist="$work/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferences=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null -o APT::Architecture="$arch" \
		-o APT::Architectures="$arch" -o APT::Sandbox::User=root -o Acquire::Languages=none "$@"
}

# kernel_depends ARCH WORK PACKAGE: the packages that PACKAGE depends on, one a line.
kernel_depends() {
	private_apt "$1" "$2" apt-cache depends "$3" | sed -n 's/^ *|\?Depends: \(<\?\)/\1/p'
}

# kernel_package KERNEL ARCH WORK: the package of the kernel image.
kernel_package() {
	local kernel=$1 arch=$2 work=$3 suite=${debian_suites[$1]} newest exact
	newest=$(kernel_depends "$arch" "$work" "linux-image-cloud-$arch" |
		sed -n '/^linux-image-[0-9]/{p;q}')
	if [[ $newest == "linux-image-$kernel."* ]]; then
		echo "$newest"
		return
	fi
	exact=$(private_apt "$arch" "$work" apt-cache pkgnames "linux-image-$kernel." |
		sed -n "/-cloud-$arch\$/p" | sort -V | tail -n 1)
	if [[ -n $exact ]]; then
		echo "$exact"
	elif [[ -n $newest ]]; then
		say "Debian $suite has no kernel $kernel any more: taking $newest"
		echo "$newest"
	else
		die "Debian $suite has no cloud kernel for $arch"
	fi
}

# unpack_kernel KERNEL ARCH WORK: fetches the stock cloud kernel; what is in its packages comes to
# lie in WORK/root.
unpack_kernel() {
	local kernel=$1 arch=$2 work=$3 image part parts
	mkdir -p "$work/state/lists/partial" "$work/cache/archives/partial" "$work/deb" "$work/root"
	: >"$work/state/status"
	debian_sources "${debian_suites[$kernel]}" >"$work/sources.list"
	private_apt "$arch" "$work" apt-get update -qq >&2
	image=$(kernel_package "$kernel" "$arch" "$work")
	# Since 7.x the image, its modules and its config are packages of their own.
	mapfile -t parts < <(kernel_depends "$arch" "$work" "$image" |
		sed -n '/^linux-\(base\|binary\|modules\)-[0-9]/p')
	(
		cd "$work/deb"
		private_apt "$arch" "$work" apt-get download -qq "$image" "${parts[@]}" >&2
	)
	for part in "$work"/deb/*.deb; do
		dpkg-deb -x "$part" "$work/root"
	done
}
