# claude-swarm. CI runs `make check`; CONTRIBUTING.md explains the other targets.

comma         := ,
empty         :=
space         := $(empty) $(empty)
# The pattern that selects all tests with the given names.
pattern        = ^($(subst $(space),|,$(strip $(1))))$$$$
STATICCHECK   := v0.8.2
# nfpm makes deb and rpm. Version 2.46 and later need modules from a server of their own.
NFPM_VERSION  := v2.45.2
TOOLS         := $(CURDIR)/.tools
NFPM          ?= $(TOOLS)/nfpm/$(NFPM_VERSION)/nfpm
# clients.lock names the clients, as NAME PACKAGE PROGRAM OLDEST NEWEST …. Only the shell itself
# reads it, because `make test` must not need sed or awk.
CLIENTS_LOCK  := $(shell while read -r name package program oldest newest rest; do case $$name in ([a-z]*) \
	echo "$$name:$$package:$$program:$$oldest:$$newest" ;; esac; done <clients.lock)
locked         = $(word $(1),$(subst :, ,$(2)))
CLAUDE        := $(filter claude:%,$(CLIENTS_LOCK))
CLI_OLDEST    := $(call locked,4,$(CLAUDE))
CLI_NEWEST    := $(call locked,5,$(CLAUDE))
# The client version for the end-to-end tests: oldest, newest or a version number.
CLI           ?= newest
CLI_VERSION   := $(patsubst oldest,$(CLI_OLDEST),$(patsubst newest,$(CLI_NEWEST),$(CLI)))
CLI_FILE       = $(TOOLS)/claude/$(1)/node_modules/.bin/claude
# An independent MCP client: the command line of the MCP inspector, without its web page.
# It is a quarter of the size of the full inspector.
INSPECTOR_VERSION := 0.22.0
INSPECTOR_SDK := 1.32.2
INSPECTOR     := $(TOOLS)/inspector/node_modules/.bin/mcp-inspector-cli
# The coding agents that speak the Agent Client Protocol.
ACP_CLIENTS   := $(filter-out $(CLAUDE),$(CLIENTS_LOCK))
acp_dir        = $(TOOLS)/acp/$(call locked,1,$(1))/$(call locked,5,$(1))
acp_file       = $(call acp_dir,$(1))/node_modules/.bin/$(call locked,3,$(1))
ACP_FILES     := $(foreach c,$(ACP_CLIENTS),$(call acp_file,$(c)))
# The number of inputs for each fuzz target. A duration works too, but go then reports an
# error for some targets.
FUZZTIME      ?= 3000x
# A short way to run tests and sum them up. SLOW=20 names the slowest ones.
TESTRUN       := go run ./internal/testkit/testrun $(if $(SLOW),-slow $(SLOW)) --
# The packages whose tests only read source files. `make lint` runs them.
READERS       := internal/floorplan docs
# The packages whose tests run real clients. They have targets of their own.
CLIENTS       := internal/e2e internal/e2e/backends internal/e2e/image internal/e2e/packages
MODULE         = $(shell go list -m)
# The slowest packages, which go test begins with. Their tests mostly wait, for servers and
# for other processes, so twice as many packages run at the same time as there are cores.
# For the same reason, so do tests with the real client.
SLOWEST       := ircbridge swarm cmd/claude-swarm internal/testkit/torture dropbox
TESTED         = $(addprefix $(MODULE)/,$(SLOWEST)) \
	$(filter-out $(addprefix $(MODULE)/,$(READERS) $(CLIENTS) $(SLOWEST)),$(shell go list ./...))
AT_ONCE        = $(shell echo $$((2 * $$(nproc 2>/dev/null || echo 2))))
VERSION       := $(shell git describe --tags --always --abbrev=10 --dirty 2>/dev/null || echo dev)
# The program starts faster without cgo and without the library's page generator.
TAGS          := -tags urfave_cli_no_docs
LDFLAGS       := -s -w -X main.version=$(VERSION)
BUILDFLAGS     = -trimpath $(TAGS) -ldflags '$(LDFLAGS)'
# The folder in which `make install` installs the program: make install PREFIX=/usr/local.
PREFIX        ?= $(HOME)/.local
BINDIR        ?= $(PREFIX)/bin
# The folder in which `make packages` puts the packages, and the platforms that they are for;
# all if it is empty: make packages PLATFORMS=linux/amd64,darwin/arm64.
DIST          ?= dist
PLATFORMS     ?=
# The size limit of the program, in bytes; docs/dev/performance.md gives the reason.
SIZE          := 24000000

.PHONY: build install packages packages-test size test race lint darwin e2e e2e-rest e2e-client e2e-oldest backends backends-changed backends-full compat newest stress nightly fuzz bench house mutants torture night soak check install-tools demo picture acp-tools record-acp tools clean npm go

build: go
	CGO_ENABLED=0 go build $(BUILDFLAGS) -o bin/claude-swarm ./cmd/claude-swarm

install: build
	install -d "$(DESTDIR)$(BINDIR)"
	install -m 755 bin/claude-swarm "$(DESTDIR)$(BINDIR)"
	@case ":$$PATH:" in *":$(BINDIR):"*) ;; *) echo "$(BINDIR) is not on your PATH; add to your shell's profile: export PATH=\"$(BINDIR):\$$PATH\"" ;; esac

# The files of a release: the packages for all platforms, their checksums, and a draft of the
# release notes. A second build of the same commit has the same bytes.
packages: go $(NFPM)
	go run ./packaging -nfpm $(NFPM) -out '$(DIST)' -platforms '$(PLATFORMS)' -version '$(VERSION)' -- $(BUILDFLAGS)

# Makes the packages, installs each kind, runs the program from there, and removes it again.
packages-test: tools $(NFPM)
	@$(TESTRUN) -vet=off -count=1 -timeout 30m -parallel $(AT_ONCE) ./internal/e2e/packages

size: build
	@has=$$(($$(wc -c <bin/claude-swarm))); \
	echo "claude-swarm: $$has bytes of at most $(SIZE)"; \
	[ $$has -le $(SIZE) ] || { echo "claude-swarm is too large: look at what it links (go list -deps ./cmd/claude-swarm), or raise SIZE and say why"; exit 1; }

# Claude Code, with one folder per version below the checkout. Tests and the demo run it
# without an account, against the scripted Messages API on loopback.
$(TOOLS)/claude/%/node_modules/.bin/claude:
	npm install --no-fund --no-audit --loglevel=error --prefix $(TOOLS)/claude/$* @anthropic-ai/claude-code@$*

$(INSPECTOR):
	npm install --no-fund --no-audit --loglevel=error --prefix $(TOOLS)/inspector \
		@modelcontextprotocol/inspector-cli@$(INSPECTOR_VERSION) @modelcontextprotocol/sdk@$(INSPECTOR_SDK)

# They take 1.5 GB in total. Unpacking takes most of the time, so acp-tools installs them
# in parallel.
define acp_rule
$(call acp_file,$(1)):
	npm install --no-fund --no-audit --loglevel=error --prefix $(call acp_dir,$(1)) $(call locked,2,$(1))@$(call locked,5,$(1))
	@test -x $$@ || { echo "$(call locked,2,$(1)) did not install $$@"; exit 1; }
endef
$(foreach c,$(ACP_CLIENTS),$(eval $(call acp_rule,$(c))))

acp-tools:
	@$(MAKE) --no-print-directory -j $(words $(ACP_FILES)) $(ACP_FILES)

# What `make test` installs: one version of Claude Code, and the inspector.
tools: npm $(call CLI_FILE,$(CLI_VERSION)) $(INSPECTOR)

go:
	@command -v go >/dev/null || { echo "go is missing; claude-swarm is built with Go 1.26 or later"; echo "  try: install it from https://go.dev/dl, then make $(MAKECMDGOALS)"; exit 1; }

npm:
	@command -v npm >/dev/null || { echo "npm is missing; the tests install Claude Code with it"; echo "  try: install Node.js 20 or later, then make $(MAKECMDGOALS)"; exit 1; }

# The demo runs the claude program on the PATH or, if there is none, the one that npm
# installs here. Without npm the demo says what to install.
demo: build
	@command -v claude >/dev/null || ! command -v npm >/dev/null || $(MAKE) --no-print-directory $(call CLI_FILE,$(CLI_VERSION))
	@PATH="$$PATH:$(dir $(call CLI_FILE,$(CLI_VERSION)))" ./bin/claude-swarm demo

# The picture in the README: what the demo prints, from the task to the answer. It needs tmux.
picture: build $(call CLI_FILE,$(CLI_VERSION))
	PATH="$$PATH:$(dir $(call CLI_FILE,$(CLI_VERSION)))" go run ./internal/testkit/picture \
		--from '$$ claude-swarm send' --to '$$ git diff' ./bin/claude-swarm docs/demo.svg

# All tests of all packages, except those that only read source files (`make lint`), and the
# tests with the real client (CLIENT_TESTS are most of what depends on it; `make e2e` runs
# all). A test that needs a program that is missing here is not run, and named at the end.
# The tests run without cgo, like the program: half the processes that they start are test
# binaries, and one without cgo starts in three quarters of the time.
test: export CGO_ENABLED := 0
test: tools
	@$(TESTRUN) -vet=off -p $(AT_ONCE) -timeout 20m $(TESTED) \
		-- -vet=off -timeout 20m -count=1 -parallel $(AT_ONCE) -run '$(call pattern,$(CLIENT_TESTS))' ./internal/e2e

# The tests with one version of the real client: make e2e CLI=oldest. TESTS is a pattern
# that selects some of the tests, NOT one that leaves some out.
e2e: tools
	@CLI=$(CLI_VERSION) $(TESTRUN) -vet=off -count=1 -timeout 30m -parallel $(AT_ONCE) $(if $(TESTS),-run '$(TESTS)') $(if $(NOT),-skip '$(NOT)') ./internal/e2e

# Checks the facts about the client that this program relies on, with the real programs:
# make compat VERSIONS="2.1.197 2.1.332". UPDATE=1 records the answers and takes a census.
compat: npm $(foreach v,$(or $(VERSIONS),$(CLI_OLDEST) $(CLI_NEWEST)),$(call CLI_FILE,$(v)))
	UPDATE=$(UPDATE) go run ./internal/testkit/compatpage $(if $(FACTS),-facts $(FACTS)) $(VERSIONS)

# Asks npm for the newest version of each client, tests it, and moves clients.lock, the
# manual and the changelog, or prints what differs: make newest ARGS="-again claude".
newest: npm
	go run ./internal/testkit/newest $(ARGS)

# The short tests with the race detector, of the packages in which goroutines run beside
# each other.
race:
	@$(TESTRUN) -race -short -shuffle=on -vet=off -p $(AT_ONCE) -timeout 20m \
		$$(git grep -lE '^[[:space:]]+go (func\b|[a-zA-Z_.]+\()|\.Go\(|t\.Parallel\(' -- '*.go' | xargs -n1 dirname | sort -u | sed 's,^,./,' | grep -vxE '$(subst $(space),|,$(patsubst %,./%,$(READERS) $(CLIENTS)))')

$(TOOLS)/bin/staticcheck:
	GOBIN=$(TOOLS)/bin go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK)

$(NFPM):
	GOBIN=$(dir $(NFPM)) go install github.com/goreleaser/nfpm/v2/cmd/nfpm@$(NFPM_VERSION)

# Everything that reads source files: formatting, vet for both systems, staticcheck, the
# floor plan, the glossary, the pages that are generated from the program, and its size.
lint: $(TOOLS)/bin/staticcheck size darwin
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; }
	go vet ./...
	$(TOOLS)/bin/staticcheck ./...
	@$(TESTRUN) -vet=off -timeout 20m $(addprefix ./,$(READERS))
	@$(MAKE) --no-print-directory house

darwin:
	GOOS=darwin GOARCH=arm64 go build -o /dev/null ./cmd/claude-swarm
	GOOS=darwin GOARCH=arm64 go vet ./...

# Runs every fuzz target for a short time; FUZZTIME=10m runs each for longer.
fuzz:
	@set -e; for pkg in $$(go list ./...); do \
		dir=$$(go list -f '{{.Dir}}' $$pkg); \
		for target in $$(cat $$dir/*_test.go 2>/dev/null | sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p'); do \
			echo "fuzz $$pkg $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$pkg >.fuzz.log 2>&1 || { cat .fuzz.log; rm -f .fuzz.log; exit 1; }; \
		done; \
	done; rm -f .fuzz.log

bench: build tools
	go run ./internal/testkit/bench

# Prints structural metrics of the tree; make house ARGS=-v lists ten findings for each.
house:
	go run ./internal/house $(ARGS)

# Introduces small mistakes, one at a time, into the files that keep the promises, and
# reports whether a test fails. For one package: make mutants PKG=dropbox. A run continues
# where an earlier one stopped. With DRAW=1 or DRAW=2, it takes six of each package.
mutants:
	go run ./internal/testkit/mutants $(if $(DRAW),--draw $(DRAW)) $(if $(PKG),--pkg $(PKG)) $(if $(QUICK),--quick) $(if $(FOR),--for $(FOR))

# Records testdata/acp again from dialogues with the real coding agents. For some of them:
# make record-acp ROWS="codex gemini/load".
record-acp: acp-tools
	go run ./internal/testkit/acprecord $(ROWS)

# Injects every fault many times; the tests inject some of them a few times.
torture:
	go run ./internal/testkit/torture

# Tests all packages with the race detector, five at a time, again and again; FOR=5m for a
# shorter time.
stress:
	go run ./internal/testkit/stress $(if $(FOR),-for $(FOR)) $(addprefix ./,$(PKG))

# The tests that take too long for every change, in parts of at most an hour: make nightly,
# make nightly PART=fuzz. A part continues where it stopped; make nightly ARGS=-list names
# all its units.
nightly: tools install-tools
	go run ./internal/testkit/nightly $(ARGS) $(PART)

# Simulates a night with six agents, a hundred tasks, and each fault twice; prints a table.
night:
	go test ./swarm -run TestTheNight -count=1 -v

# Runs for half an hour, with about one fault per second.
soak:
	go run ./internal/testkit/torture --only soak --minutes 30

# The end-to-end tests that depend most on the client. They also run with the oldest
# version; the others run only with the newest one.
CLIENT_TESTS := TestEachKindOfTurnIsBooked TestNoToolTouchesProtectedFiles TestATaskBecomesFilesAndAnAnswer TestARetryAfterAFailedTurnReallyRuns \
	TestAReviewerCannotWriteAndTheAnswerSaysSo TestTwoAgentsInOneFolderKeepTheirSessions \
	TestADaemonThatIsKilledLosesNothing TestSIGTERMOfTheCLIDuringABashTool \
	TestARealCompactionGivesTheWindowBack TestWhatTheAPIRefuses TestASubscriptionsLimit \
	TestThreeMessagesInOneProcess TestAnUrgentMessageArrivesInsideABashTurn \
	TestAnAgentSendsByItsTools TestAnAgentWithoutItsToolsIsStopped \
	TestAnAttachedSessionDrainsItsMail TestMailIsTheTaskOfAnAttachedSession TestABrokenOffPromptNeverFilesMail TestAPromptInARunningTurn \
	TestEveryTurnIsBookedWithItsOwnCost TestEveryTurnWaitsForItsTools \
	TestACapEndsALoopOfTools TestACapKeepsAFinishedAnswer TestACapEndsASubAgent TestAWorkflow TestABudgetOfFourAgents \
	TestNoSessionReachesAnAgentPastItsMailbox TestAChangedSystemTextReachesAResumedAgent \
	TestAbortAtTheFirstRequest TestABodyIsText TestWhatWeAddToTheFirstRequest \
	TestADay TestAnAgentInALoopIsWhisperedToAndThenPaused TestAWhisperSurvivesTheDaemon TestTheJudgeCanOnlyAnswer

# The tests with the real client that `make test` leaves out.
e2e-rest:
	@$(MAKE) --no-print-directory e2e CLI=newest NOT='$(call pattern,$(CLIENT_TESTS))'

# Prints a table of the promises that each backend keeps with its real client. The target
# backends checks only the rows that an agent needs, and then lets agents of all kinds work
# on one task together; PROVE=1 records the commit for each client that passed. CI runs
# backends-changed: only the clients of which anything has changed since the recorded
# commit, and the agents of all kinds. backends-full checks all rows. ONLY=codex or
# ONLY=codex/turn checks only those rows and runs no swarm.
BACKENDS_TEST := go -C internal/e2e/backends test -count=1
backends: acp-tools tools
	$(BACKENDS_TEST) -timeout 30m -run '$(if $(ONLY),^TestBackends$$/$(ONLY),^(TestBackends|TestMixedSwarm)$$)'

backends-changed: acp-tools tools
	BACKENDS=changed $(BACKENDS_TEST) -timeout 30m -v -run '^(TestBackends|TestMixedSwarm)$$'

backends-full: acp-tools
	BACKENDS=full $(BACKENDS_TEST) -timeout 60m -run '^TestBackends$$$(addprefix /,$(ONLY))'

# The tests with the real client that depend most on it: make e2e-client CLI=2.1.332.
e2e-client:
	@$(MAKE) --no-print-directory e2e CLI=$(CLI) TESTS='$(call pattern,$(CLIENT_TESTS))'

e2e-oldest:
	@$(MAKE) --no-print-directory e2e CLI=oldest TESTS='$(call pattern,$(CLIENT_TESTS))'

# The stages that CI runs, in this order; each is a target in this file. install-tools runs
# beside the first one.
STAGES := test lint race packages-test e2e-rest e2e-oldest backends-changed demo
check:
	@SWARM_STRICT=1 sh .ci/stages --beside install-tools $(STAGES)

# What the stages after `test` need: the other clients (1.5 GB), staticcheck and nfpm.
install-tools: npm $(call CLI_FILE,$(CLI_OLDEST)) acp-tools $(TOOLS)/bin/staticcheck $(NFPM)

clean:
	rm -rf bin dist .fuzz.log .nightly .stress
