// SPDX-License-Identifier: Apache-2.0
/* Which objects keep a probe of a canary visible where the host's tree is not there? */
#include "user/root_decoys.h"

#include "user/base.h"

/* What stands at a canary of the base tables, and below it the names that are tried first. */
struct decoy {
	const char *canary; /* "~": the agent's home */
	enum comet_place_kind kind;
	const char *below[8]; /* files */
};

#define DIRECTORY COMET_PLACE_DECOY_DIRECTORY
#define SOCKET COMET_PLACE_DECOY_SOCKET

/* Every other canary is a file. */
static const struct decoy decoys[] = {
	{ "/etc/sudoers.d", DIRECTORY, {} },
	{ "/etc/ssl/private", DIRECTORY, { "ssl-cert-snakeoil.key" } },
	{ "/etc/pki/tls/private", DIRECTORY, { "localhost.key" } },
	{ "/etc/letsencrypt", DIRECTORY, { "live", "accounts" } },
	{ "/etc/ssh",
	  DIRECTORY,
	  { "ssh_host_rsa_key", "ssh_host_ecdsa_key", "ssh_host_ed25519_key", "sshd_config" } },
	{ "/etc/wireguard", DIRECTORY, { "wg0.conf" } },
	{ "/etc/openvpn", DIRECTORY, {} },
	{ "/etc/NetworkManager/system-connections", DIRECTORY, {} },
	{ "/etc/wpa_supplicant", DIRECTORY, { "wpa_supplicant.conf" } },
	{ "/etc/ppp", DIRECTORY, { "chap-secrets", "pap-secrets" } },
	{ "/etc/credstore", DIRECTORY, {} },
	{ "/etc/credstore.encrypted", DIRECTORY, {} },
	{ "/etc/kubernetes", DIRECTORY, { "admin.conf", "kubelet.conf", "pki/ca.key" } },
	{ "/etc/rancher", DIRECTORY, { "k3s/k3s.yaml" } },
	{ "/run/credentials", DIRECTORY, {} },
	{ "/run/secrets", DIRECTORY, { "kubernetes.io/serviceaccount/token" } },
	{ "/var/run/secrets", DIRECTORY, { "kubernetes.io/serviceaccount/token" } },

	{ "~/.ssh",
	  DIRECTORY,
	  { "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "config", "authorized_keys",
	    "known_hosts" } },
	{ "~/.aws", DIRECTORY, { "credentials", "config" } },
	{ "~/.azure",
	  DIRECTORY,
	  { "accessTokens.json", "azureProfile.json", "msal_token_cache.json" } },
	{ "~/.gnupg", DIRECTORY, { "secring.gpg", "pubring.kbx", "trustdb.gpg" } },
	{ "~/.kube", DIRECTORY, { "config" } },
	{ "~/.docker", DIRECTORY, { "config.json" } },
	{ "~/.password-store", DIRECTORY, {} },
	{ "~/.mozilla", DIRECTORY, { "firefox" } },
	{ "~/.config/gcloud",
	  DIRECTORY,
	  { "application_default_credentials.json", "credentials.db", "access_tokens.db" } },
	{ "~/.config/gh", DIRECTORY, { "hosts.yml" } },
	{ "~/.config/github-copilot", DIRECTORY, { "hosts.json", "apps.json" } },
	{ "~/.config/rclone", DIRECTORY, { "rclone.conf" } },
	{ "~/.config/op", DIRECTORY, { "config" } },
	{ "~/.config/sops", DIRECTORY, { "age/keys.txt" } },
	{ "~/.config/google-chrome", DIRECTORY, { "Default/Cookies", "Default/Login Data" } },
	{ "~/.config/chromium", DIRECTORY, { "Default/Cookies", "Default/Login Data" } },
	{ "~/.local/share/keyrings", DIRECTORY, { "login.keyring" } },
	{ "~/.local/share/kwalletd", DIRECTORY, { "kdewallet.kwl" } },

	{ "/home", DIRECTORY, {} },
	{ "/root",
	  DIRECTORY,
	  { ".ssh/id_rsa", ".ssh/id_ed25519", ".ssh/authorized_keys", ".aws/credentials",
	    ".bash_history", ".netrc" } },
	{ "/var/spool/cron", DIRECTORY, { "crontabs/root", "root" } },
	{ "/var/backups", DIRECTORY, { "shadow.bak", "passwd.bak" } },

	{ "/run/docker.sock", SOCKET, {} },
	{ "/var/run/docker.sock", SOCKET, {} },
	{ "/run/containerd/containerd.sock", SOCKET, {} },
	{ "/run/podman/podman.sock", SOCKET, {} },
	{ "/run/crio/crio.sock", SOCKET, {} },
	{ "/var/lib/docker", DIRECTORY, { "containers", "volumes" } },
	{ "/var/lib/containerd", DIRECTORY, {} },
	{ "/var/lib/kubelet", DIRECTORY, { "kubeconfig", "config.yaml", "pki" } },

	{ "/sys/kernel/debug", DIRECTORY, { "kprobes" } },
	{ "/sys/kernel/tracing", DIRECTORY, { "trace", "tracing_on", "kprobe_events" } },
	{ "/sys/fs/bpf", DIRECTORY, {} },
	{ "/sys/firmware/efi/efivars", DIRECTORY, {} },
};

static bool matches(const char *canary, const char *path)
{
	size_t n = strlen(path), tail = strlen(canary) - 1;

	if (canary[0] != '~')
		return streq(canary, path);
	return n >= tail && streq(path + n - tail, canary + 1);
}

static const struct decoy *find_decoy(const char *path)
{
	size_t i;

	for (i = 0; i < COMET_ARRAY_SIZE(decoys); i++)
		if (matches(decoys[i].canary, path))
			return &decoys[i];
	return NULL;
}

static int add(struct comet_place *root, const char *path, enum comet_place_kind kind)
{
	struct comet_place *place = comet_place_reach(root, path);

	if (!place)
		return errno == ELOOP ? -ELOOP : -ENOMEM;
	/* A directory on the way to what is granted shows itself as the host's does. */
	if (comet_place_is_inside(place) || place->kind != COMET_PLACE_WAY || place->passed)
		return 0;
	if (kind == DIRECTORY || !place->n_children)
		place->kind = kind;
	return 0;
}

static int add_below(struct comet_place *root, const char *path, const struct decoy *decoy)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < COMET_ARRAY_SIZE(decoy->below) && decoy->below[i]; i++) {
		_cleanup_free_ char *below = NULL;

		if (asprintf(&below, "%s/%s", path, decoy->below[i]) < 0) {
			below = NULL;
			return -ENOMEM;
		}
		r = add(root, below, COMET_PLACE_DECOY_FILE);
	}
	return r;
}

int comet_root_add_decoys(struct comet_place *root, const struct comet_policy *policy)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < policy->n_paths; i++) {
		const struct comet_path_rule *rule = &policy->paths[i];
		const struct decoy *decoy = find_decoy(rule->path);

		if (rule->source != COMET_SOURCE_CANARY)
			continue;
		r = add(root, rule->path, decoy ? decoy->kind : COMET_PLACE_DECOY_FILE);
		if (r == 0 && decoy)
			r = add_below(root, rule->path, decoy);
	}
	return r;
}
