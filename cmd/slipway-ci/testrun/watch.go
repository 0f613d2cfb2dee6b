package testrun

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/progress"
)

const (
	// liveWait and logWait are how long the server may wait with an answer: before a person,
	// a table that moves; in a log, a line in ten seconds.
	liveWait = 3 * time.Second
	logWait  = 10 * time.Second
	// besides is how many runs are looked at between two waits for the first of them.
	besides = 3
)

// job is a test on one target.
type job struct {
	test  Test
	runID string
	of    client.TestJob
	// quarantine is why it fails nothing when it fails; nil where it does.
	quarantine *client.Quarantine
}

// watch follows runs until they have ended.
type watch struct {
	*Config
	plan  *Plan
	units []*unit
	jobs  map[string]*job // by id
	order []string
	table *progress.Table
}

func (c *Config) watch(p *Plan) *watch {
	return &watch{Config: c, plan: p, jobs: map[string]*job{}, table: c.Out.Table("TEST", "TARGET", "STATE", "TIME")}
}

func (w *watch) end() { w.table.End() }

func (w *watch) add(u *unit) {
	w.units = append(w.units, u)
	w.show(u)
}

// wait reads runs until all have ended: the first that has not is waited for, and a few
// others are looked at in turn.
func (w *watch) wait(ctx context.Context) error {
	long := logWait
	if w.Out.Live() {
		long = liveWait
	}
	for turn := 0; ; turn++ {
		var open []*unit
		for _, u := range w.units {
			if !u.ended() {
				open = append(open, u)
			}
		}
		if len(open) == 0 {
			return nil
		}
		asked := time.Now()
		if err := w.look(ctx, open[0], long); err != nil {
			return err
		}
		for i := range min(besides, len(open)-1) {
			if err := w.look(ctx, open[1+(turn*besides+i)%(len(open)-1)], 0); err != nil {
				return err
			}
		}
		if open[0].ended() {
			continue
		}
		// A server that does not wait is not asked without a pause.
		if err := client.Pause(ctx, max(0, time.Second-time.Since(asked))); err != nil {
			return err
		}
	}
}

func (w *watch) look(ctx context.Context, u *unit, wait time.Duration) error {
	if err := w.read(ctx, u, wait); err != nil {
		return err
	}
	w.show(u)
	return nil
}

// show puts a run into the table.
func (w *watch) show(u *unit) {
	for i := range u.runs {
		r := &u.runs[i]
		for k := range r.Jobs {
			w.showJob(u, r, k)
		}
	}
	if u.skipped != "" {
		w.table.Set("unit "+u.of.ID, progress.Waiting, u.name(), "", "skipped", "")
	}
	if len(u.runs) == 0 && u.skipped == "" {
		w.table.Set("unit "+u.id, state(u.status), u.name(), "", word(u.status), "")
	} else if u.of == nil {
		w.table.Set("unit "+u.id, state(u.status), u.name(), "suite", word(u.status), "")
	}
	w.table.Summary(w.sums())
}

func (w *watch) showJob(u *unit, r *client.TestRun, k int) {
	of := r.Jobs[k]
	j := w.jobs[of.ID]
	if j == nil {
		j = &job{test: Test{ID: r.TestCaseID, Name: r.TestCaseName}, runID: r.ID}
		if j.test.Suite = u.suite.Name; u.of != nil {
			j.test.Suite = u.of.Suite
		} else {
			j.quarantine = r.Quarantine
		}
		w.jobs[of.ID], w.order = j, append(w.order, of.ID)
	}
	j.of = of
	say := word(of.Status)
	if of.AttemptCount > 1 {
		say = fmt.Sprintf("%s, attempt %d", say, of.AttemptCount)
	}
	shown := state(of.Status)
	if shown == progress.Bad && j.quarantine != nil {
		shown, say = progress.Poor, say+" in quarantine"
	}
	w.table.Set(of.ID, shown, of.Name, targetName(of.Target), say, took(of.StartDate, of.EndDate))
}

// sums is the state in a line.
func (w *watch) sums() string {
	if len(w.order) == 0 {
		return "starting"
	}
	n := map[string]int{}
	for _, id := range w.order {
		n[w.jobs[id].of.Status]++
	}
	parts := []string{fmt.Sprintf("%d of %d passed", n[client.StatusPassed]+n[client.StatusFlaky], len(w.order))}
	for _, s := range []struct{ status, word string }{{client.StatusFailed, "failed"}, {client.StatusError, "could not run"},
		{client.StatusCancelled, "cancelled"}, {client.StatusRunning, "running"}, {client.StatusQueued, "waiting"}} {
		if n[s.status] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s.status], s.word))
		}
	}
	return strings.Join(parts, ", ")
}

func state(status string) progress.State {
	switch status {
	case client.StatusQueued:
		return progress.Waiting
	case client.StatusRunning:
		return progress.Working
	case client.StatusPassed:
		return progress.Good
	case client.StatusFlaky:
		return progress.Poor
	}
	return progress.Bad
}

func word(status string) string {
	switch status {
	case client.StatusQueued:
		return "waiting"
	case client.StatusError:
		return "could not run"
	}
	return strings.ToLower(status)
}

// targetName is what people call a target.
func targetName(t client.TestTarget) string {
	var c map[string]any
	if json.Unmarshal(t.Capabilities, &c) != nil {
		return ""
	}
	var parts []string
	for _, name := range []string{"browserName", "browserVersion", "platformName", "appium:deviceName"} {
		if text, _ := c[name].(string); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, " ")
}

// took is how long something lasted, "" while it has not ended.
func took(from, to string) string {
	if d := between(from, to); d > 0 {
		return d.Round(100 * time.Millisecond).String()
	}
	return ""
}

func between(from, to string) time.Duration {
	begin, errBegin := time.Parse(time.RFC3339, from)
	end, errEnd := time.Parse(time.RFC3339, to)
	if errBegin != nil || errEnd != nil {
		return 0
	}
	return end.Sub(begin)
}
