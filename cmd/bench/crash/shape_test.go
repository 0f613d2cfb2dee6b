package crash

import (
	"bytes"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/storage/report"
)

func TestShapesAreRealReports(t *testing.T) {
	t.Parallel()
	paths := map[string]bool{}
	for name, reports := range map[string][]measure.Sample{"node": nodeReports(512), "native": nativeReports(64)} {
		for _, s := range reports {
			require.Equal(t, measure.Placeholder, string(s.Body[s.UUID:][:len(measure.Placeholder)]))
			head, err := report.Check(s.Body, report.DefaultLimits())
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
	r := dumpRequest(&measure.Load{Target: target, Duration: time.Second})
	r.Renew()
	first := bytes.Clone(r.Bytes)
	r.Renew()
	require.NotEqual(t, first, r.Bytes)
	require.Len(t, r.Bytes, len(first))
	require.Contains(t, string(r.Bytes), "X-Number: 1000000001\r\n")
}
