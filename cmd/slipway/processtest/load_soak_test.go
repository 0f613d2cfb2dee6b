//go:build soak

package processtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// classes are the error classes of the load, one group each.
var classes = []string{"AlphaError", "BetaError", "GammaError", "DeltaError", "EpsilonError"}

// load posts reports as the client kits do: it sends a body again until it is
// answered with 200, or refused because it was accepted before.
type load struct {
	bases   []string // of the apis, tried in turn as a balancer does
	token   string
	seed    uint64
	clients []*http.Client // by api
	stop    chan struct{}  // closed: no new reports
	done    sync.WaitGroup

	sent, resent, refused, broken atomic.Int64

	mu         sync.Mutex
	accepted   map[uuid.UUID]string // uuid -> class
	unknown    map[uuid.UUID]string // given up without an answer
	violations []string             // what no client should ever see
	slowest    time.Duration        // from the first try to the acceptance
}

// persistence is how long a report is sent again.
const persistence = 90 * time.Second

func startLoad(bases []string, token string, seed uint64, workers int) *load {
	l := &load{bases: bases, token: token, seed: seed, stop: make(chan struct{}),
		accepted: map[uuid.UUID]string{}, unknown: map[uuid.UUID]string{}}
	for range bases {
		// Short patience with connections, as the process may be gone.
		l.clients = append(l.clients, &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
			MaxIdleConnsPerHost: workers, DialContext: (&net.Dialer{Timeout: time.Second}).DialContext}})
	}
	for n := range workers {
		l.done.Go(func() { l.work(rand.New(rand.NewPCG(seed, uint64(n)))) })
	}
	return l
}

// end lets the reports under way come to their end.
func (l *load) end() {
	close(l.stop)
	l.done.Wait()
	for _, c := range l.clients {
		c.CloseIdleConnections()
	}
}

func (l *load) work(random *rand.Rand) {
	for {
		select {
		case <-l.stop:
			return
		case <-time.After(time.Duration(random.IntN(8)) * time.Millisecond):
		}
		var id uuid.UUID
		for i := range id {
			id[i] = byte(random.Uint32())
		}
		class := classes[random.IntN(len(classes))]
		l.submit(random, id, class)
	}
}

// submit sends one report until its fate is known.
func (l *load) submit(random *rand.Rand, id uuid.UUID, class string) {
	body := sample(id, class, "in"+class)
	began, at, doubt := time.Now(), random.IntN(len(l.bases)), false
	l.sent.Add(1)
	for try := 0; ; try++ {
		if try > 0 {
			l.resent.Add(1)
		}
		status, ok := l.once(at, body, doubt)
		if ok {
			l.mu.Lock()
			l.accepted[id] = class
			l.slowest = max(l.slowest, time.Since(began))
			l.mu.Unlock()
			return
		}
		if status != 0 && status != http.StatusServiceUnavailable || time.Since(began) > persistence {
			l.mu.Lock()
			l.unknown[id] = class
			l.mu.Unlock()
			return
		}
		doubt = true
		at = (at + 1) % len(l.bases)
		time.Sleep(time.Duration(20+random.IntN(100)) * time.Millisecond)
	}
}

// once posts the body and judges the answer; status 0 is a broken connection.
func (l *load) once(at int, body []byte, doubt bool) (status int, accepted bool) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost,
		l.bases[at]+"/post?format=json&token="+l.token, bytes.NewReader(body))
	if err != nil {
		l.violate("request: %v", err)
		return -1, false
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := l.clients[at].Do(req)
	if err != nil {
		l.broken.Add(1)
		return 0, false
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		l.broken.Add(1)
		return 0, false
	}
	switch res.StatusCode {
	case http.StatusOK:
		var ok struct {
			Response string `json:"response"`
		}
		if json.Unmarshal(text, &ok) != nil || ok.Response != "ok" {
			l.violate("200 with the body %.200s", text)
		}
		return 200, true
	case http.StatusBadRequest:
		var refusal struct {
			Error struct {
				Code int `json:"code"`
			} `json:"error"`
		}
		if json.Unmarshal(text, &refusal) == nil && refusal.Error.Code == 4 && doubt {
			return 400, true // accepted by a request whose answer was lost
		}
	case http.StatusServiceUnavailable:
		l.refused.Add(1)
		if res.Header.Get("Retry-After") == "" {
			l.violate("503 without Retry-After: %.200s", text)
		}
		return 503, false
	}
	l.violate("status %d (after a doubtful answer: %t): %.300s", res.StatusCode, doubt, text)
	return res.StatusCode, false
}

func (l *load) violate(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.violations) < 20 {
		l.violations = append(l.violations, fmt.Sprintf(format, args...))
	}
}
