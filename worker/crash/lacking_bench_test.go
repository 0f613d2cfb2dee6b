package crash

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/crash/symbolicate"
	"github.com/slipway-qa/slipway/worker/symbols/library"
)

// lackingScripts are reports of a Node client that says there are maps: twenty frames each,
// which lie in 484 scripts.
func lackingScripts(n int) string {
	var b strings.Builder
	for i := range 20 {
		if i > 0 {
			b.WriteByte(',')
		}
		at := (n*20 + i) % 484
		fmt.Fprintf(&b, `{"funcName":"module%d.function%d","library":"/srv/app/dist/part%d/file%d.js","line":%d,"column":%d}`,
			at, n%50, at/22, at%22, 1+n*7%2000, 1+n%3)
	}
	return fmt.Sprintf(`"lang":"nodejs","langVersion":"20","agent":"@backtrace/node","agentVersion":"0.8.3","symbolication":"sourcemap",`+
		`"mainThread":"main","classifiers":["TypeError"],"threads":{"main":{"fault":true,"stack":[%s]}}`, b.String())
}

// lackingModules are reports of addresses in forty modules.
func lackingModules(n int) string {
	const base = 0x7f0000000000
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	var modules, frames strings.Builder
	for i := range 40 {
		if i > 0 {
			modules.WriteByte(',')
		}
		fmt.Fprintf(&modules, `{"start":%d,"size":%d,"code_file":"/opt/shop/lib%d.so","debug_file":"lib%d.so","debug_identifier":"%032X0"}`,
			base+i<<24, 1<<20, i, i, i+1)
	}
	for i := range 20 {
		if i > 0 {
			frames.WriteByte(',')
		}
		m := rng.IntN(40)
		fmt.Fprintf(&frames, `{"address":"0x%x","library":"/opt/shop/lib%d.so"}`, base+m<<24+rng.IntN(1<<20), m)
	}
	return fmt.Sprintf(`"lang":"c++","langVersion":"17","agent":"native","agentVersion":"1.0","mainThread":"main","classifiers":["SIGSEGV"],`+
		`"modules":[%s],"threads":{"main":{"name":"main","fault":true,"stack":[%s]}}`, modules.String(), frames.String())
}

// BenchmarkProcessLacking works off reports whose symbol files are not there.
func BenchmarkProcessLacking(b *testing.B) {
	for _, c := range []struct {
		name string
		body func(int) string
	}{{"scripts", lackingScripts}, {"modules", lackingModules}} {
		b.Run(c.name, func(b *testing.B) {
			w := benchWorld(b)
			var err error
			w.objects, err = object.Open(b.Context(), object.Config{URL: b.TempDir()})
			require.NoError(b, err)
			defer func() { _ = w.objects.Close() }()
			files, err := library.New(library.Config{DB: w.db, Objects: w.objects, Log: slog.New(slog.DiscardHandler)})
			require.NoError(b, err)
			warm, _ := symbolicate.NewLibraries(w.db, files)
			accept := func(reports int) {
				for n := 0; n < reports; n += 64 {
					var in []received.Incoming
					for i := range 64 {
						id, at := uuid.New(), (n+i)%512
						doc := fmt.Sprintf(`{"uuid":%q,"timestamp":1772366400,"attributes":{"application":"shop","application.version":"2.%d.0",`+
							`"hostname":"web-%03d"},%s}`,
							id, at%5, at%100, c.body(at))
						in = append(in, received.Incoming{UUID: id, Document: []byte(doc), Format: "json", OrganizationID: w.org, ProjectID: w.project})
					}
					_, _, err := w.store.Accept(b.Context(), in, tasks.NewCrashProcess)
					require.NoError(b, err)
				}
			}
			accept(1024)
			w.workOffWith(b, &Process{Store: w.store, Symbols: warm, Log: slog.New(slog.DiscardHandler)})
			reports := 0
			for b.Loop() {
				b.StopTimer()
				accept(6400)
				b.StartTimer()
				reports += w.workOffWith(b, &Process{Store: w.store, Symbols: warm, Log: slog.New(slog.DiscardHandler)}) * 64
			}
			b.ReportMetric(float64(reports)/b.Elapsed().Seconds(), "reports/s")
		})
	}
}
