# Ways into Slipway. `make help` lists them.
#
# Overridable: DATA and LISTEN (up), VERSION (release), FUZZTIME (fuzz), PACKAGES (check, test, race, soak).

DATA     ?= data
LISTEN   ?= 127.0.0.1:8080
FUZZTIME ?= 30s

# A failed build must not be hidden by the program that shows how far it is.
SHELL := bash

# Only the race detector needs a C compiler; .ci/test turns cgo on for it.
export CGO_ENABLED ?= 0

# The commit is put into the program where git can be asked. Where it cannot (a
# checkout that belongs to somebody else), a build would fail for it.
VCS := $(shell git rev-parse --verify -q HEAD >/dev/null 2>&1 && echo auto || echo false)

.DEFAULT_GOAL := help
.PHONY: help up build release deps check test race soak fuzz bench gate openapi weights examples pictures clean FORCE

help: ## List the targets
	@sed -n 's/^\([a-z.]*\):.*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'

up: ## Run everything here, with managed PostgreSQL, Redis and chromedriver (DATA, LISTEN)
	@.ci/deps services
	@$(MAKE) --no-print-directory build
	@exec bin/slipway up --data-dir "$(DATA)" --listen "$(LISTEN)"

build: bin/slipway bin/slipway-ci ## Build bin/slipway, and bin/slipway-ci for pipelines

# The go command knows best what is stale.
bin/slipway: FORCE
	@mkdir -p bin
	@set -o pipefail; go build -v -buildvcs=$(VCS) -o bin/slipway ./cmd/slipway 2>&1 | .ci/progress build

bin/slipway-ci: FORCE
	@mkdir -p bin
	@go build -buildvcs=$(VCS) -o bin/slipway-ci ./cmd/slipway-ci

# VERSION is what --version prints; SLIPWAY_CI_TARGETS are the systems.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
SLIPWAY_CI_TARGETS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64

release: ## Build slipway-ci for all systems into dist/, with SHA256SUMS (VERSION)
	@.ci/release "$(VERSION)" dist $(SLIPWAY_CI_TARGETS)

deps: ## Install or build everything that the tests need
	@.ci/deps tests

check: deps ## Check the sources and run the fast tests
	@.ci/test --fast $(PACKAGES)

test: deps ## Check the sources and run all tests: the fast ones, then those that kill programs
	@.ci/test $(PACKAGES)

race: deps ## Run what shares memory between goroutines with the race detector
	@.ci/test --race $(PACKAGES)

soak: deps ## Run the long tests with the race detector: half an hour, of it 15 minutes of kills and restarts
	@.ci/test --soak $(PACKAGES)

fuzz: ## Run every fuzz target (FUZZTIME each)
	@set -e; grep -rl --include='*_test.go' '^func Fuzz' . | sort | while read -r file; do \
	  sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$$file" | while read -r name; do \
	    echo "$$(dirname "$$file") $$name"; \
	    go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" </dev/null || exit 1; \
	  done || exit 1; \
	done

bench: ## Measure crash ingestion with reports of 4 KB and 60 KB, uploads, runs, and schedules
	go run ./cmd/bench crash --size 4KB
	go run ./cmd/bench crash --size 60KB
	go run ./cmd/bench upload
	go run ./cmd/bench run
	go run ./cmd/bench schedule

# Run it before each landing of a change on a hot path, with nothing beside it.
gate: ## Measure in short, and fail when a ratio fell a tenth below what docs/performance.md says was reached (ALL=1: print all)
	@.ci/deps tests
	go run ./cmd/bench gate $(if $(ALL),--all)

# A test fails when the weights are not of the texts. The lexicon is part of what is learned from: after a change
# of it they may be learned anew.
weights: ## Learn the weights of the tagger that reads prose from its labelled texts (worker/generation/tagger/corpus)
	@go run ./cmd/train

# A test fails when the file is not what this writes.
openapi: ## Write api/openapi.json from the code and from api/*/openapi.yaml
	@go run ./cmd/describe api/openapi.json

pictures: ## Take the pictures of README.md and docs/ anew, from the example data (needs Chromium)
	@mkdir -p docs/pictures
	@DEMO_PICTURES="$(CURDIR)/docs/pictures" go test -count=1 -run '^TestPictures$$' ./cmd/slipway/processtest

examples: ## Write api/examples anew from what a server answers, and put them into api/openapi.json
	@UPDATE_EXAMPLES=1 go test -count=1 -run '^TestEveryChangingRouteIsAudited$$' ./cmd/slipway
	@go run ./cmd/describe api/openapi.json

# The URLs stand here, not in compose.yaml, so that a deployment with services
# of its own changes them here. Letters and digits need no escaping in a URL.
# The container of PostgreSQL has no certificate, and its network is the inner
# one; without sslmode a server that is not on this machine must have TLS.
.env: ## Draw the passwords that compose.yaml asks for
	@set -eu; umask 077; word() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }; \
	{ echo "# Secrets of this installation, for compose.yaml. Keep a copy in a safe place."; \
	  echo "POSTGRES_PASSWORD=$$(word)"; \
	  echo "REDIS_PASSWORD=$$(word)"; \
	  echo "MINIO_PASSWORD=$$(word)"; \
	  echo "SLIPWAY_SIGNING_KEY=$$(word)"; \
	  echo 'SLIPWAY_DATABASE_URL=postgres://slipway:$${POSTGRES_PASSWORD}@postgres:5432/slipway?sslmode=disable'; \
	  echo 'SLIPWAY_REDIS_URL=redis://:$${REDIS_PASSWORD}@redis:6379/0'; \
	  echo 'SLIPWAY_OBJECTS_URL=s3://slipway:$${MINIO_PASSWORD}@minio:9000/slipway?region=us-east-1&tls=0'; \
	  echo "# The catcher of compose.yaml; in production the organization's mail server."; \
	  echo 'SLIPWAY_SMTP_URL=smtp://mail:1025?tls=none'; \
	  echo "# The browsers of compose.yaml; a Selenium Grid or Appium of your own can take their place."; \
	  echo 'SLIPWAY_WEBDRIVER_URL=http://browser:4444'; \
	} > .env.new; mv .env.new .env; echo "made .env"

clean: ## Remove what was built; data folders stay
	@rm -rf bin dist
