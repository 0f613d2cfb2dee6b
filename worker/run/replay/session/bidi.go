package session

import (
	"context"

	"github.com/slipway-qa/slipway/worker/browser/webdriver"
	"github.com/slipway-qa/slipway/worker/run/replay/failure"
)

// BiDi returns the session's BiDi connection, or the failure that there is none.
func (x *Execution) BiDi(ctx context.Context, tool string) (*webdriver.BiDi, error) {
	if x.Driver.Capabilities["webSocketUrl"] == nil {
		return nil, failure.Stepf("%s needs WebDriver BiDi, which this browser does not offer", tool)
	}
	return x.Driver.BiDi(ctx)
}

// HasDevTools reports whether the remote end passes commands of DevTools on.
func (s *Session) HasDevTools() bool {
	return s.Lease.Local || s.Driver.Capabilities["goog:chromeOptions"] != nil
}
