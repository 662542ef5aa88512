# Every command works on a machine that has some Go (1.21 or later) and nothing
# else: this line makes it fetch the toolchain that go.mod names.
export GOTOOLCHAIN = go1.27.3

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     = mvdan.cc/gofumpt@v0.12.0
# Finds effects that nobody runs. It is a module of its own.
UNAWAITED   = $(CURDIR)/.cache/unawaited

# Programs of the live differential test, and where it begins: fresh ones for each
# commit, the same ones for the same commit.
COUNT ?= 5000
SEED  ?= $(shell printf '%d' 0x$$(git rev-parse --short=12 HEAD 2>/dev/null || echo 1))

.PHONY: demo test race lint cross arm64 386 terminals examples example-lanes conformance mutants mutants-random fuzz bench bench-full

# The main job: a lease that real processes take from each other.
demo:
	@echo "compiling (about a minute on a new machine, then seconds)"
	@go run ./examples/takeover

test:
	go test ./...

# Needs a C compiler.
race:
	go test -race ./...

lint:
	go vet ./...
	go run $(STATICCHECK) ./...
	cd cmd/unawaited && go vet ./... && go build -o $(UNAWAITED) .
	go vet -vettool=$(UNAWAITED) ./...
	cd cmd/tether && go vet ./... && GOOS=darwin go vet ./... && GOOS=windows go vet ./... && go run $(STATICCHECK) ./... && go vet -vettool=$(UNAWAITED) ./...
	cd bench && go vet ./...
	cd effect/otel && go vet ./... && go run $(STATICCHECK) ./...
	cd conformance && go vet ./...
	@files=$$(go run $(GOFUMPT) -l .); test -z "$$files" || { echo "not formatted by gofumpt:"; echo "$$files"; exit 1; }

cross:
	GOOS=linux GOARCH=amd64 go build ./...
	GOOS=linux GOARCH=arm64 go build ./...
	GOOS=linux GOARCH=386 go vet ./...
	GOOS=linux GOARCH=arm go vet ./...
	GOOS=darwin GOARCH=arm64 go build ./...
	GOOS=windows GOARCH=amd64 go build ./...

# The tests of what knows the machine, for linux/arm64 under an emulator (as root), and
# for 386, which an amd64 processor runs itself.
arm64:
	.ci/arm64

# The tool in pseudo-terminals, beside flock and timeout: for an idle machine.
terminals:
	cd cmd/tether && go test -count=1 ./...

386:
	@# Times of 32 bits end in 2038.
	GOARCH=386 go test -short -skip '^TestF48_UnstampedFileOfTheFuture$$/^a_century$$' ./scope ./effect ./lanes ./platform ./processlock

examples: demo example-lanes
	go run ./examples/quickstart
	go run ./examples/nightly

example-lanes:
	go run ./examples/lanes -for 5s

# Fresh programs on this library and on effect@4.1.0; needs node 20 and npm.
conformance:
	cd conformance && COUNT=$(COUNT) SEED=$(SEED) go test -count=1 -run TestDifferential -v ./...

# Every deliberate fault of the kernel must be caught; docs/testing.md lists them.
mutants:
	go run ./internal/mutants

# Generated faults of the logic: RANDOM of them, from SEED on.
RANDOM ?= 100
mutants-random:
	go run ./internal/mutants -random $(RANDOM) -seed $(SEED)

# Every decoder and the interpreter of programs, for FUZZTIME each.
FUZZTIME ?= 10m
fuzz:
	@set -e; for target in \
		platform:FuzzParseProcStat processlock:FuzzParseStamp effect:FuzzParseCron internal/vectors:FuzzProgram \
		lease:FuzzRecordFile lease:FuzzHolder lease:FuzzFileName; do \
		echo "$$target"; go test -run XXX -fuzz "^$${target#*:}$$" -fuzztime $(FUZZTIME) ./$${target%:*}; \
	done

# This library and what people would use instead, in one run; writes
# docs/performance.md. The rows of effect need node 20 and npm.
bench:
	cd bench && go run .

# The same with more rounds and longer samples.
bench-full:
	cd bench && go run . -full
