package reason

import (
	"fmt"
	"strings"

	"github.com/slipway-qa/slipway/storage/failure"
	"github.com/slipway-qa/slipway/storage/run"
)

// rule says in a sentence why it holds; "" where it does not.
type rule struct {
	name   string
	reason failure.Reason
	holds  func(*facts) string
}

// healBound is how much of what is known of an element must still fit for it to be the one that
// moved, from 0 to 1.
const healBound = 0.7

// rules are all there are; docs/failing.md has them as a table, in this order.
func rules() []rule {
	return []rule{
		{"no-browser", failure.Environment, noBrowser},
		{"not-prepared", failure.Environment, notPrepared},
		{"no-connection", failure.Environment, noConnection},
		{"host-lost", failure.Environment, hostLost},
		{"value-gone", failure.Environment, valueGone},
		{"value-never-there", failure.Test, valueNeverThere},
		{"group-broken", failure.Test, groupBroken},
		{"server-error", failure.Product, serverError},
		{"build-changed", failure.Product, buildChanged},
		{"element-moved", failure.Test, elementMoved},
		{"case-changed", failure.Test, caseChanged},
	}
}

func noBrowser(f *facts) string {
	switch f.Code {
	case run.CodeNoSession:
		return "There was no browser to play the test in."
	case run.CodeBrowserLost:
		return "The browser was lost while the test was played."
	case run.CodeWorkerLost:
		return "The workers that played the test were lost."
	}
	return ""
}

func notPrepared(f *facts) string {
	switch f.Code {
	case run.CodeEnvironment:
		return "The environment cannot be used for the test."
	case run.CodeTunnel:
		return "The tunnel is not there."
	case run.CodeApp:
		return "The app is not there."
	case run.CodeInternal:
		return "The test could not be played, which is a fault of the installation."
	}
	return ""
}

// connectionSigns are what browsers say when a host cannot be found, connected to or trusted.
var connectionSigns = []string{
	"ERR_NAME_", "ERR_DNS_", "ERR_CONNECTION_", "ERR_ADDRESS_UNREACHABLE", "ERR_ADDRESS_INVALID", "ERR_INTERNET_DISCONNECTED",
	"ERR_NETWORK_CHANGED", "ERR_NETWORK_ACCESS_DENIED", "ERR_TIMED_OUT", "ERR_SSL_", "ERR_CERT_", "ERR_PROXY_", "ERR_TUNNEL_",
	"NS_ERROR_UNKNOWN_HOST", "NS_ERROR_CONNECTION_REFUSED", "NS_ERROR_NET_", "dnsNotFound", "connectionFailure", "netTimeout", "nssFailure",
	"netReset", "proxyConnectFailure", "proxyResolveFailure",
}

func connectionSign(text string) string {
	for _, sign := range connectionSigns {
		if at := strings.Index(text, sign); at >= 0 {
			end := at + len(sign)
			for end < len(text) && (text[end] == '_' || text[end] >= 'A' && text[end] <= 'Z') {
				end++
			}
			return text[at:end]
		}
	}
	return ""
}

func noConnection(f *facts) string {
	if f.Code != run.CodeUnreachable {
		return ""
	}
	if sign := connectionSign(f.Message); sign != "" {
		return "The page could not be reached: " + sign + "."
	}
	if f.Step == nil && f.Seen == nil {
		return ""
	}
	if r := f.culprit(); r != nil && connectionSign(r.Failure) != "" {
		return "The page could not be reached: " + r.Failure + "."
	}
	return ""
}

// hostLost: a request to the host that is tested got no connection.
func hostLost(f *facts) string {
	if !f.stepFailed() {
		return ""
	}
	for _, r := range f.failing {
		if r.Status == 0 && connectionSign(r.Failure) != "" {
			return sentence(r)
		}
	}
	return ""
}

func valueGone(f *facts) string {
	if f.Code == run.CodeVariable && f.comparison != nil && f.comparison.SameSteps {
		return "A variable has no value, and the same steps passed when it had one."
	}
	return ""
}

func valueNeverThere(f *facts) string {
	if f.Code == run.CodeVariable && f.comparison != nil && !f.comparison.SameSteps {
		return "A variable has no value, and the steps have changed since they passed."
	}
	return ""
}

func groupBroken(f *facts) string {
	switch f.Code {
	case run.CodeNoGroup:
		return "A step group that the test uses is not there."
	case run.CodeGroup:
		return "The steps of a step group cannot be put into the test."
	}
	return ""
}

// stepFailed reports whether the test began and a step of it failed.
func (f *facts) stepFailed() bool {
	switch f.Code {
	case run.CodeStepFailed, run.CodeAssertionFailed, run.CodeDrifted, run.CodeUnreachable, run.CodeTimeout:
		return true
	}
	return false
}

func serverError(f *facts) string {
	if !f.stepFailed() {
		return ""
	}
	for _, r := range f.failing {
		if r.Status >= 500 {
			return sentence(r)
		}
	}
	return ""
}

// buildChanged: of a test that fails now and then a failure on another build proves nothing, for
// where each run has a build of its own all its failures are on another one.
func buildChanged(f *facts) string {
	c := f.comparison
	if f.Code != run.CodeAssertionFailed || !f.comparable() || !c.SameSteps || c.SameBuild == nil || *c.SameBuild || f.nowAndThen() != "" {
		return ""
	}
	return "The same steps passed on another build, and what they assert is not true on this one."
}

func elementMoved(f *facts) string {
	if f.Code != run.CodeStepFailed || f.Step == nil || !f.quiet() {
		return ""
	}
	if s := f.Step.Suggested; s != nil && s.Score >= healBound {
		return fmt.Sprintf("The element is there under another selector (%.0f %% of what is known of it still fits), and nothing else "+
			"has changed.", 100*s.Score)
	}
	return ""
}

func caseChanged(f *facts) string {
	c := f.comparison
	if !f.stepFailed() || c == nil || c.SameSteps || c.SameBuild == nil || !*c.SameBuild || !f.quiet() || f.Step == nil {
		return ""
	}
	return "The steps have changed since they passed on the same build, and nothing else was seen to differ."
}
