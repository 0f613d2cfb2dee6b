package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/regression"
)

// dumpConns is how many connections send minidumps: each is some 100 KB.
const dumpConns = 8

// measureShapes measures the drain of other reports than those of the burst, each over its
// own burst: Node reports whose clients say that source maps may exist, native reports of
// addresses, and minidumps. The organization has no symbol file.
func (b *crashBench) measureShapes(ctx context.Context) error {
	for _, s := range []struct {
		name, what string
		reports    []sample
	}{{"node", "Node reports", nodeReports(512)}, {"native", "native reports", nativeReports(512)}} {
		l := b.submit(b.Duration/2, 0)
		l.samples = s.reports
		if err := b.measureShape(ctx, s.name, s.what, l); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return b.measureDumps(ctx)
}

// measureShape sends a load after a fifth of it to warm, and measures its drain.
func (b *crashBench) measureShape(ctx context.Context, name, what string, l *load) error {
	warm := *l
	warm.duration = l.duration / 5
	if _, err := send(ctx, &warm); err != nil {
		return err
	}
	if _, err := b.drained(ctx); err != nil {
		return err
	}
	before, err := b.processed(ctx)
	if err != nil {
		return err
	}
	o, err := send(ctx, l)
	if err != nil {
		return err
	}
	b.row(what+", accepted and durable", fmt.Sprintf("%.0f/s", o.perSecond()), o, "", true)
	during, err := b.processed(ctx)
	if err != nil {
		return err
	}
	took, err := b.drained(ctx)
	if err != nil {
		return err
	}
	left := before + o.accepted - during
	regression.Measured(ctx, name+" drain", b.drainRow(fmt.Sprintf("drain of %d %s", left, what), left, took, o))
	return nil
}

// measureDumps sends minidumps and waits until all are read. They are read behind their
// processing, so the rate is that from the first request to the end.
func (b *crashBench) measureDumps(ctx context.Context) error {
	l := b.load(b.product.base+"/post?format=minidump&token="+b.product.token, b.Duration/8, 0)
	l.conns = dumpConns
	l.render = func(int) []*request { return []*request{dumpRequest(l)} }
	began := time.Now()
	o, err := send(ctx, l)
	if err != nil {
		return fmt.Errorf("minidump: %w", err)
	}
	if _, err := b.drained(ctx, "crash:process", "crash:symbolicate"); err != nil {
		return fmt.Errorf("minidump: %w", err)
	}
	took := time.Since(began)
	ratio := float64(o.accepted) / took.Seconds() / o.perSecond()
	b.row(fmt.Sprintf("%d minidumps, accepted and durable", o.accepted), fmt.Sprintf("%.0f/s", o.perSecond()), o, "", true)
	b.row("the same, accepted and read", fmt.Sprintf("%.0f/s, %.2f of the burst", float64(o.accepted)/took.Seconds(), ratio), nil, "", true)
	regression.Measured(ctx, "minidump drain", ratio)
	return nil
}

// dumpRequest is a request with a minidump as its body. The service numbers dumps itself; the
// number that changes from one to the next stands in a header that nobody reads.
func dumpRequest(l *load) *request {
	var places []rulePlace
	for i := range uint64(200) {
		places = append(places, rulePlace{address: 0x1000 + i*64, frame: 32})
	}
	body := writeMinidump(places)
	const header = "X-Number: "
	head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/octet-stream\r\n%s%s\r\nContent-Length: %d\r\n\r\n",
		l.target.RequestURI(), l.target.Host, header, strings.Repeat("0", numberLength), len(body))
	r := &request{bytes: append([]byte(head), body...)}
	r.number = r.bytes[strings.Index(head, header)+len(header):][:numberLength]
	return r
}

// nodeReports are reports as the Node client of the README sends them: twenty frames of 484
// script paths, without breadcrumbs.
func nodeReports(n int) []sample {
	rng := mathrand.New(mathrand.NewPCG(3, 1))
	var paths []string
	for _, folder := range words {
		for _, file := range words {
			paths = append(paths, "/srv/app/dist/"+folder+"/"+file+".js")
		}
	}
	next := 0
	return shaped(n, func() []byte {
		var report map[string]any
		if err := json.Unmarshal(newReport(rng, 0), &report); err != nil {
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
func nativeReports(n int) []sample {
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
			frames = append(frames, map[string]any{"address": fmt.Sprintf("0x%x", base+module<<24+rng.IntN(1<<20)), "library": fmt.Sprintf("/opt/shop/lib%d.so", module)})
		}
		return encode(map[string]any{"uuid": placeholder, "timestamp": time.Now().Unix(), "lang": "c++", "langVersion": "17", "agent": "native", "agentVersion": "1.0",
			"mainThread": "main", "classifiers": []string{"SIGSEGV"}, "modules": loaded,
			"attributes": map[string]any{"application": "shop", "application.version": fmt.Sprintf("2.%d.0", rng.IntN(5)), "hostname": fmt.Sprintf("web-%03d", rng.IntN(100))},
			"threads":    map[string]any{"main": map[string]any{"name": "main", "fault": true, "stack": frames}}})
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
func shaped(n int, document func() []byte) []sample {
	all := make([]sample, n)
	for i := range all {
		body := document()
		all[i] = sample{body, bytes.Index(body, []byte(placeholder))}
	}
	return all
}
