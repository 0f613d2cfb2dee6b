package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/regression"
	"github.com/slipway-qa/slipway/cmd/bench/symbols"
)

// dumpConns is how many connections send minidumps: each is some 100 KB.
const dumpConns = 8

// measureShapes measures the drain of other reports than those of the burst, each over its
// own burst: Node reports whose clients say that source maps may exist, native reports of
// addresses, and minidumps. The organization has no symbol file.
func (b *bench) measureShapes(ctx context.Context) error {
	for _, s := range []struct {
		name, what string
		reports    []measure.Sample
	}{{"node", "Node reports", nodeReports(512)}, {"native", "native reports", nativeReports(512)}} {
		l := b.submit(b.Duration/2, 0)
		l.Samples = s.reports
		if err := b.measureShape(ctx, s.name, s.what, l); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return b.measureDumps(ctx)
}

// measureShape sends a load after a fifth of it to warm, and measures its drain.
func (b *bench) measureShape(ctx context.Context, name, what string, l *measure.Load) error {
	warm := *l
	warm.Duration = l.Duration / 5
	if _, err := measure.Send(ctx, &warm); err != nil {
		return err
	}
	if _, err := b.drained(ctx); err != nil {
		return err
	}
	before, err := b.processed(ctx)
	if err != nil {
		return err
	}
	o, err := measure.Send(ctx, l)
	if err != nil {
		return err
	}
	b.row(what+", accepted and durable", fmt.Sprintf("%.0f/s", o.PerSecond()), o, "", true)
	during, err := b.processed(ctx)
	if err != nil {
		return err
	}
	took, err := b.drained(ctx)
	if err != nil {
		return err
	}
	left := before + o.Accepted - during
	regression.Measured(ctx, name+" drain", b.drainRow(fmt.Sprintf("drain of %d %s", left, what), left, took, o))
	return nil
}

// measureDumps sends minidumps and waits until all are read. They are read behind their
// processing, so the rate is that from the first request to the end.
func (b *bench) measureDumps(ctx context.Context) error {
	l := b.load(b.product.Base+"/post?format=minidump&token="+b.product.Token, b.Duration/8, 0)
	l.Conns = dumpConns
	l.Render = func(int) []*measure.Request { return []*measure.Request{dumpRequest(l)} }
	began := time.Now()
	o, err := measure.Send(ctx, l)
	if err != nil {
		return fmt.Errorf("minidump: %w", err)
	}
	if _, err := b.drained(ctx, "crash:process", "crash:symbolicate"); err != nil {
		return fmt.Errorf("minidump: %w", err)
	}
	took := time.Since(began)
	ratio := float64(o.Accepted) / took.Seconds() / o.PerSecond()
	b.row(fmt.Sprintf("%d minidumps, accepted and durable", o.Accepted), fmt.Sprintf("%.0f/s", o.PerSecond()), o, "", true)
	b.row("the same, accepted and read", fmt.Sprintf("%.0f/s, %.2f of the burst", float64(o.Accepted)/took.Seconds(), ratio), nil, "", true)
	regression.Measured(ctx, "minidump drain", ratio)
	return nil
}

// dumpRequest is a request with a minidump as its body. The service numbers dumps itself; the
// number that changes from one to the next stands in a header that nobody reads.
func dumpRequest(l *measure.Load) *measure.Request {
	var places []symbols.RulePlace
	for i := range uint64(200) {
		places = append(places, symbols.RulePlace{Address: 0x1000 + i*64, Frame: 32})
	}
	body := symbols.WriteMinidump(places)
	const header = "X-Number: "
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/octet-stream\r\n%s%s\r\nContent-Length: %d\r\n\r\n",
		l.Target.RequestURI(), l.Target.Host, header, strings.Repeat("0", measure.NumberLength), len(body))
	r := &measure.Request{Bytes: append([]byte(head), body...)}
	r.Number = r.Bytes[strings.Index(head, header)+len(header):][:measure.NumberLength]
	return r
}

// nodeReports are reports as the Node client of the README sends them: twenty frames of 484
// script paths, without breadcrumbs.
func nodeReports(n int) []measure.Sample {
	rng := mathrand.New(mathrand.NewPCG(3, 1))
	var paths []string
	for _, folder := range measure.Words {
		for _, file := range measure.Words {
			paths = append(paths, "/srv/app/dist/"+folder+"/"+file+".js")
		}
	}
	next := 0
	return shaped(n, func() []byte {
		var report map[string]any
		if err := json.Unmarshal(measure.NewReport(rng, 0), &report); err != nil {
			panic(err) // this program wrote it
		}
		report["symbolication"] = "sourcemap"
		for _, frame := range report["threads"].(map[string]any)["main"].(map[string]any)["stack"].([]any) {
			frame.(map[string]any)["library"] = paths[next%len(paths)]
			next++
		}
		return encode(report)
	})
}

// nativeReports are reports of addresses in forty modules, as native clients send them.
func nativeReports(n int) []measure.Sample {
	const modules, base = 40, 0x7f0000000000
	rng := mathrand.New(mathrand.NewPCG(3, 2))
	var loaded []map[string]any
	for i := range modules {
		loaded = append(loaded, map[string]any{"start": base + i<<24, "size": 1 << 20, "code_file": fmt.Sprintf("/opt/shop/lib%d.so", i),
			"debug_file": fmt.Sprintf("lib%d.so", i), "debug_identifier": fmt.Sprintf("%032X0", i+1)})
	}
	return shaped(n, func() []byte {
		var frames []map[string]any
		for range 20 {
			module := rng.IntN(modules)
			frames = append(frames, map[string]any{"address": fmt.Sprintf("0x%x", base+module<<24+rng.IntN(1<<20)),
				"library": fmt.Sprintf("/opt/shop/lib%d.so", module)})
		}
		return encode(map[string]any{"uuid": measure.Placeholder, "timestamp": time.Now().Unix(), "lang": "c++",
			"langVersion": "17", "agent": "native", "agentVersion": "1.0",
			"mainThread": "main", "classifiers": []string{"SIGSEGV"}, "modules": loaded,
			"attributes": map[string]any{"application": "shop", "application.version": fmt.Sprintf("2.%d.0", rng.IntN(5)),
				"hostname": fmt.Sprintf("web-%03d", rng.IntN(100))},
			"threads": map[string]any{"main": map[string]any{"name": "main", "fault": true, "stack": frames}}})
	})
}

// encode writes a document of plain values.
func encode(document map[string]any) []byte {
	text, err := json.Marshal(document)
	if err != nil {
		panic(err) // maps of plain values
	}
	return text
}

// shaped makes samples of documents.
func shaped(n int, document func() []byte) []measure.Sample {
	all := make([]measure.Sample, n)
	for i := range all {
		body := document()
		all[i] = measure.Sample{Body: body, UUID: bytes.Index(body, []byte(measure.Placeholder))}
	}
	return all
}
