package reason

import (
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/failure"
	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
)

// The bounds of a comparison.
const (
	maxRequests  = 20
	maxErrors    = 10
	maxDurations = 10
	maxLines     = 10 // of a page, on either side
	// slower is how much longer something takes that is said to be slower, and by how many ms.
	slower, slowerMS = 3, 500
)

// compare returns what a job saw otherwise than the last good one; nil where there is nothing to
// compare.
func compare(in *Facts) *failure.Comparison {
	if in.Good == nil || in.Seen == nil {
		return nil
	}
	then, now := in.Good.Digest, in.Seen
	c := &failure.Comparison{JobID: in.Good.JobID, RunID: in.Good.RunID, Build: then.Build.Name, CreatedAt: in.Good.CreatedAt,
		SameSteps: then.Steps == now.Steps && now.Steps != "", SameBuild: sameBuild(then.Build, in.Good.Now),
		WithNetwork: then.Network && now.Network, Requests: []failure.Request{}, Console: []string{}, Durations: []failure.Slower{}}
	if c.WithNetwork {
		c.Requests = newlyFailing(then, now)
	}
	c.Console = newErrors(then, in.Console)
	c.Durations = slowerSteps(then, now, in.Step)
	c.Page = changedPage(then, now, in.Step)
	return c
}

// sameBuild is nil where a run names no build.
func sameBuild(then, now failure.BuildNamed) *bool {
	var same bool
	switch {
	case then.ID != nil && now.ID != nil:
		same = *then.ID == *now.ID
	case then.Name != "" && now.Name != "":
		same = then.Name == now.Name
	default:
		return nil
	}
	return &same
}

// before returns how a request went in the good job; nil: it was not sent.
func before(then *failure.Digest, r *failure.Seen) *failure.Seen {
	for i := range then.Requests {
		if then.Requests[i].Same(*r) {
			return &then.Requests[i]
		}
	}
	return nil
}

// aborted reports whether a request ended because the page went on or was left.
func aborted(failed string) bool {
	return strings.Contains(failed, "ERR_ABORTED") || strings.Contains(failed, "NS_BINDING_ABORTED")
}

func newlyFailing(then, now *failure.Digest) []failure.Request {
	list := []failure.Request{}
	for i := range now.Requests {
		r := &now.Requests[i]
		if !r.Failed() || aborted(r.Failure) {
			continue
		}
		was := before(then, r)
		if was != nil && was.Failed() {
			continue
		}
		one := failure.Request{Method: r.Method, Host: r.Host, Path: r.Path, Status: r.Status, Failure: storage.Cut(r.Failure, 100)}
		if was != nil {
			one.Before = was.Status
		}
		list = append(list, one)
	}
	// Those of the host that is tested first, then those that worse answers came to.
	slices.SortStableFunc(list, func(a, b failure.Request) int { return rank(a, now.Host) - rank(b, now.Host) })
	return list[:min(len(list), maxRequests)]
}

func rank(r failure.Request, host string) int {
	n := 0
	if r.Host != host {
		n += 2
	}
	if r.Status < 500 && r.Failure == "" {
		n++
	}
	return n
}

func newErrors(then *failure.Digest, lines []string) []string {
	known := map[string]bool{}
	for _, line := range then.Console {
		known[line] = true
	}
	list := []string{}
	for _, line := range lines {
		if form := ConsoleForm(line); !known[form] && len(list) < maxErrors {
			known[form] = true
			list = append(list, storage.Cut(line, maxSaid))
		}
	}
	return list
}

// slowerSteps leaves out the step that failed: it waited in vain.
func slowerSteps(then, now *failure.Digest, failed *playback.Record) []failure.Slower {
	list := []failure.Slower{}
	add := func(id string, before, after int64) {
		if after > slower*before && after-before >= slowerMS && len(list) < maxDurations {
			list = append(list, failure.Slower{Step: id, BeforeMS: before, NowMS: after})
		}
	}
	was := map[string]int64{}
	for _, p := range then.Played {
		was[p.ID] = p.TookMS
	}
	waited := int64(0)
	if failed != nil {
		waited = failed.TookMS
	}
	if then.TookMS > 0 {
		add("", then.TookMS, now.TookMS-waited)
	}
	for _, p := range now.Played {
		if ms, ok := was[p.ID]; ok && (failed == nil || failed.StepID != p.ID) {
			add(p.ID, ms, p.TookMS)
		}
	}
	return list
}

// changedPage compares the pages of the step that failed; nil where one of them is not known.
func changedPage(then, now *failure.Digest, failed *playback.Record) *failure.Page {
	if failed == nil {
		return nil
	}
	was, ok := then.PageOf(failed.StepID)
	if !ok {
		return nil
	}
	is, ok := now.PageOf(failed.StepID)
	if !ok {
		return nil
	}
	return changed(was, is, anchor(was, failed))
}

// change is a line that is on one side alone; at is its place in the older page.
type change struct {
	line  string
	at    int
	added bool
}

// changed returns the changes that are nearest to a place of the older page.
func changed(was, is []string, near int) *failure.Page {
	changes := difference(was, is)
	order := slices.Clone(changes)
	slices.SortStableFunc(order, func(a, b change) int { return distance(a.at, near) - distance(b.at, near) })
	page := &failure.Page{Removed: []string{}, Added: []string{}}
	for _, c := range order {
		side := &page.Removed
		if c.added {
			side = &page.Added
		}
		if len(*side) == maxLines {
			page.More++
			continue
		}
		*side = append(*side, c.line)
	}
	return page
}

func distance(a, b int) int {
	if a < b {
		return b - a
	}
	return a - b
}

// difference is by the longest common subsequence of the lines; pages have 150 at most.
func difference(was, is []string) []change {
	length := make([][]int, len(was)+1)
	for i := range length {
		length[i] = make([]int, len(is)+1)
	}
	for i := len(was) - 1; i >= 0; i-- {
		for k := len(is) - 1; k >= 0; k-- {
			if was[i] == is[k] {
				length[i][k] = length[i+1][k+1] + 1
			} else {
				length[i][k] = max(length[i+1][k], length[i][k+1])
			}
		}
	}
	var list []change
	i, k := 0, 0
	for i < len(was) || k < len(is) {
		switch {
		case i < len(was) && k < len(is) && was[i] == is[k]:
			i, k = i+1, k+1
		case k == len(is) || i < len(was) && length[i+1][k] >= length[i][k+1]:
			list = append(list, change{was[i], i, false})
			i++
		default:
			list = append(list, change{is[k], i, true})
			k++
		}
	}
	return list
}

// anchor returns the place of the line that is the step's element, by its id, name or text; 0
// where none is.
func anchor(lines []string, failed *playback.Record) int {
	s := step.Inner(&failed.Tool).Args.Selector
	if s == nil {
		return 0
	}
	var signs []string
	if f := s.Fingerprint; f != nil {
		if id := f.Attributes["id"]; id != "" {
			signs = append(signs, "#"+id+" ")
		}
		signs = append(signs, quotedSign(f.Name), quotedSign(f.Text))
	}
	signs = append(signs, quotedSign(s.Name), quotedSign(s.Value), s.Value+" ")
	for _, sign := range signs {
		if len(sign) < 2 {
			continue
		}
		for i, line := range lines {
			if strings.Contains(line+" ", sign) {
				return i
			}
		}
	}
	return 0
}

func quotedSign(text string) string {
	if text == "" {
		return ""
	}
	return `"` + text + `"`
}
