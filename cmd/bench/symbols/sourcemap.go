package symbols

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/playwright"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/sourcemap"
)

const (
	// sourceMapRounds is how often a map is parsed; the best round counts, on both
	// sides, so that what else runs on the machine does not.
	sourceMapRounds = 60
	// sourceMapLookups is how many positions are looked up in a round.
	sourceMapLookups = 20000
	// smallSourceMap and largeSourceMap are the sizes of maps that are measured.
	smallSourceMap = 300 << 10
	largeSourceMap = 30 << 20
	// indexingMemory and firstLookup are the targets for the large map.
	indexingMemory = 64 << 20
	firstLookup    = 5 * time.Millisecond
)

//go:embed sourcemap.cjs
var traceMappingScript string

// measureSourceMap measures the reading of a source map and lookups in it next to those of
// @jridgewell/trace-mapping, and the memory that a large one takes.
func measureSourceMap(ctx context.Context) error {
	if err := measureSmallSourceMap(ctx); err != nil {
		return err
	}
	return measureLargeSourceMap()
}

// sourceMapVLQ appends a base64 VLQ.
func sourceMapVLQ(b []byte, v int) []byte {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	u := v << 1
	if v < 0 {
		u = -v<<1 | 1
	}
	for u >= 32 {
		b = append(b, digits[32+u&31])
		u >>= 5
	}
	return append(b, digits[u])
}

// makeSourceMap makes a map of about size bytes as a bundler does of minified code: one
// line, a third of the mappings with a name, and a share of the size in mappings, the
// rest texts of the sources. It returns the last column too.
func makeSourceMap(size int, share float64) (text []byte, last int, err error) {
	random := rand.New(rand.NewPCG(1, 2))
	sources := max(size/20_000, 1)
	names := make([]string, 2000)
	for i := range names {
		names[i] = fmt.Sprintf("name%d", i)
	}
	var mappings []byte
	line, name, at := 0, 0, 0
	for len(mappings) < int(float64(size)*share) {
		if len(mappings) > 0 {
			mappings = append(mappings, ',')
		}
		step := 1 + random.IntN(12)
		last += step
		source := 0
		if random.IntN(2000) == 0 && at+1 < sources {
			source = 1
			at++
		}
		down := 0
		if random.IntN(6) == 0 {
			down = 1
		}
		for _, v := range []int{step, source, down, random.IntN(20) - min(last-step, 9)} {
			mappings = sourceMapVLQ(mappings, v)
		}
		line += down
		if random.IntN(3) == 0 {
			next := random.IntN(len(names))
			mappings = sourceMapVLQ(mappings, next-name)
			name = next
		}
	}
	list, contents := make([]string, sources), make([]string, sources)
	body := "export function work(items) {\n  return items.map((item) => \"a\" + item.value);\n}\n"
	for i := range list {
		list[i] = fmt.Sprintf("webpack://app/src/part%d.js", i)
		contents[i] = strings.Repeat(body, int(float64(size)*(1-share))/sources/len(body)+1)
	}
	text, err = json.Marshal(map[string]any{"version": 3, "file": "app.js", "sources": list, "sourcesContent": contents, "names": names,
		"mappings": string(mappings)})
	return text, last, err
}

func measureSmallSourceMap(ctx context.Context) error {
	text, last, err := makeSourceMap(smallSourceMap, 0.6)
	if err != nil {
		return err
	}
	var index bytes.Buffer
	var m *sourcemap.Map
	parse := best(func() {
		index.Reset()
		if _, err = sourcemap.Index(bytes.NewReader(text), int64(len(text)), &index, sourcemap.Options{}); err == nil {
			m, err = openSourceMap(index.Bytes())
		}
	})
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(3, 4))
	queries := make([][2]int, sourceMapLookups)
	for i := range queries {
		queries[i] = [2]int{1, 1 + random.IntN(last)}
	}
	found := 0
	lookup := best(func() {
		found = 0
		for _, q := range queries {
			if _, ok, e := m.Original(q[0], q[1]); e != nil {
				err = e
			} else if ok {
				found++
			}
		}
	}) / sourceMapLookups
	if err != nil {
		return err
	}
	name := fmt.Sprintf("source map of %.0f KB, %d mappings: ", float64(len(text))/1e3, m.Segments())
	measure.Row(name+"size of the index", fmt.Sprintf("%.0f KB", float64(index.Len())/1e3), "", true)
	peer, err := traceMapping(ctx, text, queries)
	if err != nil {
		measure.Row(name+"parse, lookup", fmt.Sprintf("%s, %s; nothing to compare with: %v", measure.Round(parse), lookup, err), "", true)
		return nil
	}
	if peer.Found != found {
		return fmt.Errorf("trace-mapping finds %d positions of %d, and this %d", peer.Found, len(queries), found)
	}
	theirs := time.Duration(peer.Parse * 1e6)
	measure.Row(name+"parse, index and open; trace-mapping", fmt.Sprintf("%s; %s (%.2f of it)", measure.Round(parse),
		measure.Round(theirs), float64(parse)/float64(theirs)),
		"not slower", parse <= theirs)
	measure.Row(name+"lookup; trace-mapping", fmt.Sprintf("%s; %.0fns (%.2f of it)", lookup, peer.Lookup, float64(lookup)/peer.Lookup),
		"not slower", float64(lookup) <= peer.Lookup)
	return nil
}

// best returns the time of the best round.
func best(work func()) time.Duration {
	least := time.Duration(1<<63 - 1)
	for range sourceMapRounds {
		start := time.Now()
		work()
		least = min(least, time.Since(start))
	}
	return least
}

func openSourceMap(index []byte) (*sourcemap.Map, error) {
	f, err := symbol.Open(bytes.NewReader(index), int64(len(index)))
	if err != nil {
		return nil, err
	}
	return sourcemap.Open(f)
}

// traceMappingTimes are those of sourcemap.cjs.
type traceMappingTimes struct {
	Parse  float64 // milliseconds
	Lookup float64 // nanoseconds
	Found  int
}

// traceMapping measures @jridgewell/trace-mapping.
func traceMapping(ctx context.Context, text []byte, queries [][2]int) (traceMappingTimes, error) {
	var times traceMappingTimes
	modules, err := playwright.Packages()
	if err != nil {
		return times, err
	}
	dir, err := os.MkdirTemp("", "sourcemap")
	if err != nil {
		return times, err
	}
	defer os.RemoveAll(dir)
	list, err := json.Marshal(queries)
	if err != nil {
		return times, err
	}
	for name, content := range map[string][]byte{"a.map": text, "queries.json": list, "measure.cjs": []byte(traceMappingScript)} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return times, err
		}
	}
	cmd := exec.CommandContext(ctx, "node", "measure.cjs", "a.map", "queries.json", fmt.Sprint(sourceMapRounds))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules, "NODE_OPTIONS=")
	out, err := cmd.Output()
	if err != nil {
		return times, fmt.Errorf("node with @jridgewell/trace-mapping: %w", err)
	}
	return times, json.Unmarshal(out, &times)
}

// measureLargeSourceMap measures the memory that indexing a large map takes, and its first
// lookup from the index, both in files.
func measureLargeSourceMap() error {
	for _, share := range []float64{0.35, 1} {
		if err := measureLargeShare(share); err != nil {
			return err
		}
	}
	return nil
}

func measureLargeShare(share float64) error {
	dir, err := os.MkdirTemp("", "sourcemap")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	text, last, err := makeSourceMap(largeSourceMap, share)
	if err != nil {
		return err
	}
	size := int64(len(text))
	if err := os.WriteFile(filepath.Join(dir, "a.map"), text, 0o600); err != nil {
		return err
	}
	from, err := os.Open(filepath.Join(dir, "a.map"))
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.Create(filepath.Join(dir, "a.index"))
	if err != nil {
		return err
	}
	defer to.Close()
	var segments int
	start := time.Now()
	memory, err := peakMemory(func() error {
		s, err := sourcemap.Index(from, size, to, sourcemap.Options{})
		if err == nil {
			segments = s.Segments
		}
		return err
	})
	if err != nil {
		return err
	}
	took := time.Since(start)
	info, err := to.Stat()
	if err != nil {
		return err
	}
	name := fmt.Sprintf("source map of %.0f MB, %.0f %% mappings (%d): ", float64(size)/1e6, share*100, segments)
	measure.Row(name+"memory to index, time, size of the index", fmt.Sprintf("%.0f MiB, %s, %.0f MB", float64(memory)/(1<<20),
		measure.Round(took), float64(info.Size())/1e6),
		"64 MiB over the file", memory <= size+indexingMemory)
	least := best(func() {
		f, e := symbol.Open(to, info.Size())
		if e != nil {
			err = e
			return
		}
		m, e := sourcemap.Open(f)
		if e != nil {
			err = e
			return
		}
		if _, _, e := m.Original(1, last/2); e != nil {
			err = e
		}
	})
	measure.Row(name+"open and first lookup from a file", least.String(), "5 ms", least <= firstLookup)
	return err
}

// peakMemory returns how much more memory than before the program had at most while work
// went on.
func peakMemory(work func() error) (int64, error) {
	runtime.GC()
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
	read := func() int64 {
		metrics.Read(samples)
		return int64(samples[0].Value.Uint64() + samples[1].Value.Uint64())
	}
	before := read()
	done := make(chan error, 1)
	go func() { done <- work() }()
	peak := before
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return max(peak, read()) - before, err
		case <-tick.C:
			peak = max(peak, read())
		}
	}
}
