# SPDX-License-Identifier: Apache-2.0
# How is Comet built, checked and installed? Everything goes to $(O); `make help` lists the targets.

O ?= out
V ?= 0
VERSION := 0.1.0

prefix ?= /usr/local
bindir ?= $(prefix)/bin
mandir ?= $(prefix)/share/man

CC ?= gcc
CLANG ?= clang
BPFTOOL ?= $(shell command -v bpftool || echo /usr/sbin/bpftool)
PKG_CONFIG ?= pkg-config
SCDOC ?= scdoc
ARCH ?= $(shell uname -m | sed -e 's/x86_64/x86/' -e 's/aarch64/arm64/')

.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n' "$(1)" "$(patsubst $(CURDIR)/%,%,$(2))"
endif

LIBS := libbpf libelf zlib yaml-0.1 jansson libcap-ng
WARN := -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
	-Wshadow -Wwrite-strings -Wformat=2 -Wswitch-enum
CPPFLAGS += -I. -I$(O) -D_GNU_SOURCE -DCOMET_VERSION='"$(VERSION)"'
CFLAGS ?= -O2 -g -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fPIE
LDFLAGS ?= -pie -Wl,-z,relro,-z,now
CFLAGS_ALL = -std=gnu11 $(WARN) $(CFLAGS) $(shell $(PKG_CONFIG) --cflags $(LIBS))
LDLIBS = $(shell $(PKG_CONFIG) --libs $(LIBS)) -lpthread

# The linker wants definitions before their users.
BPF_SRC := bpf/maps.bpf.c bpf/cgroup.bpf.c \
	$(filter-out bpf/maps.bpf.c bpf/cgroup.bpf.c,$(sort $(wildcard bpf/*.bpf.c)))
MANIFEST_SRC := $(sort $(wildcard manifest/*.c))
# fault.c is for test builds alone.
USER_SRC := $(filter-out user/fault.c,$(sort $(wildcard user/*.c)))
FAULT_SRC := $(USER_SRC) user/fault.c
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
PROBE_SRC := $(sort $(wildcard tests/vm/probes/*.c))
COVERAGE_SRC := $(sort $(wildcard tests/coverage/*.c))
BENCH_SRC := $(sort $(wildcard tests/bench/*.c))

BPF_OBJ := $(BPF_SRC:%.bpf.c=$(O)/$(ARCH)/%.bpf.o)
OBJ := $(MANIFEST_SRC:%.c=$(O)/%.o) $(USER_SRC:%.c=$(O)/%.o)
FAULT_OBJ := $(MANIFEST_SRC:%.c=$(O)/%.o) $(FAULT_SRC:%.c=$(O)/faults.o/%.o)
UNIT := $(UNIT_SRC:%.c=$(O)/%)
FUZZ := $(FUZZ_SRC:%.c=$(O)/%)
PROBES := $(PROBE_SRC:%.c=$(O)/%)
COVERAGE_OBJ := $(COVERAGE_SRC:%.c=$(O)/%.o)
BENCHES := $(BENCH_SRC:%.c=$(O)/%)
MAN := $(patsubst docs/%.scd,$(O)/man/%,$(wildcard docs/*.scd))

KERNELS ?= 6.1 6.12 7.2
FUZZ_RUNS ?= 1000000
SMOKE_RUNS ?= 50000

# Build and test need packages that a fresh machine lacks; `setup` installs what is missing.
.PHONY: all help setup setup-test check check-vm check-fuzz fuzz-smoke coverage test demo bench \
	arm64 format install clean lint faults

all: $(O)/comet $(MAN) ## build the program, the BPF objects and the man page

help: ## this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
	@echo; echo "  Variables: O=$(O) V=1 DESTDIR= prefix=$(prefix) KERNELS=\"$(KERNELS)\""

setup: ## install what the build needs (apt)
	$(Q)scripts/setup.sh build

setup-test: ## install what build and tests need (apt)
	$(Q)scripts/setup.sh test

# BPF side: one object per question, linked into one, one skeleton.
BPF_CFLAGS := -g -O2 -mcpu=v3 -target bpf -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter -Wno-unused-function \
	-Wno-missing-declarations -I. -isystem vmlinux

$(O)/x86/bpf/%.bpf.o: bpf/%.bpf.c vmlinux/x86/vmlinux.h
	$(call say,CLANG,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -D__TARGET_ARCH_x86 -isystem vmlinux/x86 \
		-isystem /usr/include/x86_64-linux-gnu -MMD -MP -c $< -o $@

$(O)/arm64/bpf/%.bpf.o: bpf/%.bpf.c vmlinux/arm64/vmlinux.h
	$(call say,CLANG,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -D__TARGET_ARCH_arm64 -isystem vmlinux/arm64 \
		-isystem /usr/include/x86_64-linux-gnu -MMD -MP -c $< -o $@

$(O)/comet.bpf.o: $(BPF_OBJ) Makefile
	$(call say,BPFLINK,$@)
	$(Q)$(BPFTOOL) gen object $@ $(BPF_OBJ)

$(O)/comet.skel.h: $(O)/comet.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name comet_bpf > $@

arm64: $(BPF_SRC:%.bpf.c=$(O)/arm64/%.bpf.o) ## compile the BPF side for arm64

# User side.
$(O)/user/%.o: user/%.c | $(O)/comet.skel.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

$(O)/manifest/%.o: manifest/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

$(O)/comet: $(OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

# The same program with COMET_FAULT (user/fault.c): it breaks itself on demand, for tests.
$(O)/faults.o/user/%.o: user/%.c | $(O)/comet.skel.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS_ALL) -DCOMET_FAULTS -MMD -MP -c $< -o $@

$(O)/faults/comet: $(FAULT_OBJ)
	$(call say,LD,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $^ $(LDLIBS) -o $@

faults: $(O)/faults/comet ## build the test program that breaks itself on demand

$(O)/man/%: docs/%.scd
	$(call say,MAN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(SCDOC) < $< > $@

# Unit tests: the sources again, with sanitizers, as one library; everything but main().
SAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
SAN_CFLAGS = -std=gnu11 $(WARN) -O1 -g $(SAN) $(shell $(PKG_CONFIG) --cflags $(LIBS))
SAN_OBJ := $(patsubst %.c,$(O)/san/%.o,$(MANIFEST_SRC) $(filter-out user/main.c,$(USER_SRC)))

$(O)/san/user/%.o: user/%.c | $(O)/comet.skel.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(SAN_CFLAGS) -MMD -MP -c $< -o $@

$(O)/san/manifest/%.o: manifest/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(SAN_CFLAGS) -MMD -MP -c $< -o $@

$(O)/san/libcomet.a: $(SAN_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(O)/tests/unit/%: tests/unit/%.c $(O)/san/libcomet.a
	$(call say,UNIT,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(SAN_CFLAGS) -MMD -MP -MF $@.d -MT $@ $< $(O)/san/libcomet.a \
		$(LDLIBS) -lcmocka -o $@

# Fuzzing: clang's libFuzzer over the same sources.
FUZZ_CFLAGS = -std=gnu11 -O1 -g -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=all $(shell $(PKG_CONFIG) --cflags $(LIBS))
FUZZ_OBJ := $(patsubst %.c,$(O)/fuzz/%.o,$(MANIFEST_SRC) user/events.c user/scope.c \
	$(wildcard user/scope_*.c) user/text.c $(wildcard user/ulid.c))

$(O)/fuzz/%.o: %.c | $(O)/comet.skel.h
	$(call say,CLANG,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(CPPFLAGS) $(FUZZ_CFLAGS) -MMD -MP -c $< -o $@

$(O)/tests/fuzz/%: tests/fuzz/%.c $(FUZZ_OBJ)
	$(call say,FUZZ,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(CPPFLAGS) $(FUZZ_CFLAGS) -fsanitize=fuzzer -MMD -MP -MF $@.d -MT $@ $< \
		$(FUZZ_OBJ) $(LDLIBS) -o $@

# Static helpers that the VM tests and the benchmark run inside.
$(O)/tests/vm/probes/%: tests/vm/probes/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(WARN) -O2 -g -static -MMD -MP -MF $@.d -MT $@ $< \
		-lpthread -o $@

# What a test plants for another program to load.
$(O)/tests/vm/probes/%.so: tests/vm/probes/%.so.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(WARN) -O2 -g -shared -fPIC -MMD -MP -MF $@.d -MT $@ $< \
		-o $@

# All roads in one static program; each table announces itself.
$(O)/tests/coverage/%.o: tests/coverage/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(WARN) -O2 -g -MMD -MP -c $< -o $@

$(O)/tests/coverage/roads: $(COVERAGE_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) -static $^ -lpthread -o $@

$(O)/tests/bench/%: tests/bench/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) -std=gnu11 $(WARN) -O2 -g -static -MMD -MP -MF $@.d -MT $@ $< -o $@

check: setup-test ## unit tests: no privileges, sanitizers on
	$(Q)$(MAKE) --no-print-directory check-unit

.PHONY: check-unit check-vm-run
check-unit: $(UNIT)
	$(Q)scripts/check-unit.sh $(UNIT)

check-vm: setup-test all faults $(PROBES) ## end-to-end tests in VMs, KERNELS="6.1 6.12 7.2"
	$(Q)COMET_OUT=$(O) scripts/check-vm.sh $(KERNELS)

check-fuzz: setup-test $(FUZZ) ## FUZZ_RUNS mutations per fuzz target
	$(Q)FUZZ_RUNS=$(FUZZ_RUNS) scripts/check-fuzz.sh $(FUZZ)

coverage: setup-test all faults $(O)/tests/coverage/roads ## all roads in VMs: docs/coverage.md
	$(Q)COMET_OUT=$(O) scripts/coverage.sh $(KERNELS)

test: ## everything: set-up, build, unit, fuzz smoke, VM tests on all kernels
	$(Q)scripts/test.sh

demo: ## the main job on real input: an honest agent, then the same one turned
	$(Q)COMET_OUT=$(O) scripts/demo.sh

bench: setup-test all $(BENCHES) ## instruction counts of the hooks, in a VM
	$(Q)COMET_OUT=$(O) scripts/bench.sh $(KERNELS)

lint: setup-test ## shellcheck over the scripts
	$(Q)shellcheck -x $(shell git ls-files '*.sh' scripts/vm .ci/run)

format: ## clang-format over the C sources
	$(Q)clang-format -i $(wildcard bpf/*.[ch] user/*.[ch] manifest/*.[ch] tests/*/*.c)

install: all ## into DESTDIR and prefix
	install -D -m 0755 $(O)/comet $(DESTDIR)$(bindir)/comet
	install -D -m 0644 $(O)/man/comet.1 $(DESTDIR)$(mandir)/man1/comet.1

clean: ## remove $(O)
	$(Q)rm -rf $(O)

-include $(shell find $(O) -name '*.d' 2>/dev/null)
