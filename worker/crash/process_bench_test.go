package crash

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/tasks"
)

// benchDocument is a report of a Node client with 20 frames, of one of 50 groups, and
// with some breadcrumbs of 200 bytes.
func benchDocument(n, breadcrumbs int) crash.Incoming {
	var b strings.Builder
	id := uuid.New()
	fmt.Fprintf(&b, `{"uuid":%q,"timestamp":1772366400,"lang":"nodejs","langVersion":"20","agent":"@backtrace/node","agentVersion":"0.8.3","mainThread":"main","classifiers":["TypeError"],"threads":{"main":{"fault":true,"stack":[`, id)
	for i := range 20 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"funcName":"module%d.function%d","library":"/srv/app/dist/part%d/file%d.js","line":%d,"column":%d}`, (n+i)%50, n%50, i, (n+i)%50, n, i)
	}
	fmt.Fprintf(&b, `]}},"attributes":{"application":"shop","application.version":"2.%d.0","hostname":"web-%03d","error.message":"Cannot read properties of undefined","process.age":%d,"user.id":"u%06d","request.id":%q,"vm.rss.size":%d},"annotations":{"breadcrumbs":[{}`,
		n%5, n%100, n, n*7919%1000000, id, n*104729)
	for i := range breadcrumbs {
		fmt.Fprintf(&b, `,{"timestamp":%d,"level":"info","type":"http","message":"GET /api/orders/%d?page=%d answered 200 after %d ms and the cart was loaded","attributes":{"module":"cartLoader","attempt":%d}}`, n*i, n*i%99991, i, n%900, i%3)
	}
	b.WriteString(`]}}`)
	return crash.Incoming{UUID: id, Document: []byte(b.String()), Format: "json"}
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
					var in []crash.Incoming
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
