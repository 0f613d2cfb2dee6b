// Package capability holds what a test runs on and how: targets with their capabilities, and the
// settings of a case.
//
// CheckTarget and CheckSettings say what may be stored, CheckPermitted which capabilities reach no
// file and no program of the machine that a browser or an app runs on, and CheckPlatform whether
// a target can do the steps at all. Merge, Effective and Resolver work out what the driver gets:
// the capabilities of the target, those of the primary one below them, the vendor's names, and the
// one tunnel that the targets of a run share.
//
// Errors are those of package step, with the path of the member that is wrong.
package capability

// Target is where a test runs.
type Target struct {
	Capabilities Capabilities `json:"capabilities"`
	IsRDC        bool         `json:"isRdc"` // a real device
}

// Capabilities are W3C WebDriver capabilities, with those of vendors.
type Capabilities map[string]any

// RunSettings are how a case runs.
type RunSettings struct {
	TestURL       string   `json:"testUrl"`
	SCTunnelName  *string  `json:"scTunnelName"`
	PrimaryTarget *Target  `json:"primaryTarget"`
	RunTargets    []Target `json:"runTargets"`
	LastBuildName string   `json:"lastBuildName"`
	// Strict fails a step whose selector finds several elements and has no index;
	// nil is true. Without it the first one that can be used is.
	Strict *bool `json:"strict,omitempty"`
	// Healing is one of the modes below; "" is the suite's, else the organization's.
	Healing string `json:"healing,omitempty"`
	// Drift is one of DriftModes; "" is the suite's, else the organization's.
	Drift string `json:"drift,omitempty"`
	// Trace is one of TraceModes; "" is the suite's, else the organization's.
	Trace string `json:"trace,omitempty"`
	// Retries is how often a run that failed is played again, 0 to MaxRetries; nil is the
	// suite's, else the organization's.
	Retries *int `json:"retries,omitempty"`
	// Access is what the site of TestURL asks a browser for.
	Access
}

// The modes of traces. Without one, in the run, its case, suite and organization, those of
// tests that did not pass are kept.
const (
	TraceOff       = "off"
	TraceOnFailure = "on_failure"
	TraceOn        = "on"
)

// TraceModes are all modes.
var TraceModes = []string{TraceOff, TraceOnFailure, TraceOn}

// The modes of healing. Without one, in the case, its suite and its organization,
// healings are applied, but only suggested where the name of the element says that
// the step deletes, pays, sends or submits.
const (
	HealOff     = "off"     // a selector that finds nothing fails the step
	HealSuggest = "suggest" // so it does, and the step says which element it may be
	HealApply   = "apply"   // the step acts on the element
)

// HealModes are all modes.
var HealModes = []string{HealOff, HealSuggest, HealApply}

// The modes of drift: what follows when the element that a selector finds contradicts
// the fingerprint of the step. Without one, in the case, its suite and its organization,
// the step fails where the name of either element says that it deletes, pays, sends or
// submits, or where the element is in another row or card; else it only reports.
const (
	DriftFail   = "fail"   // the step does nothing and fails
	DriftReport = "report" // it acts on the element and says so
	DriftOff    = "off"    // nothing is compared
)

// DriftModes are all modes.
var DriftModes = []string{DriftFail, DriftReport, DriftOff}
