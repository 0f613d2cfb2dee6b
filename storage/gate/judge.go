package gate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// judge says what a condition is by the facts at a time.
func (c *Condition) judge(f *facts, now time.Time) (r Result) {
	r = Result{Name: c.Name, Type: c.Type, Evidence: []Evidence{}}
	defer r.bound()
	switch c.Type {
	case Suites:
		c.judgeSuites(&r, f)
	case CrashGroups:
		c.judgeCrashGroups(&r, f, now)
	case CrashFree:
		c.judgeCrashFree(&r, f)
	case Signature:
		c.judgeSignature(&r, f)
	case Size:
		c.judgeSize(&r, f)
	case Symbols:
		c.judgeSymbols(&r, f)
	case Testers:
		c.judgeTesters(&r, f, now)
	default:
		r.say(Unknown, "this program does not know the type %s", c.Type)
	}
	return r
}

func (c *Condition) judgeSuites(r *Result, f *facts) {
	share, flaky := or(c.MinShare, defaultShare), c.Flaky != FlakyFailed
	r.Wanted = fmt.Sprintf("%s of the cases of %s passed", percent(100*share), count(int64(len(c.SuiteIDs)), "suite"))
	if !flaky {
		r.Wanted += ", flaky ones count as failed"
	}
	if former := c.forgotten(f); former != nil {
		*r = *former
		return
	}
	var measured []string
	for _, id := range c.SuiteIDs {
		s, there := f.suites[id]
		if !there {
			if reason := f.notStarted[id.String()]; reason != "" {
				r.part(Unknown, "the suite %s did not start: %s", id, reason)
			} else {
				r.part(Unknown, "the suite %s was not run on this build", id)
			}
			continue
		}
		if len(r.Evidence) < maxSuites {
			r.Evidence = append(r.Evidence, Evidence{Kind: OfSuiteRun, ID: s.RunID.String(), Title: s.Name, SuiteID: id.String()})
		}
		passed := s.Passed
		if !flaky {
			passed -= s.Flaky
		}
		switch {
		case s.State == "QUEUED" || s.State == "RUNNING":
			r.part(Unknown, "the suite %q runs", s.Name)
			continue
		case s.State == "CANCELLED":
			r.part(Unknown, "the last run of the suite %q was cancelled", s.Name)
			continue
		case s.Forgotten:
			r.part(Unknown, "the cases of the last run of the suite %q were deleted by retention", s.Name)
			continue
		case s.Total == 0 && s.Quarantined > 0:
			r.part(Unknown, "every case of the last run of the suite %q failed in quarantine", s.Name)
			continue
		case s.Total == 0:
			r.part(Unknown, "the last run of the suite %q had no case: %s", s.Name, s.Error)
			continue
		}
		text := fmt.Sprintf("%d of %d of %q passed", passed, s.Total, s.Name)
		if s.Quarantined > 0 {
			text += fmt.Sprintf(" (%d more failed in quarantine)", s.Quarantined)
		}
		measured = append(measured, text)
		if float64(passed) < share*float64(s.Total)-1e-9 {
			r.part(Fail, "%d of %d cases of the suite %q did not pass", s.Total-passed, s.Total, s.Name)
		} else {
			r.part(Pass, "")
		}
	}
	r.Measured = strings.Join(measured, ", ")
}

// forgotten is the former result of a condition, when the last run of each of its suites is the one
// that it was judged by, and retention deleted some of them, or of their cases; else nil.
func (c *Condition) forgotten(f *facts) *Result {
	var former []Result
	if f.EvaluatedBy != f.PolicyVersion || json.Unmarshal(f.Former, &former) != nil {
		return nil
	}
	at := slices.IndexFunc(former, func(r Result) bool { return r.Name == c.Name && r.Type == Suites })
	if at < 0 {
		return nil
	}
	judged := map[string]string{} // by the suite
	for _, e := range former[at].Evidence {
		judged[e.SuiteID] = e.ID
	}
	gone := false
	for _, id := range c.SuiteIDs {
		run, was := judged[id.String()]
		s, there := f.suites[id]
		if there && run != s.RunID.String() {
			return nil
		}
		gone = gone || was && (!there || s.Forgotten)
	}
	if !gone {
		return nil
	}
	return &former[at]
}

func (c *Condition) judgeCrashGroups(r *Result, f *facts, now time.Time) {
	kinds := "new or regressed"
	if len(c.Kinds) == 1 {
		kinds = c.Kinds[0]
	}
	var above []string
	if c.MaxReports != nil || c.MaxUsers == nil {
		above = append(above, count(or(c.MaxReports, 0), "report"))
	}
	if c.MaxUsers != nil {
		above = append(above, count(*c.MaxUsers, "user"))
	}
	window := c.window()
	r.Wanted = fmt.Sprintf("no %s crash group above %s within %s", kinds, strings.Join(above, " or "), hours(window))
	var seen int
	for i := range f.groups {
		g := &f.groups[i]
		if g.Hours != int64(window/time.Hour) || !g.counts(c) {
			continue
		}
		seen++
		tooMany := (c.MaxReports != nil || c.MaxUsers == nil) && g.Reports > or(c.MaxReports, 0)
		if tooMany || c.MaxUsers != nil && g.Users > *c.MaxUsers {
			r.part(Fail, "%q has %s", g.Title, g.size(c.MaxUsers != nil))
			r.show(OfCrashGroup, strconv.FormatInt(g.ID, 10), g.Title)
		}
	}
	r.Measured = count(int64(seen), "group")
	closes := f.CreatedAt.Add(window)
	r.next = f.unignored
	switch {
	case r.State == Fail:
	case !f.HasCrashProject:
		r.Measured = ""
		r.say(Unknown, "no crash project belongs to the app: nobody can tell whether it crashes")
	case now.Before(closes):
		r.say(Unknown, "the time ends at %s", instant(closes))
		if r.next.IsZero() || closes.Before(r.next) {
			r.next = closes
		}
	case !f.used():
		r.Measured = ""
		r.say(Unknown, "nobody used this build: there is no session and no crash of it%s", f.sessions.sharing())
	default:
		r.say(Pass, "")
	}
}

func (c *Condition) judgeCrashFree(r *Result, f *facts) {
	least := or(c.MinSessions, defaultSessions)
	var wanted []string
	if c.MinPercent != nil {
		wanted = append(wanted, "at least "+percent(*c.MinPercent))
	}
	if c.MaxDropPoints != nil {
		wanted = append(wanted, fmt.Sprintf("at most %s points below the build before", number(*c.MaxDropPoints)))
	}
	r.Wanted = fmt.Sprintf("%s of at least %s without a crash", strings.Join(wanted, ", "), count(least, "session"))
	here := f.sessions
	if f.CrashVersion != 0 {
		r.show(OfVersion, strconv.FormatInt(f.CrashVersion, 10), f.Version)
	}
	if here.Sessions < least {
		r.Measured = count(here.Sessions, "session")
		r.say(Unknown, "%s of %d are known%s", count(here.Sessions, "session"), least, here.sharing())
		return
	}
	free := here.percent()
	r.Measured = fmt.Sprintf("%s of %s", percent(free), count(here.Sessions, "session"))
	if c.MinPercent != nil {
		if free < *c.MinPercent-1e-9 {
			r.part(Fail, "%s of the sessions crashed", percent(100-free))
		} else {
			r.part(Pass, "")
		}
	}
	if c.MaxDropPoints == nil {
		return
	}
	switch was := f.before; {
	case was == nil && c.MinPercent != nil: // there is nothing to compare with: the other part says it
	case was == nil:
		r.part(Unknown, "there is no build before to compare with")
	case was.sessions.Sessions < least:
		r.part(Unknown, "the build before has %s of %d%s", count(was.sessions.Sessions, "session"), least, was.sessions.sharing())
	case was.sessions.percent()-free > *c.MaxDropPoints+1e-9:
		r.part(Fail, "the build before had %s", percent(was.sessions.percent()))
		r.show(OfBuild, strconv.FormatInt(was.ID, 10), was.Version)
	default:
		r.part(Pass, "")
	}
}

// sharing says which sessions alone count, "" for all.
func (s sessionFacts) sharing() string {
	if !s.Shared {
		return ""
	}
	return ": another build of the app has this version, so that only sessions count which the SDK recorded of this build"
}

func (c *Condition) judgeTesters(r *Result, f *facts, now time.Time) {
	least, noBlocker, window := or(c.MinTesters, defaultTesters), or(c.NoBlocker, true), c.window()
	r.Wanted = "installed by at least " + count(least, "tester")
	if noBlocker {
		r.Wanted += ", and no blocker"
		if window > 0 {
			r.Wanted += " within " + hours(window)
		}
	}
	r.Measured = count(f.Testers, "tester")
	r.show(OfInstalls, strconv.FormatInt(f.BuildID, 10), "installs")
	if noBlocker {
		for _, b := range f.blockers {
			if window == 0 || b.At.Before(f.CreatedAt.Add(window)) {
				r.part(Fail, "a tester reported a blocker: %s", b.Text)
				r.show(OfFeedback, strconv.FormatInt(b.ID, 10), b.Text)
			}
		}
	}
	if f.Testers < least {
		r.part(Unknown, "%d of %s installed it", f.Testers, count(least, "tester"))
	} else {
		r.part(Pass, "")
	}
	if closes := f.CreatedAt.Add(window); noBlocker && window > 0 && r.State != Fail && now.Before(closes) {
		r.part(Unknown, "the time ends at %s", instant(closes))
		r.next = closes
	}
}

// count is a number with its noun.
func count(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.FormatInt(n, 10) + " " + noun
}

func percent(p float64) string { return number(p) + " %" }

// number has at most two digits behind the point.
func number(f float64) string {
	text := strconv.FormatFloat(f, 'f', 2, 64)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

func hours(d time.Duration) string { return count(int64(d/time.Hour), "hour") }

func instant(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// earliest is the first of the times that are not zero.
func earliest(list []Result) time.Time {
	var times []time.Time
	for i := range list {
		if !list[i].next.IsZero() {
			times = append(times, list[i].next)
		}
	}
	if len(times) == 0 {
		return time.Time{}
	}
	return slices.MinFunc(times, time.Time.Compare)
}
