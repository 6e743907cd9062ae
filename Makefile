# Helenus: `make demo` shows it at work, `make test` proves it, `make build` builds it.
# A recipe that needs a Cassandra starts a throw-away one; nothing is left behind.

GO ?= go
BIN := bin
# A checkout that belongs to somebody else (CI) must still build.
export GOFLAGS ?= -buildvcs=false

# The linter that .ci/setup pins and installs.
GOLANGCI = $(or $(shell $(GO) env GOBIN),$(shell $(GO) env GOPATH)/bin)/golangci-lint

# Programs that own Cassandra nodes are built and run by themselves rather than by `go run`, so that a signal to
# them, or their death, is seen by them and not by a parent in between.
with = $(BIN)/with

# The product: helenus is one static file; helenus-solver, which it finds beside itself, is bound to COIN-OR's libraries.
define product
CGO_ENABLED=0 $(GO) build -ldflags "$(stamp)" -o $(BIN)/ ./cmd/helenus
$(GO) build -o $(BIN)/ ./cmd/helenus-solver
endef

# What the program says that it is, from git; where there is none it says devel.
VERSION ?= $(shell internal/packaging/version)
stamp = -X main.version=$(VERSION) -X main.revision=$(shell git rev-parse HEAD 2>/dev/null)

.PHONY: help build programs dist demo demo-production test test-long test-drivers lint vet house bench verify bench-options bench-proxy bench-advisor bench-timeline bench-ablation bench-calendar bench-rubis bench-safety bench-change bench-faults bench-model bench-scale bench-gains churn soak setup clean

help:
	@echo 'make demo    start Cassandra, a sample application and Helenus, and show the whole story (KEEP=1: keep them)'
	@echo 'make demo-production   the same with three nodes, passwords, TLS and two members of a fleet'
	@echo 'make test    install what is missing, lint, and run every test, with the race detector, on a real Cassandra'
	@echo 'make build   $(BIN)/helenus, one static file, and $(BIN)/helenus-solver, which needs COIN-OR'
	@echo 'make dist    deb, rpm, tarball, bill of materials and checksums, in dist'
	@echo 'make test-drivers    real drivers of five languages, and cqlsh, through Helenus, with every check'
	@echo 'make lint    the linter alone        make bench   the micro-benchmarks        make clean   remove $(BIN)'
	@echo 'make bench-advisor   what the optimiser finds, against NoSE, and how it grows (QUICK=1: sooner)'
	@echo 'make bench-timeline  designs that follow time, on TPC-H, against single ones, and how that grows (QUICK=1: sooner)'
	@echo 'make bench-ablation  what each method of the kernel is worth: every workload without it (ABLATION="-only groups -workloads rubis": one)'
	@echo 'make bench-calendar  a calendar lived through on a real Cassandra: tables filled ahead, changed over, every answer compared (QUICK=1: sooner)'
	@echo 'make verify   our designs, hand-made and random ones, against a reference, on a real Cassandra (WORKLOADS=200 SEED=1)'
	@echo 'make bench-options  the best options of a workload, measured beside their computed ranking, on a real Cassandra (FILE=examples/designs/twissandra.yaml)'
	@echo 'make bench-rubis SCALE=10   RUBiS over our tables, an expert'"'"'s and normalised ones, on a real Cassandra (QUICK=1: sooner)'
	@echo 'make bench-safety    one partition against one per user, under concurrent lightweight transactions (QUICK=1: sooner)'
	@echo 'make bench-change    what serving changes cost: CPU, requests inside Cassandra, throughput, after kill -9 (QUICK=1: sooner)'
	@echo 'make bench-faults    a fleet under faults in every state of a change, every answer checked (QUICK=1: sooner; FAULTS="-seed 307 -runs 1")'
	@echo 'make bench-gains    what advice promises, held against what forty changes bring (QUICK=1: sooner)'
	@echo 'make bench-model     how true inferred models are, on applications of which everything is known (QUICK=1: sooner; MODEL="-v -only messy")'
	@echo 'make bench-scale     processor time and memory of a round of advice, up to 5,000 statements over 500 tables'
	@echo 'make test-long    what takes too long for make test: the twin under all clocks, breaking at every state, the soak (DURATION=20m)'
	@echo 'make soak    writers of all forms through a helenus that is killed, with a clock that steps, on a Cassandra that is killed (DURATION=20m SEED=27)'
	@echo 'make bench-proxy   what the proxy costs, as a table (QUICK=1: sooner)        make churn   a minute of coming and going'

build:
	@.ci/setup build
	$(product)

# The same without looking for what is missing: for the Containerfile.
programs:
	$(product)

# What is given away, into dist: tarball, deb and rpm, bill of materials, checksums.
dist:
	@.ci/setup build
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w -buildid= $(stamp)" -o $(BIN)/dist/ ./cmd/helenus
	$(GO) build -trimpath -ldflags "-s -w -buildid=" -o $(BIN)/dist/ ./cmd/helenus-solver
	cd internal/packaging && $(GO) run . -programs ../../$(BIN)/dist -version '$(or $(VERSION),devel)' -epoch $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct))

demo:
	@.ci/setup demo $(if $(KEEP),keep)
	$(product)
	$(GO) build -o $(BIN)/ ./examples/hotel ./bench/demo
	$(BIN)/demo -bin $(BIN) $(if $(KEEP),-keep)

# The same where production is: three nodes, RF 3, passwords, TLS, two members of a fleet, an application of two processes.
demo-production:
	@.ci/setup demo $(if $(KEEP),keep)
	$(product)
	$(GO) build -o $(BIN)/ ./examples/hotel ./bench/demo
	$(BIN)/demo -bin $(BIN) -production $(if $(KEEP),-keep)

# The race detector makes tests five to twenty times slower, so it looks at the packages of the product that have a goroutine, a lock or
# an atomic of their own, and serve requests: not at cmd/helenus, whose tests are mostly processes before real Cassandras, nor at what works out
# advice in a child process, works for one command or tests drivers: those `make test-long` runs with it. History is never raced: its SQLite is in Go.
unraced = ./advisor/% ./internal/cassandra% ./internal/drivers% ./rewrite/calibrate ./rewrite/planrun ./rewrite/rehearse ./rewrite/scratch
own_concurrency = $(filter-out ./capture/history,$(addprefix ./,$(shell grep -lrE '^\s*go |"sync["/]|/x/sync/|/internal/guard"' --include='*.go' --exclude='*_test.go' advisor capture internal proxy rewrite | xargs dirname | sort -u)))
raced = ./rewrite $(filter-out $(unraced) ./rewrite,$(own_concurrency)) # what takes longest first: packages are begun in this order
plain = $(filter-out $(raced) $(LONGEST) ./cmd/helenus,$(patsubst github.com/helenus-db/helenus%,.%,$(shell $(GO) list ./...)))
sequential = $(filter-out $(own_concurrency),$(patsubst github.com/helenus-db/helenus%,.%,$(shell $(GO) list ./...)))
# The laboratory's longest, which run whole benches: of test-long.
LONGEST := ./bench/calendar ./bench/calibrate ./bench/change ./bench/load ./bench/rank ./bench/rubis ./bench/safety ./bench/verify ./bench/verify/cmd
# Of the solver, what is about its child processes; all else is arithmetic.
solver := 'Process|AtOnce|ChildFails|CrashIsAsked|FoundBefore|CancelKills|Worker|Protocol|WithItsParent|Replies'
# Unit, property, golden and integration tests and the seeds of every fuzz function: each once, and those that leave the race detector
# alone (too slow under it) once more without. Of charts/test nothing is cached, as what it reads lies outside of its module.
test: setup lint vet house $(with)
	cd charts/test && $(GO) test -count 1 -timeout 20m ./...
	cd internal/packaging && $(GO) test -count 1 -timeout 20m ./...
	$(with) -brief $(MAKE) --no-print-directory tests

# The tests of the whole product mostly wait, for leases and for what is to be given up, and no two that carry out changes may do so before one
# cluster: they run in two halves before a cluster each, beside all others. What failed is said once more at the end.
# `make test` has vetted them already.
halves := TestConsoleBehindOneService|TestMembersShareOneTruth|TestWithstandAtEveryState|TestOurTableIsWatched|TestRefusalsAndGuards
.PHONY: tests tests-first tests-second tests-raced tests-plain
tests: export TESTS_FAILED := $(abspath $(BIN))/failed
tests:
	@mkdir -p $(BIN) && rm -f $(TESTS_FAILED)
	$(MAKE) --no-print-directory -j 4 -k -O tests-second tests-raced tests-first tests-plain || { cat $(TESTS_FAILED); exit 1; }
	.ci/tests $(GO) test -vet=off -run 'Splice|Idle|Allocate|CutEverywhere' ./proxy ./proxy/pipe

tests-first:
	.ci/tests $(with) -brief $(GO) test -vet=off -timeout 60m -run '^($(halves))$$' ./cmd/helenus

tests-second:
	.ci/tests $(with) -brief $(GO) test -vet=off -timeout 60m -skip '^($(halves))$$' ./cmd/helenus

tests-raced:
	.ci/tests $(GO) test -vet=off -race -timeout 60m $(raced)

tests-plain:
	status=0; \
	.ci/tests $(GO) test -vet=off -timeout 60m $(plain) || status=1; \
	.ci/tests $(GO) test -vet=off -timeout 30m -race -run $(solver) ./advisor/solve || status=1; \
	.ci/tests $(GO) test -vet=off -timeout 30m -run 'EveryInterleaving|WithoutClocks|Mutants|NobodyAnswers|Anywhere' ./rewrite ./internal/fleet || status=1; \
	exit $$status

# Real drivers of five languages, and cqlsh, with every check, on clusters of their own; `make test` runs a short list.
test-drivers:
	@.ci/setup drivers
	HELENUS_TEST_CASSANDRA=own HELENUS_TEST_DRIVERS=all $(GO) test -count 1 -v -timeout 150m ./internal/drivers

# What takes too long for `make test`: all forms of writes under all clocks, breaking a change in each of its states, whole benches, the soak; the race
# detector for all that has a goroutine, a lock or an atomic of its own. What fails does not keep the rest from running, and is said once more at the end.
test-long: export HELENUS_TEST_LONG := 1
test-long: export TESTS_FAILED := $(abspath $(BIN))/failed-long
test-long: $(with)
	@.ci/setup long
	@rm -f $(TESTS_FAILED)
	$(MAKE) --no-print-directory -k long-tests long-packaging soak || { cat $(TESTS_FAILED); exit 1; }

.PHONY: long-tests long-packaging
long-tests:
	status=0; \
	.ci/tests $(with) -brief $(GO) test -vet=off -race -timeout 120m $(own_concurrency) || status=1; \
	.ci/tests $(with) -brief $(GO) test -vet=off -timeout 120m $(sequential) || status=1; \
	.ci/tests $(GO) test -count 1 -timeout 120m -run WithoutClocks ./rewrite || status=1; \
	.ci/tests $(GO) test -count 1 -timeout 15m -run Interrupted ./advisor/timeline || status=1; \
	HELENUS_TWIN=all .ci/tests $(with) $(GO) test -count 1 -timeout 60m -run 'Twin|Acknowledged' ./rewrite || status=1; \
	HELENUS_WITHSTAND=each .ci/tests $(with) $(GO) test -count 1 -timeout 60m -run '^TestWithstandAtEveryState$$' ./cmd/helenus || status=1; \
	(cd charts/test && $(CURDIR)/.ci/tests $(CURDIR)/$(with) $(GO) test -count 1 -timeout 15m -run RealRun .) || status=1; \
	exit $$status

long-packaging: dist
	cd internal/packaging && $(CURDIR)/.ci/tests $(CURDIR)/$(with) $(GO) test -count 1 -timeout 60m -run 'Installed|RPM|Image' .

# Nothing of the application's may be otherwise than without Helenus, whatever is killed and whatever clocks show. The helenus
# is built with a clock that the soak sets.
soak:
	@.ci/setup demo
	CGO_ENABLED=0 $(GO) build -tags soak -o $(BIN)/helenus-soak ./cmd/helenus
	$(GO) build -o $(BIN)/ ./cmd/helenus-solver ./bench/soak
	$(BIN)/soak -helenus $(BIN)/helenus-soak -for $(or $(DURATION),20m) -seed $(or $(SEED),27) $(SOAK)

setup:
	@.ci/setup test

lint:
	$(GOLANGCI) run --timeout 10m ./...
	cd charts/test && $(GOLANGCI) run --timeout 10m ./...
	cd internal/packaging && $(GOLANGCI) run --timeout 10m ./...

vet:
	$(GO) vet ./...

# Import rules, package comments, file sizes: seconds, and better known before the long tests.
house:
	$(GO) test ./internal/house

bench:
	$(GO) test -run '^$$' -bench . -benchmem -benchtime 1s ./proxy/... ./capture/... ./advisor/... ./rewrite/...

.PHONY: $(with)
$(with):
	$(GO) build -o $(BIN)/ ./internal/cassandra/with

# What the proxy costs, side by side with the least relay there is; two minutes, and best on a machine that does nothing else.
bench-proxy:
	$(GO) build -o $(BIN)/ ./bench/relay
	$(BIN)/relay $(if $(QUICK),-quick)

# What the optimiser finds, in what time and memory, beside what NoSE does; a quarter of an hour, on one core.
bench-advisor:
	$(GO) build -o $(BIN)/ ./bench/advisor
	$(BIN)/advisor $(if $(QUICK),-quick)

# How true the models are that are inferred, on gold corpora: docs/results/model.md has the table. MODEL has the program's flags.
bench-model:
	$(GO) build -o $(BIN)/ ./bench/corpora ./cmd/helenus-solver
	$(BIN)/corpora $(if $(QUICK),-quick) $(MODEL)
	$(BIN)/corpora -regret -answers $(if $(QUICK),-quick) $(MODEL)

# What a round of advice takes on clusters of many statements and tables: docs/results/scale.md has the table.
bench-scale:
	$(GO) build -o $(BIN)/ ./bench/scale
	$(BIN)/scale

# What calendars cost against single designs on seed 004's workload, in what time; best on a machine that does nothing else.
bench-timeline:
	$(GO) build -o $(BIN)/ ./bench/timeline
	$(BIN)/timeline $(if $(QUICK),-quick,-exact -out docs/results -command "make bench-timeline")

# What each method of the kernel is worth: docs/optimiser.md has the table. ABLATION has the program's flags. Only what is built with the tag can do without.
bench-ablation:
	$(GO) build -tags ablation -o $(BIN)/ablation/ ./bench/ablation ./bench/advisor ./bench/timeline
	$(BIN)/ablation/ablation $(ABLATION)

# TPC-H's twelve steps on a real Cassandra: the calendar beside the static baselines; the report goes to docs/results. CALENDAR has
# further flags (bin/calendar -help): CALENDAR="-file evolution".
bench-calendar:
	@.ci/setup demo
	$(GO) build -o $(BIN)/ ./bench/calendar
	$(BIN)/calendar -command 'make bench-calendar$(if $(CALENDAR), CALENDAR="$(CALENDAR)")' $(if $(QUICK),-smoke -out $(BIN)/results) $(CALENDAR)

# The experiment of seed 003's section 9 on a real Cassandra: RUBiS, entity counts times SCALE, and EAC, over our tables and over
# others'; the report goes to docs/results. Best on a machine that does nothing else. QUICK=1: all of it in a minute, on next to
# no data, into $(BIN)/results. RUBIS has further flags (bin/rubis -help).
bench-rubis:
	@.ci/setup demo
	$(GO) build -o $(BIN)/ ./bench/rubis
	$(BIN)/rubis -command 'make bench-rubis SCALE=$(or $(SCALE),1)$(if $(RUBIS), RUBIS="$(RUBIS)")' $(if $(QUICK),-smoke -out $(BIN)/results,-scale $(or $(SCALE),1)) $(RUBIS)

# The experiment of seed 002's figure 4 on a real Cassandra: concurrent lightweight transactions on one partition, and on one for
# each user; the report goes to docs/results. Two minutes, and best on a machine that does nothing else.
bench-safety:
	@.ci/setup demo
	$(GO) build -o $(BIN)/ ./bench/safety
	$(BIN)/safety -command 'make bench-safety' $(if $(QUICK),-smoke -out $(BIN)/results)

# What serving changes cost, on a real Cassandra and on the mock: processor time of Helenus, requests inside Cassandra, throughput, the
# time after kill -9; the report goes to docs/results. It fails if a figure misses what it must be. Some minutes, and best on a machine
# that does nothing else. CHANGE has further flags (bin/change -help): CHANGE=-report-only.
bench-change:
	@.ci/setup demo
	$(product)
	$(GO) build -o $(BIN)/ ./bench/change
	$(BIN)/change -command 'make bench-change$(if $(QUICK), QUICK=1)$(if $(CHANGE), CHANGE="$(CHANGE)")' $(if $(QUICK),-quick) $(CHANGE)

# What advice promises held against what it brings, over forty changes and more: minutes, on a Cassandra of its own. QUICK=1 for four tables.
bench-gains:
	@.ci/setup demo
	$(product)
	$(GO) build -o $(BIN)/ ./bench/gains
	$(BIN)/gains -command 'make bench-gains$(if $(QUICK), QUICK=1)' $(if $(QUICK),-quick) $(GAINS)

# A fleet under faults, in the manner of Jepsen: histories of clients that read and write through all members, checked row by row and against Cassandra's own answers; in
# process by the thousand. The report goes to docs/results. FAULTS has further flags (bin/faults -help).
bench-faults:
	$(GO) build -o $(BIN)/ ./bench/faults
	$(BIN)/faults -command 'make bench-faults$(if $(QUICK), QUICK=1)$(if $(FAULTS), FAULTS="$(FAULTS)")' $(if $(QUICK),-runs 200 -out $(BIN)/results) $(FAULTS)

# RUBiS, EasyAntiCheat, the hotel and random workloads: every answer and every table after updates, compared with SQLite's; a
# quarter of an hour. The node keeps its schema in memory alone, as most of the time goes into making tables.
verify: $(with)
	$(GO) build -o $(BIN)/verify ./bench/verify/cmd
	JAVA_TOOL_OPTIONS=-Dcassandra.test.flush_local_schema_changes=false $(with) sh -c '$(BIN)/verify --contact-point $$HELENUS_TEST_CASSANDRA \
		--seed $(or $(SEED),1) --random $(or $(WORKLOADS),200) --updates 60 $(VERIFY) examples/designs/rubis.yaml examples/designs/eac.yaml examples/designs/hotel.yaml'

# What seed 000 asks to be done with the best five options: each filled and asked on a real Cassandra. OPTIONS has further flags (bin/rank -help).
bench-options: $(with)
	$(GO) build -o $(BIN)/ ./bench/rank
	$(with) sh -c '$(BIN)/rank -contact-point $$HELENUS_TEST_CASSANDRA $(OPTIONS) $(or $(FILE),examples/designs/twissandra.yaml)'

# Clients that come and go while rules change, under the race detector, for a minute; in `make test` it is two seconds.
churn:
	HELENUS_CHURN=60s $(GO) test -race -count=1 -run TestChurn -v ./proxy

clean:
	rm -rf $(BIN)
