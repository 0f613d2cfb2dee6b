package testrun

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/storage/suiteplan/shard"
)

// Shard is one of several parts of the tests, from 1.
type Shard struct{ Number, Of int }

const (
	// mostShards bounds the jobs of one pipeline, as the server does.
	mostShards = 256
	// shardHistory is how many runs of a test say how long it takes: enough that one slow
	// run counts little.
	shardHistory = 10
)

// ParseShard reads 2/4.
func ParseShard(text string) (s Shard, err error) {
	number, of, _ := strings.Cut(text, "/")
	s.Number, err = strconv.Atoi(number)
	parts, wrong := strconv.Atoi(of)
	s.Of = parts
	if err != nil || wrong != nil || s.Number < 1 || s.Of < s.Number || s.Of > mostShards {
		return s, misused("%q is no shard: 2/4 is the second of four, of at most %d", text, mostShards)
	}
	return s, nil
}

// String returns 2/4.
func (s Shard) String() string { return strconv.Itoa(s.Number) + "/" + strconv.Itoa(s.Of) }

// Reduce leaves those of the tests in a plan that are in one shard; of suites the server runs the
// part. Each test is in one shard, and all shards take about the same time.
//
// The jobs of a pipeline ask one after the other, and must come to the same result
// whatever was run in between: so only runs that were over by the instant at count, which
// is the same for all jobs. Zero counts all runs.
func (p *Plan) Reduce(ctx context.Context, api *client.Client, s Shard, at time.Time) error {
	if len(p.Tests) == 0 {
		return nil
	}
	ids := make([]string, len(p.Tests))
	for i := range p.Tests {
		ids[i] = p.Tests[i].ID
	}
	before := ""
	if !at.IsZero() {
		before = at.UTC().Format(time.RFC3339)
	}
	past, err := api.TestHistories(ctx, ids, shardHistory, before)
	if err != nil {
		return err
	}
	took := map[string]time.Duration{}
	for id, runs := range past {
		if d, ok := median(runs, at); ok {
			took[id] = d
		}
	}
	mine := map[string]bool{}
	for _, id := range shard.Split(ids, took, nil, s.Of)[s.Number-1] {
		mine[id] = true
	}
	all := p.Tests
	p.Tests, p.others = nil, nil
	for i := range all {
		if mine[all[i].ID] {
			p.Tests = append(p.Tests, all[i])
		} else {
			p.others = append(p.others, all[i])
		}
	}
	return nil
}

// elsewhere reports whether another shard has a test that can be run: a shard without any is well
// then.
func (c *Config) elsewhere(ctx context.Context, p *Plan) (bool, error) {
	if c.Start.Shard != nil {
		for _, s := range p.Suites {
			cases, err := c.Client.TestCases(ctx, client.CaseFilter{RunBy: s.ID})
			if err != nil {
				return false, err
			}
			for i := range cases {
				p.others = append(p.others, Test{ID: cases[i].ID})
			}
		}
	}
	for i := range p.others {
		of, err := c.Client.TestCase(ctx, p.others[i].ID)
		if err != nil {
			return false, err
		}
		targets := slices.Concat(c.Start.Targets, of.RunSettings.RunTargets, []client.TestTarget{of.RunSettings.PrimaryTarget})
		if len(of.Latest().Steps) > 0 && slices.ContainsFunc(targets, func(t client.TestTarget) bool { return targetName(t) != "" }) {
			return true, nil
		}
	}
	return false, nil
}

// median is how long a test usually takes.
func median(runs []client.PastRun, at time.Time) (time.Duration, bool) {
	var list []int64
	for _, r := range runs {
		judged := r.Status == client.StatusPassed || r.Status == client.StatusFlaky || r.Status == client.StatusFailed
		end, err := time.Parse(time.RFC3339, r.EndDate)
		if judged && err == nil && r.DurationMS != nil && (at.IsZero() || !end.After(at)) {
			list = append(list, *r.DurationMS)
		}
	}
	if len(list) == 0 {
		return 0, false
	}
	slices.Sort(list)
	return time.Duration(list[len(list)/2]) * time.Millisecond, true
}
