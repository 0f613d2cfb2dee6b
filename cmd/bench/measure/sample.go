package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
)

// Sample is a report whose uuid can be changed in place.
type Sample struct {
	Body []byte
	UUID int // offset of the uuid's 36 characters
}

// With returns a copy of the report with a uuid of its own.
func (s Sample) With(id uuid.UUID) []byte {
	body := bytes.Clone(s.Body)
	copy(body[s.UUID:], id.String())
	return body
}

// Placeholder is the uuid of a report before it is sent.
const Placeholder = "00000000-0000-4000-8000-000000000000"

// Samples returns n different reports of about size bytes, in some fifty groups,
// as JavaScript clients send them: a faulting thread of twenty frames, a few
// other threads, attributes, and in large ones breadcrumbs. The seed is fixed:
// two runs send the same reports.
func Samples(n, size int) []Sample {
	rng := rand.New(rand.NewPCG(1, uint64(size)))
	all := make([]Sample, n)
	for i := range all {
		body := NewReport(rng, size)
		all[i] = Sample{body, bytes.Index(body, []byte(Placeholder))}
	}
	return all
}

// Words are what names and texts of reports are made of.
var Words = []string{"order", "cart", "user", "session", "render", "load", "parse", "fetch", "route", "submit",
	"apply", "update", "total", "price", "image", "queue", "token", "login", "filter", "socket", "stream", "cache"}

func word(rng *rand.Rand) string { return Words[rng.IntN(len(Words))] }

func identifier(rng *rand.Rand) string {
	w := word(rng)
	return word(rng) + string(w[0]-'a'+'A') + w[1:]
}

// NewReport returns a report of about size bytes, of one of fifty groups.
func NewReport(rng *rand.Rand, size int) []byte {
	group := rng.IntN(50)
	shape := rand.New(rand.NewPCG(2, uint64(group))) // the same stack for the same group
	threads := map[string]any{"main": map[string]any{"name": "main", "fault": true, "stack": stack(shape, rng, 20)}}
	report := map[string]any{
		"uuid": Placeholder, "timestamp": time.Now().Unix(), "lang": "nodejs", "langVersion": "v20.11.1",
		"agent": "@backtrace/node", "agentVersion": "0.8.3", "mainThread": "main",
		"classifiers": []string{"TypeError"},
		"attributes": map[string]any{
			"application": "shop", "application.version": fmt.Sprintf("2.%d.0", rng.IntN(5)),
			"hostname": fmt.Sprintf("web-%03d", rng.IntN(100)), "error.message": "Cannot read properties of undefined (reading '" +
				Words[group%len(Words)] + "')",
			"uname.machine": "x64", "uname.sysname": "Linux", "process.age": rng.IntN(100000),
			"system.memory.total": 25282490368, "system.memory.free": rng.Int64N(25282490368),
			"vm.rss.size": rng.Int64N(1 << 30), "cpu.count": 8, "user.id": fmt.Sprintf("u%06d", rng.IntN(1000000)),
			"request.id": fmt.Sprintf("%016x", rng.Uint64()),
		},
	}
	for i := 0; ; i++ {
		report["threads"] = threads
		doc, err := json.Marshal(report)
		if err != nil {
			panic(err) // maps of plain values
		}
		if len(doc) >= size {
			return doc
		}
		grow(rng, report, threads, i, size-len(doc))
	}
}

func stack(shape, rng *rand.Rand, n int) []map[string]any {
	var frames []map[string]any
	for range n {
		frames = append(frames, map[string]any{
			"funcName": identifier(shape) + "." + identifier(shape), "library": "/srv/app/dist/" + word(shape) + "/" + word(shape) + ".js",
			"line": 1 + rng.IntN(2000), "column": 1 + rng.IntN(80),
		})
	}
	return frames
}

// grow adds most of the missing bytes, at least one breadcrumb.
func grow(rng *rand.Rand, report, threads map[string]any, i, missing int) {
	if missing > 8000 && i%3 == 0 {
		threads[fmt.Sprintf("worker-%d", i)] = map[string]any{"name": "worker", "stack": stack(rng, rng, 15)}
	}
	annotations, _ := report["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
		report["annotations"] = annotations
	}
	crumbs, _ := annotations["breadcrumbs"].([]any)
	for range max(1, missing*9/10/190) {
		crumbs = append(crumbs, map[string]any{
			"timestamp": 1700000000000 + rng.Int64N(1e10), "level": "info", "type": "http",
			"message": fmt.Sprintf("GET /api/%s/%d?page=%d answered %d after %d ms", word(rng), rng.IntN(100000),
				rng.IntN(9), 200, rng.IntN(900)),
			"attributes": map[string]any{"module": identifier(rng), "attempt": rng.IntN(3)},
		})
	}
	annotations["breadcrumbs"] = crumbs
}
