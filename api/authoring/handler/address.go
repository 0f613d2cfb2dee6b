package handler

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/slipway-qa/slipway/api/authoring/problem"
	"github.com/slipway-qa/slipway/storage/step"
)

// maxOrigins bounds the addresses of a test that are looked up when it is stored:
// each may take seconds of DNS. The run checks every one.
const maxOrigins = 20

// addresses refuses what no run may open. Of addresses with the same scheme and
// host only the first is looked up; those with variables are left to the run, and
// so are relative ones that have nothing to stand on.
type addresses struct {
	check func(ctx context.Context, address string) error
	seen  map[string]bool
}

// CheckAddresses checks the addresses that a test opens. urlPath is the member of
// the test's own address, stepsPath that of its steps.
func (h *Base) CheckAddresses(ctx context.Context, urlPath, testURL, stepsPath string, steps []step.Step) error {
	a := addresses{check: h.CheckURL, seen: map[string]bool{}}
	if err := a.look(ctx, urlPath, testURL); err != nil {
		return err
	}
	for i := range steps {
		path := fmt.Sprintf("%s[%d].tool", stepsPath, i)
		for tool := &steps[i].Tool; tool != nil; tool, path = tool.Args.Tool, path+".args.tool" {
			if tool.Type != step.GoToURL {
				continue
			}
			if err := a.look(ctx, path+".args.url", against(testURL, tool.Args.URL)); err != nil {
				return err
			}
		}
	}
	return nil
}

// look checks one address, which the body has at path.
func (a *addresses) look(ctx context.Context, path, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" || holdsVariables(address) {
		return nil // package step has looked at the form
	}
	origin := strings.ToLower(u.Scheme + "://" + u.Host)
	if a.seen[origin] || len(a.seen) == maxOrigins {
		return nil
	}
	a.seen[origin] = true
	if err := a.check(ctx, address); err != nil {
		return problem.Member(path, err.Error())
	}
	return nil
}

func holdsVariables(address string) bool { return strings.Contains(address, "{{") }

// against completes a relative address.
func against(base, address string) string {
	b, err := url.Parse(base)
	if err != nil || holdsVariables(base) || holdsVariables(address) {
		return address
	}
	u, err := b.Parse(address)
	if err != nil {
		return address
	}
	return u.String()
}
