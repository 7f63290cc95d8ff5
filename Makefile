# claude-swarm. CI runs `make check`; CONTRIBUTING.md explains the other targets.

STATICCHECK   := v0.8.2
TOOLS         := $(CURDIR)/.tools
# The supported range of Claude Code is defined in one place, in Go.
RANGE         := swarm/runner/claude/versions.go
CLI_OLDEST    := $(shell sed -n 's/^\tOldest = "\(.*\)"/\1/p' $(RANGE))
CLI_NEWEST    := $(shell sed -n 's/^\tNewest = "\(.*\)"/\1/p' $(RANGE))
# The client version for the end-to-end tests: oldest, newest or a version number.
CLI           ?= $(if $(filter Newest,$(shell sed -n 's/^const Default = //p' $(RANGE))),newest,oldest)
CLI_VERSION   := $(patsubst oldest,$(CLI_OLDEST),$(patsubst newest,$(CLI_NEWEST),$(CLI)))
CLI_FILE       = $(TOOLS)/claude/$(1)/node_modules/.bin/claude
# An independent MCP client: the command line of the MCP inspector, without its web page.
# It is a quarter of the size of the full inspector.
INSPECTOR_VERSION := 0.22.0
INSPECTOR_SDK := 1.32.2
INSPECTOR     := $(TOOLS)/inspector/node_modules/.bin/mcp-inspector-cli
# The coding agents that speak the Agent Client Protocol, as NAME:PACKAGE:VERSION:PROGRAM.
ACP_CLIENTS   := $(shell sed -n 's/^\t{Name: "\(.*\)", Package: "\(.*\)", Version: "\(.*\)", Program: "\(.*\)"},/\1:\2:\3:\4/p' internal/testkit/acptest/versions.go)
acp_part       = $(word $(1),$(subst :, ,$(2)))
acp_dir        = $(TOOLS)/acp/$(call acp_part,1,$(1))/$(call acp_part,3,$(1))
acp_file       = $(call acp_dir,$(1))/node_modules/.bin/$(call acp_part,4,$(1))
ACP_FILES     := $(foreach c,$(ACP_CLIENTS),$(call acp_file,$(c)))
# The number of inputs for each fuzz target. A duration works too, but go then reports an
# error for some targets.
FUZZTIME      ?= 3000x
VERSION       := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# The program starts faster without cgo and without the library's page generator.
TAGS          := -tags urfave_cli_no_docs
LDFLAGS       := -s -w -X main.version=$(VERSION)
# The folder in which `make install` installs the program: make install PREFIX=/usr/local.
PREFIX        ?= $(HOME)/.local
BINDIR        ?= $(PREFIX)/bin
# The size limit of the program, in bytes; docs/performance.md gives the reason.
SIZE          := 24000000

.PHONY: build install size test acp-tools record-acp e2e e2e-newest e2e-oldest backends backends-full compat race lint fuzz bench house mutants torture night soak check install-tools demo demo-check darwin tools strict clean

build:
	CGO_ENABLED=0 go build -trimpath $(TAGS) -ldflags '$(LDFLAGS)' -o bin/claude-swarm ./cmd/claude-swarm

install: build
	install -d "$(DESTDIR)$(BINDIR)"
	install -m 755 bin/claude-swarm "$(DESTDIR)$(BINDIR)"
	@case ":$$PATH:" in *":$(BINDIR):"*) ;; *) echo "$(BINDIR) is not on your PATH; add to your shell's profile: export PATH=\"$(BINDIR):\$$PATH\"" ;; esac

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
	npm install --no-fund --no-audit --loglevel=error --prefix $(call acp_dir,$(1)) $(call acp_part,2,$(1))@$(call acp_part,3,$(1))
	@test -x $$@ || { echo "$(call acp_part,2,$(1)) did not install $$@"; exit 1; }
endef
$(foreach c,$(ACP_CLIENTS),$(eval $(call acp_rule,$(c))))

acp-tools:
	@$(MAKE) --no-print-directory -j $(words $(ACP_FILES)) $(ACP_FILES)

tools: $(call CLI_FILE,$(CLI_OLDEST)) $(call CLI_FILE,$(CLI_NEWEST)) $(call CLI_FILE,$(CLI_VERSION)) $(INSPECTOR)

# The demo runs the claude program on the PATH or, if there is none, the one that npm
# installs here. Without npm the demo says what to install.
demo: build
	@command -v claude >/dev/null || ! command -v npm >/dev/null || $(MAKE) --no-print-directory $(call CLI_FILE,$(CLI_VERSION))
	@PATH="$$PATH:$(dir $(call CLI_FILE,$(CLI_VERSION)))" ./bin/claude-swarm demo

test: tools acp-tools
	go test ./...

# The tests with one version of the real client: make e2e CLI=oldest. TESTS is a pattern
# that selects some of the tests.
e2e: tools
	CLI=$(CLI_VERSION) go test -count=1 -timeout 30m $(if $(TESTS),-run '$(TESTS)') ./internal/e2e

# Checks the facts about the client that this program relies on, with the real programs:
# make compat VERSIONS="2.1.197 2.1.330".
compat: tools
	go run ./internal/compat $(VERSIONS)

race: tools acp-tools
	go test -race -shuffle=on ./...

$(TOOLS)/bin/staticcheck:
	GOBIN=$(TOOLS)/bin go install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK)

lint: $(TOOLS)/bin/staticcheck
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; }
	go vet ./...
	$(TOOLS)/bin/staticcheck ./...

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

# Prints structural metrics of the tree; make house ARGS=-v lists everything that exceeds
# its goal.
house:
	go run ./internal/house $(ARGS)

# Introduces small mistakes, one at a time, into the files that keep the promises, and
# reports whether a test fails. For one package: make mutants PKG=dropbox. A run continues
# where an earlier one stopped.
mutants:
	go run ./internal/testkit/mutants $(if $(PKG),--pkg $(PKG)) $(if $(QUICK),--quick) $(if $(FOR),--for $(FOR))

# Records testdata/acp again from dialogues with the real coding agents. For some of them:
# make record-acp ROWS="codex gemini/load".
record-acp: acp-tools
	go run ./internal/testkit/acprecord $(ROWS)

# Injects every fault many times; the tests inject each a few times.
torture:
	go run ./internal/testkit/torture

# Simulates a night with six agents, a hundred tasks, and each fault twice; prints a table.
night:
	go test ./swarm -run TestTheNight -count=1 -v

# Runs for half an hour, with about one fault per second.
soak:
	go run ./internal/testkit/torture --only soak --minutes 30

# The end-to-end tests that depend most on the client. They also run with the oldest
# version; the others run only with the newest one.
CLIENT_TESTS := TestATaskBecomesFilesAndAnAnswer TestARetryAfterAFailedTurnReallyRuns \
	TestAReviewerCannotWriteAndTheAnswerSaysSo TestTwoAgentsInOneFolderKeepTheirSessions \
	TestADaemonThatIsKilledLosesNothing TestSIGTERMOfTheCLIDuringABashTool \
	TestARealCompactionGivesTheWindowBack TestWhatTheAPIRefuses TestASubscriptionsLimit \
	TestThreeMessagesInOneProcess TestAnUrgentMessageArrivesInsideABashTurn \
	TestAnAgentSendsByItsTools TestAnAgentWithoutItsToolsIsStopped \
	TestAnAttachedSessionDrainsItsMail TestABrokenOffPromptNeverFilesMail TestAPromptInARunningTurn \
	TestEveryTurnIsBookedWithItsOwnCost TestEveryTurnWaitsForItsTools \
	TestACapEndsALoopOfTools TestACapKeepsAFinishedAnswer TestACapEndsASubAgent TestABudgetOfFourAgents \
	TestNoSessionReachesAnAgentPastItsMailbox TestAChangedSystemTextReachesAResumedAgent \
	TestAbortAtTheFirstRequest TestABodyIsText TestWhatWeAddToTheFirstRequest \
	TestAnAgentInALoopIsWhisperedToAndThenPaused TestAWhisperSurvivesTheDaemon TestTheJudgeCanOnlyAnswer

# All tests except those with the real Claude Code, which would not get enough CPU time
# alongside the others. If tmux, zsh, fish, unshare or an IRC server is missing, the tests
# that need it fail here; `make test` skips them.
REAL_DEMO := ^TestReadmeShowsTheDemo$$
strict:
	SWARM_STRICT=1 go test -race -shuffle=on -timeout 20m -skip '$(REAL_DEMO)' $$(go list ./... | grep -v /internal/e2e)

e2e-newest:
	SWARM_STRICT=1 $(MAKE) --no-print-directory e2e CLI=newest

# Prints a table of the promises that each backend keeps with its real client. The target
# backends checks only the rows that an agent needs, and then lets agents of all kinds work
# on one task together; backends-full checks all rows. ONLY=codex or ONLY=codex/turn checks
# only those rows and runs no swarm.
backends: acp-tools tools
	go -C internal/e2e/backends test -count=1 -timeout 15m -run '$(if $(ONLY),^TestBackends$$/$(ONLY),^(TestBackends|TestMixedSwarm)$$)'

backends-full: acp-tools
	BACKENDS=full go -C internal/e2e/backends test -count=1 -timeout 60m -run '^TestBackends$$$(addprefix /,$(ONLY))'

e2e-oldest:
	SWARM_STRICT=1 $(MAKE) --no-print-directory e2e CLI=oldest TESTS='$(call pattern,$(CLIENT_TESTS))'

empty :=
space := $(empty) $(empty)
pattern = ^($(subst $(space),|,$(strip $(1))))$$$$

# Runs the demo with the newest client, and with the default one. The README shows the
# output of the second run.
demo-check: tools
	$(MAKE) --no-print-directory demo CLI=newest
	go test -count=1 -run '$(REAL_DEMO)' ./docs

# The stages that CI runs, in this order. Each is a target in this file.
STAGES := install-tools lint darwin size strict e2e-newest e2e-oldest backends fuzz demo-check
check:
	@sh .ci/stages $(STAGES)

install-tools: tools acp-tools $(TOOLS)/bin/staticcheck

clean:
	rm -rf bin .fuzz.log
