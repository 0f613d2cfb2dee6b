package replay_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step"
	"github.com/slipway-qa/slipway/storage/step/playback"
	"github.com/slipway-qa/slipway/worker/run/replay"
)

// shop is the flow by which the speed of executions is compared.
func shop(t testing.TB) (string, []step.Step) {
	pages := map[string]string{
		"/login": `<h1>Log in</h1><form action=/products><label>User <input id=user name=user></label>
<label>Password <input id=password type=password name=password></label><button id=login>Log in</button></form>`,
		"/products": `<h1 id=title>Products</h1><span id=count>0</span><ul>` + rows(40) + `</ul><a id=cart href=/cart>Cart</a>`,
		"/cart":     `<h1 id=title>Your cart</h1><div class=line>Backpack</div>`,
	}
	base := site(t, pages)
	return base, []step.Step{
		open(base + "/login"), input("#user", "standard"), input("#password", "secret"), click("#login"),
		is("#title", step.TextIs, "Products"), click("#add-3"), click("#cart"), is(".line", step.TextIs, "Backpack"),
	}
}

func rows(n int) string {
	out := ""
	for i := range n {
		out += fmt.Sprintf(`<li><b>Product %d</b> <button id=add-%d onclick="count.textContent=+count.textContent+1">Add</button></li>`, i, i)
	}
	return out
}

func TestFlow(t *testing.T) {
	t.Parallel()
	_, steps := shop(t)
	var progress []int
	r := play(t, replay.Config{Steps: steps, Progress: func(all []playback.Record) { progress = append(progress, len(all)) }})
	require.Equal(t, "PASSED", r.Status, r.Message)
	require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8}, progress)
	require.Len(t, r.Fingerprints, 5)
	require.Equal(t, "Log in", r.Fingerprints["s4"].Name)
	require.Equal(t, "button", r.Fingerprints["s4"].Role)
	require.Equal(t, "User", r.Fingerprints["s2"].Name)
	for _, record := range r.Records {
		require.Equal(t, playback.Passed, record.Status)
		require.True(t, record.Result.Success)
	}
}

func BenchmarkFlow(b *testing.B) {
	for _, shots := range []bool{false, true} {
		b.Run(fmt.Sprintf("screenshots=%v", shots), func(b *testing.B) {
			_, steps := shop(b)
			l := lease()
			defer release(l, false)
			took := make([]int64, len(steps))
			var screenshots atomic.Int64
			for b.Loop() {
				r := play(b, replay.Config{Lease: l, Steps: steps, Screenshots: shots, Capture: func(_ context.Context, a replay.Artifact) string {
					screenshots.Add(1)
					return "id"
				}})
				require.Equal(b, "PASSED", r.Status, r.Message)
				for i := range steps {
					took[i] += r.Records[i].TookMS
				}
			}
			for i := range steps {
				b.ReportMetric(float64(took[i])/float64(b.N), fmt.Sprintf("ms/%d-%s", i+1, steps[i].Tool.Type))
			}
			b.ReportMetric(float64(screenshots.Load())/float64(b.N), "screenshots")
		})
	}
}
