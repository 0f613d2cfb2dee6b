package crash

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/crash/symbolicate"
	"github.com/slipway-qa/slipway/worker/symbols/library"
)

// benchDocument is a report of a Node client with 20 frames, of one of 50 groups, and
// with some breadcrumbs of 200 bytes.
func benchDocument(n, breadcrumbs int) received.Incoming {
	var b strings.Builder
	id := uuid.New()
	fmt.Fprintf(&b, `{"uuid":%q,"timestamp":1772366400,"lang":"nodejs","langVersion":"20","agent":"@backtrace/node","agentVersion":"0.8.3",`+
		`"mainThread":"main","classifiers":["TypeError"],"threads":{"main":{"fault":true,"stack":[`, id)
	for i := range 20 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"funcName":"module%d.function%d","library":"/srv/app/dist/part%d/file%d.js","line":%d,"column":%d}`,
			(n+i)%50, n%50, i, (n+i)%50, n, i)
	}
	fmt.Fprintf(&b, `]}},"attributes":{"application":"shop","application.version":"2.%d.0","hostname":"web-%03d","error.message":"Cannot `+
		`read properties of undefined","process.age":%d,"user.id":"u%06d","request.id":%q,"vm.rss.size":%d},"annotations":{"breadcrumbs":[{}`,
		n%5, n%100, n, n*7919%1000000, id, n*104729)
	for i := range breadcrumbs {
		fmt.Fprintf(&b, `,{"timestamp":%d,"level":"info","type":"http","message":"GET /api/orders/%d?page=%d answered 200 after %d ms and the `+
			`cart was loaded","attributes":{"module":"cartLoader","attempt":%d}}`, n*i, n*i%99991, i, n%900, i%3)
	}
	b.WriteString(`]}}`)
	return received.Incoming{UUID: id, Document: []byte(b.String()), Format: "json"}
}

// BenchmarkProcess works off batches as one worker does.
func BenchmarkProcess(b *testing.B) {
	for _, c := range []struct {
		name               string
		breadcrumbs, batch int
	}{{"4KB/64 a batch", 6, 64}, {"4KB/1 a batch", 6, 1}, {"60KB/30 a batch", 320, 30}} {
		b.Run(c.name, func(b *testing.B) {
			reports := 0
			for b.Loop() {
				b.StopTimer()
				w := benchWorld(b)
				for n := 0; n < 6000; {
					var in []received.Incoming
					for range c.batch {
						r := benchDocument(n, c.breadcrumbs)
						r.OrganizationID, r.ProjectID = w.org, w.project
						in, n = append(in, r), n+1
					}
					_, _, err := w.store.Accept(b.Context(), in, tasks.NewCrashProcess)
					require.NoError(b, err)
				}
				b.StartTimer()
				reports += w.workOff(b) * c.batch
			}
			b.ReportMetric(float64(reports)/b.Elapsed().Seconds(), "reports/s")
		})
	}
}

// scriptDocument is a report of a Node client whose twenty frames lie in 484 scripts.
func scriptDocument(n int) received.Incoming {
	id, group := uuid.New(), n%50
	var b strings.Builder
	fmt.Fprintf(&b, `{"uuid":%q,"timestamp":1772366400,"lang":"nodejs","langVersion":"20","agent":"@backtrace/node","agentVersion":"0.8.3",`+
		`"mainThread":"main","classifiers":["TypeError"],"threads":{"main":{"fault":true,"stack":[`, id)
	for i := range 20 {
		if i > 0 {
			b.WriteByte(',')
		}
		at := (group*97 + i*31) % 484
		fmt.Fprintf(&b, `{"funcName":"module%d.function%d","library":"/srv/app/dist/part%d/file%d.js","line":%d,"column":%d}`,
			at, group, at/22, at%22, 1+n*7%2000, 1+n%3)
	}
	fmt.Fprintf(&b, `]}},"attributes":{"application":"shop","application.version":"2.%d.0","hostname":"web-%03d",`+
		`"error.message":"Cannot read properties of undefined","user.id":"u%06d"},"annotations":{"breadcrumbs":[{}]}}`,
		n%5, n%100, n*7919%1000000)
	return received.Incoming{UUID: id, Document: []byte(b.String()), Format: "json"}
}

// BenchmarkProcessScripts works off reports of 484 scripts, whose maps are there or are not.
func BenchmarkProcessScripts(b *testing.B) {
	for _, mapped := range []bool{false, true} {
		b.Run(fmt.Sprintf("mapped=%t", mapped), func(b *testing.B) {
			w := benchWorld(b)
			var err error
			w.objects, err = object.Open(b.Context(), object.Config{URL: b.TempDir()})
			require.NoError(b, err)
			defer func() { _ = w.objects.Close() }()
			if mapped {
				index := mapIndex(b, 2000)
				for at := range 484 {
					w.symbolFile(b, symbol.SourceMap, index, scriptURL(fmt.Sprintf("~/srv/app/dist/part%d/file%d.js.map", at/22, at%22)))
				}
			}
			files, err := library.New(library.Config{DB: w.db, Objects: w.objects, Log: slog.New(slog.DiscardHandler)})
			require.NoError(b, err)
			warm, waiting := symbolicate.NewLibraries(w.db, files)
			accept := func(reports int) {
				for n := 0; n < reports; n += 64 {
					var in []received.Incoming
					for i := range 64 {
						r := scriptDocument(n + i)
						r.OrganizationID, r.ProjectID = w.org, w.project
						in = append(in, r)
					}
					_, _, err := w.store.Accept(b.Context(), in, tasks.NewCrashProcess)
					require.NoError(b, err)
				}
			}
			// The indexes are at hand before it is measured.
			accept(512)
			w.workOffWith(b, &Process{Store: w.store, Symbols: waiting, Log: slog.New(slog.DiscardHandler)})
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
