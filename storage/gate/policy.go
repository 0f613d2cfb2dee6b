package gate

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// Type is what a condition looks at.
type Type string

// The types of conditions.
const (
	Suites      Type = "suites"       // test suites that were run on the build
	CrashGroups Type = "crash_groups" // new and regressed groups of crashes
	CrashFree   Type = "crash_free"   // sessions without a crash
	Signature   Type = "signature"    // of the package
	Size        Type = "size"         // of the package
	Symbols     Type = "symbols"      // that crashes of the build need
	Testers     Type = "testers"      // who installed it, and what they say
)

// Types are all types of conditions.
func Types() []Type {
	return []Type{Suites, CrashGroups, CrashFree, Signature, Size, Symbols, Testers}
}

// The bounds of a policy.
const (
	MaxConditions = 20
	// maxSuites bounds the suites of a condition, and those that an upload runs.
	maxSuites   = 20
	maxChannels = 20
	maxHosts    = 20
	maxName     = 60
	// MaxHours is the longest time after the upload in which crashes and blockers count.
	MaxHours = 30 * 24
	// maxReports and maxUsers bound how many may have a crash. Of a group no more users are told
	// apart than the database keeps for it.
	maxReports = 1_000_000
	maxUsers   = 500
	maxTesters = 10_000
	maxBytes   = 1 << 40
	maxURL     = 2000
)

// Defaults of members that a condition leaves out.
const (
	defaultShare    = 1.0
	defaultHours    = 24
	defaultSessions = 100
	defaultTesters  = 1
)

// How flaky cases count.
const (
	FlakyPassed = "passed"
	FlakyFailed = "failed"
)

// The kinds of crash groups.
const (
	NewGroups       = "new"
	RegressedGroups = "regressed"
)

// Policy is what an app asks of its builds before they go on.
type Policy struct {
	Conditions []Condition `json:"conditions"`
	// Channels are those whose builds have a gate; none: all have one. "" is the channel of
	// builds without one.
	Channels []string `json:"channels,omitempty"`
	// HoldNotifications keeps the mail about a new build from testers until the gate is pass.
	HoldNotifications bool `json:"hold_notifications"`
	// RunSuites are started on each new build.
	RunSuites []SuiteToRun `json:"run_suites,omitempty"`
	// AllowedHosts are those that values of a build may name in an address of RunSuites:
	// staging.example.com, or *.example.com for all below it. They are required where the values
	// decide on the domain.
	AllowedHosts []string `json:"allowed_hosts,omitempty"`
}

// SuiteToRun is a suite that an upload starts.
type SuiteToRun struct {
	SuiteID uuid.UUID `json:"suite_id"`
	// URL is the web address that the suite runs on, in which {{metadata.KEY}}, {{version}},
	// {{version_code}} and {{build_id}} stand for those of the build, encoded behind the host; "":
	// where each case was recorded, or the package itself on targets that install one.
	URL string `json:"url,omitempty"`
}

// Condition is one thing that a policy asks for. Of the members behind Type a condition has
// those of its type; the ones it leaves out have their defaults.
type Condition struct {
	Name string `json:"name"`
	Type Type   `json:"type"`

	SuiteIDs []uuid.UUID `json:"suite_ids,omitempty"` // suites
	MinShare *float64    `json:"min_share,omitempty"` // suites: of the cases, 0 to 1
	Flaky    string      `json:"flaky,omitempty"`     // suites: passed or failed

	Kinds      []string `json:"kinds,omitempty"`       // crash_groups: new, regressed
	MaxReports *int64   `json:"max_reports,omitempty"` // crash_groups: of one group
	MaxUsers   *int64   `json:"max_users,omitempty"`   // crash_groups: of one group

	MinPercent    *float64 `json:"min_percent,omitempty"`     // crash_free
	MaxDropPoints *float64 `json:"max_drop_points,omitempty"` // crash_free: below the build before
	MinSessions   *int64   `json:"min_sessions,omitempty"`    // crash_free

	Verified   *bool `json:"verified,omitempty"`    // signature
	SameSigner *bool `json:"same_signer,omitempty"` // signature: as the build before

	MaxBytes         *int64   `json:"max_bytes,omitempty"`          // size
	MaxGrowthPercent *float64 `json:"max_growth_percent,omitempty"` // size: above the build before

	Mapping *bool `json:"mapping,omitempty"` // symbols: an obfuscation mapping must be there

	MinTesters *int64 `json:"min_testers,omitempty"` // testers
	NoBlocker  *bool  `json:"no_blocker,omitempty"`  // testers

	Hours *int64 `json:"hours,omitempty"` // crash_groups, testers: after the upload
}

// members returns the members that the condition has beside name and type, and those that its
// type takes.
func (c *Condition) members() (has, takes []string) {
	for name, there := range map[string]bool{
		"suite_ids": c.SuiteIDs != nil, "min_share": c.MinShare != nil, "flaky": c.Flaky != "",
		"kinds": c.Kinds != nil, "max_reports": c.MaxReports != nil, "max_users": c.MaxUsers != nil,
		"min_percent": c.MinPercent != nil, "max_drop_points": c.MaxDropPoints != nil, "min_sessions": c.MinSessions != nil,
		"verified": c.Verified != nil, "same_signer": c.SameSigner != nil,
		"max_bytes": c.MaxBytes != nil, "max_growth_percent": c.MaxGrowthPercent != nil,
		"mapping": c.Mapping != nil, "min_testers": c.MinTesters != nil, "no_blocker": c.NoBlocker != nil, "hours": c.Hours != nil,
	} {
		if there {
			has = append(has, name)
		}
	}
	slices.Sort(has)
	return has, map[Type][]string{
		Suites:      {"suite_ids", "min_share", "flaky"},
		CrashGroups: {"kinds", "max_reports", "max_users", "hours"},
		CrashFree:   {"min_percent", "max_drop_points", "min_sessions"},
		Signature:   {"verified", "same_signer"},
		Size:        {"max_bytes", "max_growth_percent"},
		Symbols:     {"mapping"},
		Testers:     {"min_testers", "no_blocker", "hours"},
	}[c.Type]
}

func is(v *bool) bool { return v != nil && *v }

func or[T any](v *T, otherwise T) T {
	if v == nil {
		return otherwise
	}
	return *v
}

// verified reports whether the signature must be: it is what is asked for where nothing else is.
func (c *Condition) verified() bool { return or(c.Verified, !is(c.SameSigner)) }

// wantsKind reports whether groups of a kind count.
func (c *Condition) wantsKind(kind string) bool {
	return c.Kinds == nil || slices.Contains(c.Kinds, kind)
}

// window is the time after the upload in which crashes and blockers count; 0: for good.
func (c *Condition) window() time.Duration {
	switch {
	case c.Hours != nil:
		return time.Duration(*c.Hours) * time.Hour
	case c.Type == CrashGroups:
		return defaultHours * time.Hour
	}
	return 0
}

// windows are the hours in which crash groups are counted, each once, ascending.
func (p *Policy) windows() []int64 {
	list := []int64{}
	for i := range p.Conditions {
		if c := &p.Conditions[i]; c.Type == CrashGroups {
			list = append(list, int64(c.window()/time.Hour))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func (p *Policy) any(does func(*Condition) bool) bool {
	for i := range p.Conditions {
		if does(&p.Conditions[i]) {
			return true
		}
	}
	return false
}

// countsUsers reports whether the users of crash groups matter.
func (p *Policy) countsUsers() bool {
	return p.any(func(c *Condition) bool { return c.MaxUsers != nil })
}

// countsSessions reports whether numbers of sessions matter: crash groups ask whether somebody used
// the build.
func (p *Policy) countsSessions() bool {
	return p.any(func(c *Condition) bool { return c.Type == CrashFree || c.Type == CrashGroups })
}

// Covers reports whether builds of a channel have a gate.
func (p *Policy) Covers(channel string) bool {
	return len(p.Channels) == 0 || slices.Contains(p.Channels, channel)
}

// keeps reports whether a build has a gate by the channel that it is in, or by the last one of its
// gate: a policy that holds notifications is not left by moving a build to another channel.
func (p *Policy) keeps(channel, ofGate string) bool {
	return p.Covers(channel) || p.HoldNotifications && p.Covers(ofGate)
}

// suites are those that the policy names, each once.
func (p *Policy) suites() []uuid.UUID {
	var list []uuid.UUID
	add := func(id uuid.UUID) {
		if !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	for i := range p.Conditions {
		for _, id := range p.Conditions[i].SuiteIDs {
			add(id)
		}
	}
	for i := range p.RunSuites {
		add(p.RunSuites[i].SuiteID)
	}
	return list
}

// document is the policy as it is stored.
func (p *Policy) document() (string, error) {
	doc, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("gate policy: %w", err)
	}
	return storage.WithoutNUL(string(doc)), nil
}
