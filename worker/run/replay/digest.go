package replay

import (
	"net/url"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/evidence"
	"github.com/slipway-qa/slipway/worker/run/replay/session"
)

// digest stores in the result what the test saw. Nothing is asked of the browser: what is still on
// its way is missed.
func (t *testExecution) digest() {
	if t.Live || t.Driver == nil {
		return
	}
	test := evidence.Test{Steps: t.Steps, Records: t.records, TookMS: time.Since(t.began).Milliseconds(), Host: t.host(),
		Redact: t.Secrets.Redact}
	var pages *evidence.Recorder
	if t.Tracer != nil {
		pages = t.Tracer.Pages
		if t.Tracer.Traffic != nil {
			test.Network, test.Entries = true, t.Tracer.Traffic.Entries()
		}
	}
	if t.Console != nil {
		test.Console = t.Console.Errors()
		for _, line := range test.Console {
			t.result.Console = append(t.result.Console, t.Quote(line, 500))
		}
	}
	t.result.Digest = pages.Digest(test)
}

// host is that of the address that is tested; "" where there is none.
func (t *testExecution) host() string {
	address, err := step.Expand(t.TestURL, t.Secrets.Value)
	if err != nil {
		return ""
	}
	if address == "" && t.first < len(t.Steps) {
		if address, err = step.Expand(session.Innermost(t.Steps[t.first].Tool).Args.URL, t.Secrets.Value); err != nil {
			return ""
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
