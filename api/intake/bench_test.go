package intake

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/crash/received"
	"github.com/slipway-qa/slipway/storage/ledger"
)

// nodeReport is a report in the shape of the Node client: 4 KB with 3
// breadcrumbs and 12 variables, 60 KB with 240 and 60.
func nodeReport(frames, variables, breadcrumbs int) string {
	var b strings.Builder
	b.WriteString(`{"uuid":"2d5e7a6b-9a0c-4c5c-8a43-6c0de1a2b3c4","timestamp":1700000000,"agent":"@backtrace/node","agentVersion":"0.8.3",` +
		`"lang":"nodejs","langVersion":"20.10.0","classifiers":["TypeError"],"mainThread":"main","threads":{"main":{"fault":true,"name":"main",` +
		`"stack":[{"funcName":"x"}`)
	for i := range frames {
		fmt.Fprintf(&b, `,{"funcName":"Layer.handle [as handle_request]","library":"/srv/app/node_modules/express/lib/router/layer%d.js",`+
			`"line":%d,"column":%d}`, i, 10+i, 5+i)
	}
	b.WriteString(`]}},"attributes":{"application":"shop","application.version":"1.4.2","hostname":"web-3",` +
		`"error.message":"Cannot read properties of undefined (reading 'id')","process.age":86400,"debug":false,"load":0.25},` +
		`"annotations":{"Environment Variables":{"HOME":"/root"`)
	for i := range variables {
		fmt.Fprintf(&b, `,"SERVICE_%d_ADDRESS":"tcp://10.0.%d.1:8080"`, i, i)
	}
	b.WriteString(`,"DB_PASSWORD":"hunter2"},"Breadcrumbs":[{}`)
	for i := range breadcrumbs {
		fmt.Fprintf(&b, `,{"id":%d,"timestamp":1700000000%03d,"level":"info","type":"http",`+
			`"message":"GET https://api.example/v1/items/%d?page=2&size=50 answered \"200\"","attributes":{"duration":%d.5,"method":"GET",`+
			`"retried":false}}`, i, i, i, i)
	}
	b.WriteString(`]}}`)
	return b.String()
}

var benchmarks = []struct {
	name string
	doc  string
}{
	{"4KB", nodeReport(12, 12, 3)},
	{"60KB", nodeReport(20, 60, 240)},
}

// immediate takes every report without waiting for company.
type immediate struct{}

func (immediate) Submit(context.Context, received.Incoming) (received.Receipt, error) {
	return received.Receipt{ID: uuid.UUID{1}}, nil
}

// quickAccepter answers without a database.
type quickAccepter struct{}

func (quickAccepter) Accept(_ context.Context, in []received.Incoming, _ received.TaskOf) ([]received.Receipt, []*ledger.NewTask, error) {
	return make([]received.Receipt, len(in)), nil, nil
}

func (quickAccepter) Accepted(context.Context, []received.Incoming, []received.Receipt) (bool, error) {
	return true, nil
}

// sink is a response that is thrown away.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }

// rewinding is a body that can be sent again without an allocation.
type rewinding struct{ bytes.Reader }

func (*rewinding) Close() error { return nil }

func benchmarkSubmit(b *testing.B, submitter Submitter, parallelism int, wrap func(string) (string, http.Header)) {
	for _, bm := range benchmarks {
		b.Run(bm.name, func(b *testing.B) {
			w := newWorld(b, func(c *Config) { c.Submitter, c.Limits = submitter, DefaultLimits() })
			text, header := wrap(bm.doc)
			body := []byte(text)
			b.SetBytes(int64(len(bm.doc)))
			b.ReportAllocs()
			b.SetParallelism(parallelism)
			b.RunParallel(func(pb *testing.PB) {
				src, out := &rewinding{}, &sink{header: http.Header{}}
				req, _ := http.NewRequest("POST", "/post?format=json&token=good", nil)
				req.Header = header
				for pb.Next() {
					src.Reset(body)
					req.Body, req.ContentLength = src, int64(len(body))
					clear(out.header)
					out.status = 0
					w.router.ServeHTTP(out, req)
					if out.status != 200 {
						b.Errorf("status %d", out.status)
						return
					}
				}
			})
		})
	}
}

func plain(doc string) (string, http.Header) {
	return doc, http.Header{"Content-Type": {"application/json"}}
}

func BenchmarkSubmitJSON(b *testing.B) { benchmarkSubmit(b, immediate{}, 1, plain) }

func BenchmarkSubmitGzip(b *testing.B) {
	benchmarkSubmit(b, immediate{}, 1, func(doc string) (string, http.Header) {
		return gzipped(doc), http.Header{"Content-Encoding": {"gzip"}}
	})
}

func BenchmarkSubmitMultipart(b *testing.B) {
	benchmarkSubmit(b, immediate{}, 1, func(doc string) (string, http.Header) {
		return form(filePart("upload_file", "upload_file.json", doc)), http.Header{"Content-Type": {multipartB}}
	})
}

// BenchmarkSubmitCommitted goes through the Committer, 256 requests at once.
func BenchmarkSubmitCommitted(b *testing.B) {
	c := NewCommitter(quickAccepter{}, nil, slog.New(slog.DiscardHandler))
	defer c.Close()
	benchmarkSubmit(b, c, 128, plain)
}

var _ io.ReadCloser = (*rewinding)(nil)
