package replay

import (
	"net/url"
	"time"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/worker/run/evidence"
)

// digest stores in the result what the test saw. Nothing is asked of the browser: what is still on
// its way is missed.
func (t *testExecution) digest() {
	if t.live || t.driver == nil {
		return
	}
	test := evidence.Test{Steps: t.Steps, Records: t.records, TookMS: time.Since(t.began).Milliseconds(), Host: t.host(), Redact: t.secrets.redact}
	var pages *evidence.Recorder
	if t.tracer != nil {
		pages = t.tracer.pages
		if t.tracer.traffic != nil {
			test.Network, test.Entries = true, t.tracer.traffic.Entries()
		}
	}
	if t.console != nil {
		test.Console = t.console.errors()
		for _, line := range test.Console {
			t.result.Console = append(t.result.Console, t.quote(line, 500))
		}
	}
	t.result.Digest = pages.Digest(test)
}

// host is that of the address that is tested; "" where there is none.
func (t *testExecution) host() string {
	address, err := step.Expand(t.TestURL, t.secrets.value)
	if err != nil {
		return ""
	}
	if address == "" && t.first < len(t.Steps) {
		if address, err = step.Expand(innermost(t.Steps[t.first].Tool).Args.URL, t.secrets.value); err != nil {
			return ""
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
