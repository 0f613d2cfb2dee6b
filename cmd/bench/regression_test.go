package main

import (
	"bytes"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/bench/regression"
	"github.com/slipway-qa/slipway/storage/report"
)

func TestEveryBoundHasABench(t *testing.T) {
	t.Parallel()
	benches, err := (&regressionCommand{}).choose()
	require.NoError(t, err)
	var names, measuring []string
	for _, b := range benches {
		require.NotNil(t, b.Run, b.Name)
		names = append(names, b.Name)
	}
	for _, b := range regression.Bounds() {
		require.Contains(t, names, b.Bench, b.Figure)
		measuring = append(measuring, b.Bench)
	}
	require.Subset(t, measuring, names, "a bench without a bound")
	some, err := (&regressionCommand{Only: []string{regression.Upload}}).choose()
	require.NoError(t, err)
	require.Len(t, some, 1)
	require.ErrorContains(t, (&regressionCommand{Only: []string{"nonsense"}}).Run(t.Context()), "nonsense")
	require.Contains(t, describeMachine(t.Context()), " cores")
}

func TestShapesAreRealReports(t *testing.T) {
	t.Parallel()
	paths := map[string]bool{}
	for name, reports := range map[string][]sample{"node": nodeReports(512), "native": nativeReports(64)} {
		for _, s := range reports {
			require.Equal(t, placeholder, string(s.body[s.uuid:][:len(placeholder)]))
			head, err := report.Check(s.body, report.DefaultLimits())
			require.NoError(t, err, name)
			r, err := report.Parse(head.Document)
			require.NoError(t, err, name)
			require.Len(t, r.FaultThread().Frames, 20)
			for _, f := range r.FaultThread().Frames {
				if name == "node" {
					paths[f.Library] = true
				} else {
					require.NotEmpty(t, f.Address)
					require.Empty(t, f.Function)
				}
			}
		}
	}
	require.Equal(t, 484, len(paths))
}

func TestDumpRequestsDiffer(t *testing.T) {
	t.Parallel()
	target, err := url.Parse("http://127.0.0.1/post?format=minidump")
	require.NoError(t, err)
	r := dumpRequest(&load{target: target, duration: time.Second})
	r.renew()
	first := bytes.Clone(r.bytes)
	r.renew()
	require.NotEqual(t, first, r.bytes)
	require.Len(t, r.bytes, len(first))
	require.Contains(t, string(r.bytes), "X-Number: 1000000001\r\n")
}
