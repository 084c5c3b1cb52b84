# make demo    needs only Go
# make quick   the loop while you change something: two minutes, needs only Go as well
# make test    installs what the tests need and runs all of them

export CGO_ENABLED = 0
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
BENCHSTAT   = golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS  = -s -w -X slackline/internal/provenance.version=$(VERSION)

# Packages whose code runs on several goroutines; the impatient ones have tests that wait for something, but not for ever.
# Under the race detector, what is skipped takes most of the time, for nothing new.
CONCURRENT = ./analyze/waits ./analyze/simulate ./model/timeline ./model/trace ./internal/progress ./internal/atomicfile
IMPATIENT  = ./internal/cluster ./cli/input
ONETHREAD  = Vectors|NoisyDissemination|SharesMemory|RandomCasesFinish|CallsOf|CasesTogether|CasesInAllFormats|DevicesWritten
ONETHREAD := $(ONETHREAD)|OTF2WriteAndRead|OTF2Truncated|ParaverCut|SamplesTellTheTruth|SLTKeepsEverything|SLTPrefix|FromTimeline
ONETHREAD := $(ONETHREAD)|DevicesAgainstDefinitions|HandedRequestsInAllFormats|Navigate|SharedRunThatIsSlower

# Packages whose tests take longest. They wait for jobs, clocks and browsers, so they begin first, beside those that compute.
LONGEST = ./cli ./observe/record ./cli/job ./observe/inject ./show/explore ./observe/mpi ./cli/campaign ./observe/measure

PREFIX  ?= /usr/local
DESTDIR ?=

FUZZINPUTS ?= 100000
COUNT    ?= 5
BENCH    ?= .

.PHONY: help demo build install release figures quick test test-setup format lint unit race-beside race-last fuzz test-long bench clean

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 22

demo: build ## build slackline and run a demonstration; report and pictures go to out/
	./bin/slackline demo --out out

build: ## build the static binary bin/slackline
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/slackline ./cmd/slackline

install: build ## install the binary, manual pages and completions below PREFIX=/usr/local
	install -Dm755 bin/slackline $(DESTDIR)$(PREFIX)/bin/slackline
	./bin/slackline man --quiet --out $(DESTDIR)$(PREFIX)/share/man/man1
	mkdir -p $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions \
		$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	./bin/slackline completion bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/slackline
	./bin/slackline completion zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_slackline
	./bin/slackline completion fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/slackline.fish

release: build ## archives and Python wheels for Linux and macOS with checksums and a bill of materials, in dist/
	packaging/release '$(VERSION)' '$(LDFLAGS)'

figures: ## redraw all pictures of the documentation
	go test -count=1 ./cli -run TestDocuments -update

quick: format ## gofmt, vet, and the tests that start no MPI job, no browser and no cluster: less than two minutes
	go vet ./...
	go test -vet=off -short ./...

test: ## everything that must pass before a change is merged; nothing is skipped
	@$(MAKE) -j2 test-setup lint
	@$(MAKE) -j2 unit race-beside
	@$(MAKE) race-last

test-setup:
	.ci/setup

format:
	@files=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
		if [ -n "$$files" ]; then echo "gofmt these files:"; echo "$$files"; exit 1; fi

lint: format # tests do not repeat go vet
	go vet ./...
	go run $(STATICCHECK) $(CHECKS) ./...

# These checks need facts of all dependencies, which takes half a minute more; make test-long runs them as well.
CHECKS = -checks 'inherit,-SA1019,-SA4017,-SA4018,-SA4023,-SA5012,-S1011'

lint unit race-beside race-last: export GOGC = 400 # collecting garbage took a fifth of the time
unit: # half as many packages again as CPUs; -w: no test needs what debuggers need
	go test -vet=off -ldflags=-w -timeout 20m -p $$(( $$(nproc) * 3 / 2 )) $(LONGEST) ./...

# The race detector needs cgo.
race-beside race-last: export CGO_ENABLED = 1
RACE = go test -vet=off -race -short -timeout 30m

race-beside: # takes what unit leaves of the CPUs while it waits for jobs, clocks and browsers; what it prints comes in one piece, at its end
	@output=$$(nice -n 19 $(RACE) -skip '$(ONETHREAD)' $(CONCURRENT) 2>&1 && \
		nice -n 19 $(RACE) -run '^$$' $(IMPATIENT) 2>&1 >/dev/null); \
		status=$$?; printf 'under the race detector:\n%s\n' "$$output"; exit $$status

race-last: # nothing runs beside these; they are compiled already
	$(RACE) -skip '$(ONETHREAD)' $(IMPATIENT)

fuzz: ## fuzz every reader with random inputs (FUZZINPUTS=100000); go test repeats what it finds
	.ci/fuzz $(FUZZINPUTS)x 3600

QUIET = $(shell grep -rl --include='*_test.go' '^//go:build quiet' .)

test-long: test-setup ## tests that need a quiet machine, ten times as many random cases, the race detector on everything, fuzzing
	GOOS=darwin go build -o /dev/null ./cmd/slackline # as make release does
	GOOS=darwin GOARCH=arm64 go vet ./... # also the tests
	go run $(STATICCHECK) ./... # also the checks that make test leaves out
	go test -count=1 -timeout 60m -tags quiet -v -run "^($$(sed -n 's/^func \(Test[A-Za-z]*\).*/\1/p' $(QUIET) | paste -sd '|'))$$" $(sort $(dir $(QUIET)))
	go test -count=1 -timeout 60m -rapid.checks=1000 \
		$$(grep -rl --include='*_test.go' pgregory.net/rapid . | xargs -n1 dirname | sort -u)
	go test -count=1 -timeout 60m -run 'Agree|AgainstDefinitions' ./analyze/simulate ./analyze/waits -cases 3000
	CGO_ENABLED=1 go test -count=1 -timeout 60m -race ./...
	$(MAKE) fuzz

bench: build ## run the benchmarks, COUNT=5 times each, with their spread
	go test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) ./... | tee bench.txt
	go run $(BENCHSTAT) bench.txt

clean: ## remove build results
	rm -rf bin out dist bench.txt
