package gate

import (
	"fmt"
	"math"
	"net/url"
	"slices"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage"
)

// Check refuses a policy that breaks a rule, and brings its texts into the form in which they
// are stored. A *storage.InvalidError names the member by its path.
func (p *Policy) Check() error {
	if len(p.Conditions) > MaxConditions {
		return storage.Invalid("conditions", "must be at most %d", MaxConditions)
	}
	if len(p.Conditions) == 0 && (len(p.RunSuites) == 0 || p.HoldNotifications) {
		return storage.Invalid("conditions", "must have at least one: a gate never passes because nothing was measured")
	}
	names := map[string]bool{}
	for i := range p.Conditions {
		c, path := &p.Conditions[i], fmt.Sprintf("conditions[%d]", i)
		if err := c.check(path); err != nil {
			return err
		}
		if names[c.Name] {
			return storage.Invalid(path+".name", "is the name of another condition")
		}
		names[c.Name] = true
	}
	if len(p.Channels) > maxChannels {
		return storage.Invalid("channels", "must be at most %d", maxChannels)
	}
	for i := range p.Channels {
		var err error
		if p.Channels[i], err = storage.Line(fmt.Sprintf("channels[%d]", i), p.Channels[i], maxName); err != nil {
			return err
		}
	}
	return p.checkSuitesToRun()
}

func (p *Policy) checkSuitesToRun() error {
	if len(p.RunSuites) > maxSuites {
		return storage.Invalid("run_suites", "must be at most %d", maxSuites)
	}
	if len(p.AllowedHosts) > maxHosts {
		return storage.Invalid("allowed_hosts", "must be at most %d", maxHosts)
	}
	for i := range p.AllowedHosts {
		var err error
		if p.AllowedHosts[i], err = checkAllowed(fmt.Sprintf("allowed_hosts[%d]", i), p.AllowedHosts[i]); err != nil {
			return err
		}
	}
	seen := map[uuid.UUID]bool{}
	for i := range p.RunSuites {
		s, path := &p.RunSuites[i], fmt.Sprintf("run_suites[%d]", i)
		if s.SuiteID == uuid.Nil {
			return storage.Invalid(path+".suite_id", "is required")
		}
		if seen[s.SuiteID] {
			return storage.Invalid(path+".suite_id", "stands twice")
		}
		seen[s.SuiteID] = true
		if err := p.checkAddress(path+".url", s.URL); err != nil {
			return err
		}
	}
	return nil
}

// checkAddress refuses an address that can be none, whatever stands for its placeholders, and
// one whose host a value decides on where no hosts are allowed.
func (p *Policy) checkAddress(path, text string) error {
	if text == "" {
		return nil
	}
	if _, err := storage.Line(path, text, maxURL); err != nil {
		return err
	}
	a, err := parseAddress(text)
	if err != nil {
		return storage.Invalid(path, "%s", err)
	}
	if a.open() && len(p.AllowedHosts) == 0 {
		return storage.Invalid("allowed_hosts", "is required: whoever uploads a build decides on the host of %s", path)
	}
	a.host = slices.Clone(a.host)
	for i := range a.host {
		if a.host[i].placeholder {
			a.host[i] = addressPart{text: "x"}
		}
	}
	filled, err := a.fill(nil, func(string) (string, bool) { return "x", true })
	if err != nil {
		return storage.Invalid(path, "%s", err)
	}
	if u, err := url.Parse(filled); err != nil || u.Host == "" {
		return storage.Invalid(path, "must be an http or https address")
	}
	return nil
}

// check refuses a condition that breaks a rule; path leads to it.
func (c *Condition) check(path string) (err error) {
	if c.Name, err = storage.Line(path+".name", c.Name, maxName); err != nil {
		return err
	}
	if c.Name == "" {
		return storage.Invalid(path+".name", "is required")
	}
	if !slices.Contains(Types(), c.Type) {
		return storage.Invalid(path+".type", "must be one of %v", Types())
	}
	has, takes := c.members()
	for _, name := range has {
		if !slices.Contains(takes, name) {
			return storage.Invalid(path+"."+name, "is no member of the type %s", c.Type)
		}
	}
	for _, f := range []func(string) error{c.checkSuites, c.checkCrashes, c.checkPackage, c.checkNumbers} {
		if err := f(path); err != nil {
			return err
		}
	}
	return nil
}

func (c *Condition) checkSuites(path string) error {
	if c.Type != Suites {
		return nil
	}
	if len(c.SuiteIDs) == 0 || len(c.SuiteIDs) > maxSuites {
		return storage.Invalid(path+".suite_ids", "must be 1 to %d suites", maxSuites)
	}
	for i, id := range c.SuiteIDs {
		if id == uuid.Nil || slices.Contains(c.SuiteIDs[:i], id) {
			return storage.Invalid(fmt.Sprintf("%s.suite_ids[%d]", path, i), "must be a suite, named once")
		}
	}
	if c.Flaky != "" && c.Flaky != FlakyPassed && c.Flaky != FlakyFailed {
		return storage.Invalid(path+".flaky", "must be %s or %s", FlakyPassed, FlakyFailed)
	}
	return nil
}

func (c *Condition) checkCrashes(path string) error {
	for i, kind := range c.Kinds {
		if kind != NewGroups && kind != RegressedGroups || slices.Contains(c.Kinds[:i], kind) {
			return storage.Invalid(fmt.Sprintf("%s.kinds[%d]", path, i), "must be %s or %s, each once", NewGroups, RegressedGroups)
		}
	}
	if c.Kinds != nil && len(c.Kinds) == 0 {
		return storage.Invalid(path+".kinds", "must have at least one")
	}
	if c.Type == CrashFree && c.MinPercent == nil && c.MaxDropPoints == nil {
		return storage.Invalid(path, "needs min_percent or max_drop_points")
	}
	return nil
}

func (c *Condition) checkPackage(path string) error {
	switch {
	case c.Type == Size && c.MaxBytes == nil && c.MaxGrowthPercent == nil:
		return storage.Invalid(path, "needs max_bytes or max_growth_percent")
	case c.Type == Signature && !c.verified() && !is(c.SameSigner):
		return storage.Invalid(path, "must ask for verified or same_signer")
	case c.Type == Testers && c.NoBlocker != nil && !*c.NoBlocker && c.MinTesters != nil && *c.MinTesters == 0:
		return storage.Invalid(path, "must ask for min_testers or no_blocker")
	}
	return nil
}

func (c *Condition) checkNumbers(path string) error {
	for _, n := range []struct {
		name        string
		value       *int64
		least, most int64
	}{
		{"max_reports", c.MaxReports, 0, maxReports}, {"max_users", c.MaxUsers, 0, maxUsers}, {"min_sessions", c.MinSessions, 1, 1_000_000_000},
		{"max_bytes", c.MaxBytes, 1, maxBytes}, {"min_testers", c.MinTesters, 0, maxTesters}, {"hours", c.Hours, 1, MaxHours},
	} {
		if n.value != nil && (*n.value < n.least || *n.value > n.most) {
			return storage.Invalid(path+"."+n.name, "must be %d to %d", n.least, n.most)
		}
	}
	for _, n := range []struct {
		name        string
		value       *float64
		least, most float64
	}{
		{"min_share", c.MinShare, 0, 1}, {"min_percent", c.MinPercent, 0, 100}, {"max_drop_points", c.MaxDropPoints, 0, 100},
		{"max_growth_percent", c.MaxGrowthPercent, 0, 10_000},
	} {
		if n.value != nil && (math.IsNaN(*n.value) || *n.value < n.least || *n.value > n.most) {
			return storage.Invalid(path+"."+n.name, "must be %g to %g", n.least, n.most)
		}
	}
	if c.MinShare != nil && *c.MinShare == 0 {
		return storage.Invalid(path+".min_share", "must be above 0")
	}
	return nil
}
