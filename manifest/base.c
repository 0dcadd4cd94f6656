// SPDX-License-Identifier: Apache-2.0
/*
 * What does every run get without asking, which refused reads are ordinary probes, and which are
 * never?
 */
#include "manifest/base.h"

#define READ COMET_FS_READ
#define READ_WRITE (COMET_FS_READ | COMET_FS_WRITE)
#define LINK COMET_FS_STAT
#define QUIET COMET_FS_QUIET
#define CANARY COMET_FS_CANARY
#define TREE COMET_BASE_TREE
#define SELF COMET_BASE_SELF
#define PROC COMET_BASE_PROC

#define SYSTEM "programs and libraries"
#define LOADER "dynamic loader"
#define ACCOUNTS "names of users and groups"
#define NAMES "looking up hosts and services"
#define LOCALE "language and time zone"
#define TLS "certificate authorities and TLS settings"
#define SHELL "start of a shell"
#define RELEASE "which system this is"
#define SETTINGS "settings of common programs"
#define PYTHON "settings of Python"
#define DEVICE "devices without content"
#define PROCESS "the run's own processes"
#define KERNEL "what kernel and machine this is"

/*
 * Only what is the same for every user of the host and holds no secret. Not here on purpose:
 * machine-id and boot_id (they identify the host), environment (often holds tokens), profile and
 * bashrc (they start programs, which would be refused; shells do without them),
 * /proc/cmdline, the host's /dev/shm (a run has its own), /tmp, /sys/fs/cgroup.
 */
static const struct comet_base_entry base[] = {
	{ "/usr", SYSTEM, READ, TREE },
	{ "/lib", SYSTEM, READ, TREE },
	{ "/lib32", SYSTEM, READ, TREE },
	{ "/lib64", SYSTEM, READ, TREE },
	{ "/libx32", SYSTEM, READ, TREE },
	{ "/bin", SYSTEM, READ, TREE },
	{ "/sbin", SYSTEM, READ, TREE },
	{ "/etc/alternatives", SYSTEM, READ, TREE },

	{ "/etc/ld.so.cache", LOADER, READ, TREE },
	{ "/etc/ld.so.conf", LOADER, READ, TREE },
	{ "/etc/ld.so.conf.d", LOADER, READ, TREE },
	{ "/etc/ld.so.preload", LOADER, READ, TREE },

	{ "/etc/passwd", ACCOUNTS, READ, TREE },
	{ "/etc/group", ACCOUNTS, READ, TREE },
	{ "/etc/nsswitch.conf", ACCOUNTS, READ, TREE },

	{ "/etc/resolv.conf", NAMES, READ, TREE },
	{ "/etc/hosts", NAMES, READ, TREE },
	{ "/etc/host.conf", NAMES, READ, TREE },
	{ "/etc/gai.conf", NAMES, READ, TREE },
	{ "/etc/services", NAMES, READ, TREE },
	{ "/etc/protocols", NAMES, READ, TREE },
	{ "/etc/networks", NAMES, READ, TREE },

	{ "/etc/localtime", LOCALE, READ, TREE },
	{ "/etc/timezone", LOCALE, READ, TREE },
	{ "/etc/locale.alias", LOCALE, READ, TREE },
	{ "/etc/locale.conf", LOCALE, READ, TREE },
	{ "/etc/default/locale", LOCALE, READ, TREE },

	{ "/etc/ssl/certs", TLS, READ, TREE },
	{ "/etc/ssl/cert.pem", TLS, READ, TREE },
	{ "/etc/ssl/openssl.cnf", TLS, READ, TREE },
	{ "/etc/ca-certificates", TLS, READ, TREE },
	{ "/etc/ca-certificates.conf", TLS, READ, TREE },
	{ "/etc/pki/tls/certs", TLS, READ, TREE },
	{ "/etc/pki/tls/cert.pem", TLS, READ, TREE },
	{ "/etc/pki/tls/openssl.cnf", TLS, READ, TREE },
	{ "/etc/pki/ca-trust", TLS, READ, TREE },
	{ "/etc/crypto-policies", TLS, READ, TREE },
	{ "/etc/gnutls/config", TLS, READ, TREE },

	{ "/etc/inputrc", SHELL, READ, TREE },
	{ "/etc/terminfo", SHELL, READ, TREE },
	{ "/etc/shells", SHELL, READ, TREE },

	{ "/etc/os-release", RELEASE, READ, TREE },
	{ "/etc/debian_version", RELEASE, READ, TREE },
	{ "/etc/lsb-release", RELEASE, READ, TREE },

	{ "/etc/mime.types", SETTINGS, READ, TREE },
	{ "/etc/magic", SETTINGS, READ, TREE },
	/* Which attributes cp -a leaves out: without it, it tries to copy all. */
	{ "/etc/xattr.conf", SETTINGS, READ, TREE },
	{ "/etc/fonts", SETTINGS, READ, TREE },
	{ "/etc/gitconfig", SETTINGS, READ, TREE },
	{ "/etc/perl", SETTINGS, READ, TREE },
	{ "/etc/python3", PYTHON, READ, TREE },
	{ "/etc/python3.9", PYTHON, READ, TREE },
	{ "/etc/python3.10", PYTHON, READ, TREE },
	{ "/etc/python3.11", PYTHON, READ, TREE },
	{ "/etc/python3.12", PYTHON, READ, TREE },
	{ "/etc/python3.13", PYTHON, READ, TREE },
	{ "/etc/python3.14", PYTHON, READ, TREE },
	{ "/etc/python3.15", PYTHON, READ, TREE },

	{ "/dev/null", DEVICE, READ_WRITE, TREE },
	{ "/dev/zero", DEVICE, READ_WRITE, TREE },
	{ "/dev/full", DEVICE, READ_WRITE, TREE },
	{ "/dev/random", DEVICE, READ_WRITE, TREE },
	{ "/dev/urandom", DEVICE, READ_WRITE, TREE },
	{ "/dev/tty", "the run's own terminal", READ_WRITE, TREE },
	{ "/dev/fd", PROCESS, LINK, SELF },
	{ "/dev/stdin", PROCESS, LINK, SELF },
	{ "/dev/stdout", PROCESS, LINK, SELF },
	{ "/dev/stderr", PROCESS, LINK, SELF },

	{ "/proc", PROCESS, READ, PROC },
	{ "/proc/self", PROCESS, LINK, SELF },
	{ "/proc/thread-self", PROCESS, LINK, SELF },
	{ "/proc/mounts", PROCESS, LINK, SELF },
	{ "/proc/net", PROCESS, LINK, SELF },
	{ "/proc/cpuinfo", KERNEL, READ, TREE },
	{ "/proc/meminfo", KERNEL, READ, TREE },
	{ "/proc/stat", KERNEL, READ, TREE },
	{ "/proc/uptime", KERNEL, READ, TREE },
	{ "/proc/loadavg", KERNEL, READ, TREE },
	{ "/proc/version", KERNEL, READ, TREE },
	{ "/proc/filesystems", KERNEL, READ, TREE },
	{ "/proc/sys/crypto/fips_enabled", KERNEL, READ, TREE },
	{ "/proc/sys/fs/file-max", KERNEL, READ, TREE },
	{ "/proc/sys/fs/inotify", KERNEL, READ, TREE },
	{ "/proc/sys/fs/nr_open", KERNEL, READ, TREE },
	{ "/proc/sys/fs/pipe-max-size", KERNEL, READ, TREE },
	{ "/proc/sys/kernel/cap_last_cap", KERNEL, READ, TREE },
	{ "/proc/sys/kernel/hostname", KERNEL, READ, TREE },
	{ "/proc/sys/kernel/ngroups_max", KERNEL, READ, TREE },
	{ "/proc/sys/kernel/osrelease", KERNEL, READ, TREE },
	{ "/proc/sys/kernel/ostype", KERNEL, READ, TREE },
	{ "/proc/sys/kernel/overflowgid", KERNEL, READ, TREE },
	{ "/proc/sys/kernel/overflowuid", KERNEL, READ, TREE },
	{ "/proc/sys/kernel/pid_max", KERNEL, READ, TREE },
	{ "/proc/sys/kernel/random/entropy_avail", KERNEL, READ, TREE },
	{ "/proc/sys/kernel/random/poolsize", KERNEL, READ, TREE },
	{ "/proc/sys/kernel/random/uuid", KERNEL, READ, TREE },
	{ "/proc/sys/kernel/threads-max", KERNEL, READ, TREE },
	{ "/proc/sys/kernel/version", KERNEL, READ, TREE },
	{ "/proc/sys/net/core/somaxconn", KERNEL, READ, TREE },
	{ "/proc/sys/vm/max_map_count", KERNEL, READ, TREE },
	{ "/proc/sys/vm/mmap_min_addr", KERNEL, READ, TREE },
	{ "/proc/sys/vm/overcommit_memory", KERNEL, READ, TREE },
	{ "/sys/devices/system/cpu", KERNEL, READ, TREE },
	{ "/sys/devices/system/node", KERNEL, READ, TREE },
	{ "/sys/kernel/mm/transparent_hugepage", KERNEL, READ, TREE },
};

#define HOME_PROBE "start-up file in the agent's home"
#define ETC_PROBE "settings of the host"
#define KERNEL_PROBE "what the machine is and does"

/* A read refused here is an ordinary probe. Nothing here is granted. */
static const struct comet_base_entry quiet[] = {
	{ "~", HOME_PROBE, QUIET, SELF },
	{ "~/.bash_aliases", HOME_PROBE, QUIET, TREE },
	{ "~/.bash_history", HOME_PROBE, QUIET, TREE },
	{ "~/.bash_login", HOME_PROBE, QUIET, TREE },
	{ "~/.bash_logout", HOME_PROBE, QUIET, TREE },
	{ "~/.bash_profile", HOME_PROBE, QUIET, TREE },
	{ "~/.bashrc", HOME_PROBE, QUIET, TREE },
	{ "~/.cache", HOME_PROBE, QUIET, TREE },
	{ "~/.config", HOME_PROBE, QUIET, TREE },
	{ "~/.curlrc", HOME_PROBE, QUIET, TREE },
	{ "~/.editrc", HOME_PROBE, QUIET, TREE },
	{ "~/.gitconfig", HOME_PROBE, QUIET, TREE },
	{ "~/.hushlogin", HOME_PROBE, QUIET, TREE },
	{ "~/.inputrc", HOME_PROBE, QUIET, TREE },
	{ "~/.local", HOME_PROBE, QUIET, TREE },
	{ "~/.node_libraries", HOME_PROBE, QUIET, TREE },
	{ "~/.node_modules", HOME_PROBE, QUIET, TREE },
	{ "~/.node_repl_history", HOME_PROBE, QUIET, TREE },
	{ "~/.nodejs", HOME_PROBE, QUIET, TREE },
	{ "~/.nvm", HOME_PROBE, QUIET, TREE },
	{ "~/.profile", HOME_PROBE, QUIET, TREE },
	{ "~/.pyenv", HOME_PROBE, QUIET, TREE },
	{ "~/.python_history", HOME_PROBE, QUIET, TREE },
	{ "~/.terminfo", HOME_PROBE, QUIET, TREE },
	{ "~/.wgetrc", HOME_PROBE, QUIET, TREE },

	{ "/etc", ETC_PROBE, QUIET, TREE },
	{ "/etc/ssh/ssh_config", ETC_PROBE, QUIET, TREE },
	{ "/etc/ssh/ssh_config.d", ETC_PROBE, QUIET, TREE },
	{ "/etc/ssh/ssh_known_hosts", ETC_PROBE, QUIET, TREE },
	{ "/run/host", "user names from the container manager", QUIET, TREE },
	{ "/run/nscd", "names from the host's cache", QUIET, TREE },
	{ "/run/systemd", "user names and state of the system manager", QUIET, TREE },
	{ "/var/lib/sss/mc", "user names from the host's domain", QUIET, TREE },
	{ "/var/lib/sss/pipes", "user names from the host's domain", QUIET, TREE },
	{ "/dev", "names of devices", QUIET, SELF },
	{ "/dev/pts", "the name of the terminal", QUIET, TREE },

	{ "/sys", KERNEL_PROBE, QUIET, TREE },
	{ "/proc/bus", KERNEL_PROBE, QUIET, TREE },
	{ "/proc/cgroups", KERNEL_PROBE, QUIET, TREE },
	{ "/proc/cmdline", KERNEL_PROBE, QUIET, TREE },
	{ "/proc/devices", KERNEL_PROBE, QUIET, TREE },
	{ "/proc/diskstats", KERNEL_PROBE, QUIET, TREE },
	{ "/proc/interrupts", KERNEL_PROBE, QUIET, TREE },
	{ "/proc/modules", KERNEL_PROBE, QUIET, TREE },
	{ "/proc/partitions", KERNEL_PROBE, QUIET, TREE },
	{ "/proc/pressure", KERNEL_PROBE, QUIET, TREE },
	{ "/proc/swaps", KERNEL_PROBE, QUIET, TREE },
	{ "/proc/sys", KERNEL_PROBE, QUIET, TREE },
	{ "/proc/vmstat", KERNEL_PROBE, QUIET, TREE },
	{ "/proc/zoneinfo", KERNEL_PROBE, QUIET, TREE },
};

#define PASSWORDS "password hashes of the host"
#define HOST_KEYS "keys of the host"
#define CREDENTIALS "credentials of a user"
#define HOMES "homes of other users"
#define ENGINE "control of the container engine"
#define MEMORY "memory of the kernel"
#define TASKS "jobs and data of other users"

/*
 * A refused read here is always a violation, also beneath a quiet directory. The grants of a
 * manifest are not narrowed by it: who declares /etc has declared /etc/shadow.
 */
static const struct comet_base_entry canaries[] = {
	{ "/etc/shadow", PASSWORDS, CANARY, TREE },
	{ "/etc/shadow-", PASSWORDS, CANARY, TREE },
	{ "/etc/gshadow", PASSWORDS, CANARY, TREE },
	{ "/etc/gshadow-", PASSWORDS, CANARY, TREE },
	{ "/etc/security/opasswd", PASSWORDS, CANARY, TREE },
	{ "/etc/sudoers", "rights of users", CANARY, TREE },
	{ "/etc/sudoers.d", "rights of users", CANARY, TREE },

	{ "/etc/ssl/private", HOST_KEYS, CANARY, TREE },
	{ "/etc/pki/tls/private", HOST_KEYS, CANARY, TREE },
	{ "/etc/letsencrypt", HOST_KEYS, CANARY, TREE },
	{ "/etc/ssh", HOST_KEYS, CANARY, TREE },
	{ "/etc/krb5.keytab", HOST_KEYS, CANARY, TREE },
	{ "/etc/ipsec.secrets", HOST_KEYS, CANARY, TREE },
	{ "/etc/wireguard", HOST_KEYS, CANARY, TREE },
	{ "/etc/openvpn", HOST_KEYS, CANARY, TREE },
	{ "/etc/NetworkManager/system-connections", HOST_KEYS, CANARY, TREE },
	{ "/etc/wpa_supplicant", HOST_KEYS, CANARY, TREE },
	{ "/etc/ppp", HOST_KEYS, CANARY, TREE },
	{ "/etc/credstore", HOST_KEYS, CANARY, TREE },
	{ "/etc/credstore.encrypted", HOST_KEYS, CANARY, TREE },
	{ "/etc/kubernetes", HOST_KEYS, CANARY, TREE },
	{ "/etc/rancher", HOST_KEYS, CANARY, TREE },
	{ "/etc/mysql/debian.cnf", HOST_KEYS, CANARY, TREE },
	{ "/run/credentials", HOST_KEYS, CANARY, TREE },
	{ "/run/secrets", HOST_KEYS, CANARY, TREE },
	{ "/var/run/secrets", HOST_KEYS, CANARY, TREE },

	{ "~/.ssh", CREDENTIALS, CANARY, TREE },
	{ "~/.aws", CREDENTIALS, CANARY, TREE },
	{ "~/.azure", CREDENTIALS, CANARY, TREE },
	{ "~/.gnupg", CREDENTIALS, CANARY, TREE },
	{ "~/.kube", CREDENTIALS, CANARY, TREE },
	{ "~/.docker", CREDENTIALS, CANARY, TREE },
	{ "~/.netrc", CREDENTIALS, CANARY, TREE },
	{ "~/.npmrc", CREDENTIALS, CANARY, TREE },
	{ "~/.pypirc", CREDENTIALS, CANARY, TREE },
	{ "~/.pgpass", CREDENTIALS, CANARY, TREE },
	{ "~/.my.cnf", CREDENTIALS, CANARY, TREE },
	{ "~/.git-credentials", CREDENTIALS, CANARY, TREE },
	{ "~/.vault-token", CREDENTIALS, CANARY, TREE },
	{ "~/.password-store", CREDENTIALS, CANARY, TREE },
	{ "~/.mozilla", CREDENTIALS, CANARY, TREE },
	{ "~/.config/gcloud", CREDENTIALS, CANARY, TREE },
	{ "~/.config/gh", CREDENTIALS, CANARY, TREE },
	{ "~/.config/hub", CREDENTIALS, CANARY, TREE },
	{ "~/.config/git/credentials", CREDENTIALS, CANARY, TREE },
	{ "~/.config/pypoetry/auth.toml", CREDENTIALS, CANARY, TREE },
	{ "~/.config/containers/auth.json", CREDENTIALS, CANARY, TREE },
	{ "~/.config/github-copilot", CREDENTIALS, CANARY, TREE },
	{ "~/.config/rclone", CREDENTIALS, CANARY, TREE },
	{ "~/.config/op", CREDENTIALS, CANARY, TREE },
	{ "~/.config/sops", CREDENTIALS, CANARY, TREE },
	{ "~/.config/google-chrome", CREDENTIALS, CANARY, TREE },
	{ "~/.config/chromium", CREDENTIALS, CANARY, TREE },
	{ "~/.cache/huggingface/token", CREDENTIALS, CANARY, TREE },
	{ "~/.local/share/keyrings", CREDENTIALS, CANARY, TREE },
	{ "~/.local/share/kwalletd", CREDENTIALS, CANARY, TREE },

	{ "/home", HOMES, CANARY, TREE },
	{ "/root", HOMES, CANARY, TREE },
	{ "/var/spool/cron", TASKS, CANARY, TREE },
	{ "/var/backups", TASKS, CANARY, TREE },

	{ "/run/docker.sock", ENGINE, CANARY, TREE },
	{ "/var/run/docker.sock", ENGINE, CANARY, TREE },
	{ "/run/containerd/containerd.sock", ENGINE, CANARY, TREE },
	{ "/run/podman/podman.sock", ENGINE, CANARY, TREE },
	{ "/run/crio/crio.sock", ENGINE, CANARY, TREE },
	{ "/var/lib/docker", ENGINE, CANARY, TREE },
	{ "/var/lib/containerd", ENGINE, CANARY, TREE },
	{ "/var/lib/kubelet", ENGINE, CANARY, TREE },

	{ "/dev/mem", MEMORY, CANARY, TREE },
	{ "/dev/kmem", MEMORY, CANARY, TREE },
	{ "/dev/port", MEMORY, CANARY, TREE },
	{ "/dev/kmsg", MEMORY, CANARY, TREE },
	{ "/proc/kcore", MEMORY, CANARY, TREE },
	{ "/proc/kmsg", MEMORY, CANARY, TREE },
	{ "/proc/kallsyms", MEMORY, CANARY, TREE },
	{ "/sys/kernel/debug", MEMORY, CANARY, TREE },
	{ "/sys/kernel/tracing", MEMORY, CANARY, TREE },
	{ "/sys/fs/bpf", "what holds the run", CANARY, TREE },
	{ "/sys/firmware/efi/efivars", HOST_KEYS, CANARY, TREE },
};

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

const struct comet_base_entry *comet_base_table(enum comet_source source, size_t *n)
{
	switch (source) {
	case COMET_SOURCE_BASE:
		*n = ROWS(base);
		return base;
	case COMET_SOURCE_QUIET:
		*n = ROWS(quiet);
		return quiet;
	case COMET_SOURCE_CANARY:
		*n = ROWS(canaries);
		return canaries;
	case COMET_SOURCE_MANIFEST:
	case COMET_SOURCE_RUN:
	case _COMET_SOURCE_MAX:
		break;
	}
	*n = 0;
	return NULL;
}
