package ops

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/tasks"
)

// Capability is something that a process does for somebody, with the checks that it
// depends on.
type Capability struct {
	// Name stands in the answer; unique in a process.
	Name string
	// Needs are the checks without which it does nothing, Slows those without which it
	// does it later.
	Needs, Slows []string
}

// ability is how a capability stands, as /readyz shows it.
type ability struct {
	Status string `json:"status"` // ok, degraded: later; unavailable
	// Failing are the dependencies that are the cause, with the reason of each.
	Failing map[string]string `json:"failing,omitempty"`
}

// stand returns how the capability stands by the outcomes of the checks.
func (c Capability) stand(checks map[string]outcome) ability {
	a := ability{Status: statusOK}
	note := func(names []string, status string) {
		for _, name := range names {
			o, checked := checks[name]
			if !checked || o.Status == "ok" {
				continue
			}
			if a.Failing == nil {
				a.Failing = map[string]string{}
			}
			a.Failing[name] = o.Error
			a.Status = status
		}
	}
	note(c.Slows, statusDegraded)
	note(c.Needs, statusUnavailable)
	return a
}

// apiCapabilities are the capabilities of an api. It serves them by the database alone, but
// for files; work that Redis carries starts later without it.
func apiCapabilities() []Capability {
	return []Capability{
		{Name: "crash_intake", Needs: []string{Postgres}, Slows: []string{Redis}},
		{Name: "uploads", Needs: []string{Postgres, Objects}, Slows: []string{Redis}},
		{Name: "downloads", Needs: []string{Postgres, Objects}},
		{Name: "reading", Needs: []string{Postgres}},
		{Name: "search", Needs: []string{Postgres}},
		{Name: "runs", Needs: []string{Postgres}, Slows: []string{Redis}},
		{Name: "mail", Needs: []string{Postgres}, Slows: []string{Redis}},
	}
}

// queueCapability is what a queue does.
func queueCapability(queue string) (Capability, bool) {
	switch queue {
	case "schedule":
		return Capability{Name: "schedules", Needs: []string{Postgres, Redis}}, true
	case "critical":
		return Capability{Name: "urgent_mail", Needs: []string{Postgres, Redis, MailServer}}, true
	case "default":
		return Capability{Name: "builds", Needs: []string{Postgres, Redis, Objects}}, true
	case "sync":
		return Capability{Name: "build_sync", Needs: []string{Postgres, Redis, Objects}}, true
	case "run":
		return Capability{Name: "runs", Needs: []string{Postgres, Redis, Objects, Browsers}}, true
	case "generate":
		return Capability{Name: "generation", Needs: []string{Postgres, Redis, Objects, Browsers}, Slows: []string{Model}}, true
	case "crash":
		return Capability{Name: "crash_processing", Needs: []string{Postgres, Redis}, Slows: []string{Objects}}, true
	case "mail":
		return Capability{Name: "mail", Needs: []string{Postgres, Redis, MailServer}}, true
	case "webhook", "webhook-slow":
		return Capability{Name: "webhooks", Needs: []string{Postgres, Redis}}, true
	case "bulk":
		return Capability{Name: "maintenance", Needs: []string{Postgres, Redis}, Slows: []string{Objects}}, true
	}
	return Capability{}, false
}

// schedulerCapabilities: it delivers tasks, and takes those of workers that died.
func schedulerCapabilities() []Capability {
	return []Capability{
		{Name: "delivery", Needs: []string{Postgres, Redis, checkLoops}},
		{Name: "rescue", Needs: []string{Postgres, checkLoops}},
	}
}

// capabilities returns those of all tiers of the process. One that several have needs
// what each of them needs.
func (p Process) capabilities() []Capability {
	var all []Capability
	if p.API {
		all = append(all, apiCapabilities()...)
	}
	if p.Worker {
		for _, queue := range p.Queues {
			if c, ok := queueCapability(queue); ok {
				all = append(all, c)
			}
		}
	}
	if p.Scheduler {
		all = append(all, schedulerCapabilities()...)
	}
	var merged []Capability
	for _, c := range all {
		at := slices.IndexFunc(merged, func(m Capability) bool { return m.Name == c.Name })
		if at < 0 {
			merged = append(merged, c)
			continue
		}
		m := &merged[at]
		m.Needs = union(m.Needs, c.Needs)
		m.Slows = union(m.Slows, c.Slows)
	}
	return merged
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Require makes the process unavailable when one of these capabilities is, not only
// when all are. Those that other tiers have are passed over, since all tiers of an
// installation may share their settings. The error names what no tier is capable of.
func (r *Readiness) Require(names []string) error {
	everywhere := Process{API: true, Worker: true, Scheduler: true, Queues: tasks.Queues()}.capabilities()
	var required []string
	for _, name := range names {
		switch {
		case r.has(name):
			required = append(required, name)
		case !slices.ContainsFunc(everywhere, func(c Capability) bool { return c.Name == name }):
			return r.unknown(name)
		}
	}
	r.required = required
	r.mark()
	return nil
}

func (r *Readiness) has(name string) bool {
	return slices.ContainsFunc(r.capabilities, func(c Capability) bool { return c.Name == name })
}

func (r *Readiness) unknown(name string) error {
	var known []string
	for _, c := range r.capabilities {
		known = append(known, c.Name)
	}
	return fmt.Errorf("capability %q: this process has %s", name, strings.Join(known, ", "))
}

// mark finds out which checks make the process unavailable alone: these get more time.
func (r *Readiness) mark() {
	for _, c := range r.checks {
		if c.Func == nil || c.always {
			continue
		}
		alone := map[string]outcome{c.Name: {Status: "failed"}}
		c.Critical = r.status(alone, r.abilities(alone)) == statusUnavailable
		c.call.limit = besideLimit
		if c.Critical {
			c.call.limit = callLimit
		}
	}
}

// abilities returns how each capability stands.
func (r *Readiness) abilities(checks map[string]outcome) map[string]ability {
	if len(r.capabilities) == 0 {
		return nil
	}
	abilities := make(map[string]ability, len(r.capabilities))
	for _, c := range r.capabilities {
		abilities[c.Name] = c.stand(checks)
	}
	return abilities
}

// status sums up: unavailable where a check that is critical by itself failed, a
// required capability is unavailable, or all are; else degraded where anything failed.
func (r *Readiness) status(checks map[string]outcome, abilities map[string]ability) string {
	status := statusOK
	for _, o := range checks {
		if o.Status == "ok" {
			continue
		}
		if o.always {
			return statusUnavailable
		}
		status = statusDegraded
	}
	down := 0
	for name, a := range abilities {
		if a.Status != statusUnavailable {
			continue
		}
		down++
		if slices.Contains(r.required, name) {
			return statusUnavailable
		}
	}
	if down > 0 && down == len(abilities) {
		return statusUnavailable
	}
	return status
}

// only returns the part of the report that is about some capabilities, and sums it up.
func (r *Readiness) only(rep report, names []string) report {
	part := report{Status: statusOK, Checks: map[string]outcome{}, Capabilities: map[string]ability{}}
	for _, c := range r.capabilities {
		if !slices.Contains(names, c.Name) {
			continue
		}
		a := rep.Capabilities[c.Name]
		part.Capabilities[c.Name] = a
		switch {
		case a.Status == statusUnavailable:
			part.Status = statusUnavailable
		case a.Status == statusDegraded && part.Status == statusOK:
			part.Status = statusDegraded
		}
		for _, name := range slices.Concat(c.Needs, c.Slows) {
			if o, ok := rep.Checks[name]; ok {
				part.Checks[name] = o
			}
		}
	}
	return part
}
