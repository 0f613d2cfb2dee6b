// Package authoring lists the routes of the authoring interface and puts its handlers together.
//
// Each kind of resource is a package: testcase, suite, testrun, schedule, generation, variable and
// tunnel. Below them are handler, what their handlers share; settings, how tests run; request, what is
// read; problem, the codes of failures; and answer, what is written. Package api/stepgroup and
// api/history serve more resources of the interface from the same.
//
// The names that bodies and answers of all resources have are known to each: a body that has one in
// the wrong place is refused (request.Words). Types are those behind the schemas of openapi.yaml.
package authoring

import (
	"errors"
	"log/slog"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/generation"
	"github.com/slipway-qa/slipway/api/authoring/handler"
	"github.com/slipway-qa/slipway/api/authoring/schedule"
	"github.com/slipway-qa/slipway/api/authoring/suite"
	"github.com/slipway-qa/slipway/api/authoring/testcase"
	"github.com/slipway-qa/slipway/api/authoring/testrun"
	"github.com/slipway-qa/slipway/api/authoring/tunnel"
	"github.com/slipway-qa/slipway/api/authoring/variable"
)

// Handlers are the handlers of the interface.
type Handlers struct {
	cases       testcase.Cases
	healings    testcase.Healings
	generations generation.Generations
	runs        testrun.Runs
	suites      suite.Suites
	suiteRuns   testrun.SuiteRuns
	schedules   schedule.Schedules
	variables   variable.Variables
	tunnels     tunnel.Tunnels
	base        *handler.Base
}

// Base is what the handlers of all resources of the interface share.
func (h *Handlers) Base() *handler.Base { return h.base }

// New returns the handlers. Without CheckURL it refuses: tests that may open any
// address are no default.
func New(cfg handler.Config) (*Handlers, error) {
	if cfg.DB == nil || cfg.CheckURL == nil {
		return nil, errors.New("authoring: DB and CheckURL are needed")
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	cfg.PublicURL = strings.TrimRight(cfg.PublicURL, "/")
	r := &handler.Base{Config: cfg, Words: words()}
	return &Handlers{
		cases:       testcase.Cases{Base: r},
		healings:    testcase.Healings{Base: r},
		generations: generation.Generations{Base: r},
		runs:        testrun.NewRuns(r),
		suites:      suite.Suites{Base: r},
		suiteRuns:   testrun.NewSuiteRuns(r),
		schedules:   schedule.Schedules{Base: r},
		variables:   variable.Variables{Base: r},
		tunnels:     tunnel.Tunnels{Base: r},
		base:        r,
	}, nil
}
