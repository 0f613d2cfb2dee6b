//go:build soak

package processtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/tasks"
)

// balancer passes requests to those of its apis that were ready at the last probe, in
// turn. It repeats nothing: an api that refuses is a request that fails.
type balancer struct {
	apis  []*url.URL
	ready []atomic.Bool
	next  atomic.Int64
	proxy httputil.ReverseProxy

	mu     sync.Mutex
	broken []string
}

// probeEvery is much shorter than the stop delay of the test's apis.
const (
	probeEvery   = 100 * time.Millisecond
	rollingDelay = 1500 * time.Millisecond
)

func newBalancer(t *testing.T, bases ...string) *balancer {
	t.Helper()
	b := &balancer{ready: make([]atomic.Bool, len(bases))}
	stop := make(chan struct{})
	var probes sync.WaitGroup
	for i, base := range bases {
		u, err := url.Parse(base)
		require.NoError(t, err)
		b.apis = append(b.apis, u)
		probes.Go(func() {
			client := &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
			for {
				res, err := client.Get(base + "/readyz")
				b.ready[i].Store(err == nil && res.StatusCode == http.StatusOK)
				if err == nil {
					res.Body.Close()
				}
				select {
				case <-stop:
					return
				case <-time.After(probeEvery):
				}
			}
		})
	}
	t.Cleanup(func() { close(stop); probes.Wait() })
	b.proxy = httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(b.choose()) },
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.broken = append(b.broken, fmt.Sprintf("%s %s: %v", r.Method, r.URL.Path, err))
			w.WriteHeader(http.StatusBadGateway)
		},
	}
	return b
}

func (b *balancer) choose() *url.URL {
	for range b.apis {
		if i := int(b.next.Add(1)) % len(b.apis); b.ready[i].Load() {
			return b.apis[i]
		}
	}
	return b.apis[0]
}

// traffic is one kind of request, sent one after the other.
type traffic struct {
	name string
	send func(*http.Client) (status int, text string)
	want int
	// One after the other by two senders, more than ten in all; slow: by one, some.
	slow bool
	sent atomic.Int64
}

func (k *traffic) senders() int {
	if k.slow {
		return 1
	}
	return 2
}

func (k *traffic) least() int64 {
	if k.slow {
		return 2
	}
	return 11
}

// runs are test runs, each to its end, in browsers of a hub.
func (c *cluster) runs(t *testing.T, base string) *traffic {
	t.Helper()
	var key json.RawMessage
	answer(t, c.variables, &key, "admin", "key", "create", "acme", "ada@example.com", "--kind", "access")
	s := &runStory{tester: tester{base: base, user: c.owned(t), key: secretIn(t, key)}, t: t, site: newSite(t)}
	target := obj{"capabilities": obj{"browserName": "chrome", "goog:chromeOptions": obj{
		"args": append(localservice.BrowserArguments(), "--headless=new")}}}
	path := "/v1/ai-authoring/testcases/" + s.add("Rolling", []obj{openPage(s.site.URL + "/"),
		{"tool": obj{"type": "pause", "args": obj{"time": 200}}}},
		obj{"runSettings": obj{"target": target}}).ID
	ask := func(client *http.Client, method, path string, r *ran) (int, string) {
		req, err := http.NewRequest(method, base+path, nil)
		if err != nil {
			return 0, err.Error()
		}
		req.SetBasicAuth(s.user, s.key)
		res, err := client.Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err == nil && res.StatusCode == http.StatusOK {
			err = json.Unmarshal(text, &struct{ Data any }{r})
		}
		if err != nil {
			return 0, err.Error()
		}
		return res.StatusCode, string(text)
	}
	return &traffic{name: "run", want: http.StatusOK, slow: true, send: func(client *http.Client) (int, string) {
		var r ran
		status, text := ask(client, http.MethodPost, path+"/run", &r)
		for until := time.Now().Add(longWait); status == http.StatusOK && r.Status != "PASSED"; time.Sleep(100 * time.Millisecond) {
			if status, text = ask(client, http.MethodGet, path+"/runs/"+r.ID, &r); time.Now().After(until) ||
				r.Status == "FAILED" || r.Status == "ERROR" {
				return 0, "the run did not pass: " + text
			}
		}
		return status, text
	}}
}

// TestRollingRestart restarts every process of a fleet in turn under load, behind a
// balancer that asks /readyz: no request is refused, and nothing is lost.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	c := newCluster(t, servicetest.DatabaseURL(t), servicetest.RedisURL(t))
	c.variables = append(c.variables, "SLIPWAY_STOP_DELAY="+rollingDelay.String(), "SLIPWAY_ALLOW_PRIVATE_ADDRESSES=true",
		"SLIPWAY_WEBDRIVER_URL="+startDriver(t))
	var apis, workers, schedulers []*process
	var bases []string
	ports := []int{quietPort(t), quietPort(t)}
	for _, port := range ports {
		p, at := c.api(t, port)
		apis, bases = append(apis, p), append(bases, at.base)
	}
	for range 2 {
		p, _ := c.tier(t, "worker")
		workers = append(workers, p)
		p, _ = c.tier(t, "scheduler")
		schedulers = append(schedulers, p)
	}
	b := newBalancer(t, bases...)
	front := httptest.NewServer(&b.proxy)
	t.Cleanup(front.Close)
	eventually(t, "both are ready", func() bool { return b.ready[0].Load() && b.ready[1].Load() })

	do := func(client *http.Client, method, path, contentType string, body []byte) (int, string) {
		req, err := http.NewRequest(method, front.URL+path, bytes.NewReader(body))
		if err != nil {
			return 0, err.Error()
		}
		req.Header.Set("X-API-Key", c.owner)
		if contentType != "" {
			req.Header.Set("Content-Type", contentType)
		}
		res, err := client.Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			return 0, err.Error()
		}
		return res.StatusCode, string(text)
	}
	var mu sync.Mutex
	var reports, builds []string
	var version atomic.Int64
	all := []*traffic{
		{name: "crash", want: http.StatusOK, send: func(client *http.Client) (int, string) {
			id := uuid.New()
			status, text := do(client, http.MethodPost, "/post?format=json&token="+c.token, "application/json", sample(id, "RollingError", "rolled"))
			mu.Lock()
			defer mu.Unlock()
			reports = append(reports, id.String())
			return status, text
		}},
		{name: "upload", want: http.StatusCreated, send: func(client *http.Client) (int, string) {
			number := fmt.Sprint(version.Add(1))
			body, contentType := form(t, field{name: "file", file: "shop.ipa", value: string(newIPA(t, "com.example.rolling", "1.0", number))})
			status, text := do(client, http.MethodPost, "/api/v3/builds/upload", contentType, body.Bytes())
			mu.Lock()
			defer mu.Unlock()
			builds = append(builds, number)
			return status, text
		}},
		{name: "read", want: http.StatusOK, send: func(client *http.Client) (int, string) {
			return do(client, http.MethodGet, "/api/v3/crash-groups", "", nil)
		}},
		{name: "wait", want: http.StatusOK, send: func(client *http.Client) (int, string) {
			return do(client, http.MethodGet, "/api/v3/tasks?per_page=1", "", nil)
		}},
	}
	all = append(all, c.runs(t, front.URL))
	stop := make(chan struct{})
	var senders sync.WaitGroup
	var refused []string
	for _, kind := range all {
		for range kind.senders() {
			senders.Go(func() {
				client := &http.Client{Timeout: longWait, Transport: &http.Transport{}}
				defer client.CloseIdleConnections()
				for {
					select {
					case <-stop:
						return
					case <-time.After(20 * time.Millisecond):
					}
					status, text := kind.send(client)
					kind.sent.Add(1)
					if status != kind.want {
						mu.Lock()
						refused = append(refused, fmt.Sprintf("%s: %d %.200s", kind.name, status, text))
						mu.Unlock()
					}
				}
			})
		}
	}
	for i, port := range ports {
		began := time.Now()
		require.Zero(t, apis[i].signal(t, syscall.SIGTERM))
		require.GreaterOrEqual(t, time.Since(began), rollingDelay, "it serves for the delay")
		apis[i], _ = c.api(t, port)
		eventually(t, "the balancer takes it back", b.ready[i].Load)
	}
	for i := range workers {
		require.Zero(t, workers[i].signal(t, syscall.SIGTERM))
		workers[i], _ = c.tier(t, "worker")
		require.Zero(t, schedulers[i].signal(t, syscall.SIGTERM))
		schedulers[i], _ = c.tier(t, "scheduler")
	}
	for _, kind := range all {
		eventually(t, kind.name+" goes on", func() bool { return kind.sent.Load() >= kind.least() })
		t.Logf("%s: %d requests", kind.name, kind.sent.Load())
	}
	close(stop)
	senders.Wait()
	require.Empty(t, refused)
	require.Empty(t, b.broken)
	eventually(t, "all tasks end", func() bool {
		return c.count(t,
			`select count(*) from tasks where state in ('queued', 'running') and kind not like '%:maintenance' and kind <> 'schedule:tick'`) == 0
	})
	require.Equal(t, len(reports), c.count(t, `select count(*) from crashes`))
	require.Equal(t, len(builds), c.count(t, `select count(*) from builds`))
	require.Zero(t, c.count(t, `select count(*) from tasks where state = 'dead'`))
}

// TestWorkersStopUnderLoad stops workers, one after another, while reports
// arrive: no task loses an attempt, and none is left to the rescue.
func TestWorkersStopUnderLoad(t *testing.T) {
	t.Parallel()
	c := newCluster(t, servicetest.DatabaseURL(t), servicetest.RedisURL(t))
	c.variables = append(c.variables, "SLIPWAY_RESCUE_AFTER=1m") // it takes nothing here
	c.tier(t, "scheduler")
	_, api := c.api(t, quietPort(t))
	worker, _ := c.tier(t, "worker")
	l := startLoad([]string{api.base}, c.token, 1, 8)
	var slowest time.Duration
	for range 3 {
		next, _ := c.tier(t, "worker")
		began := time.Now()
		require.Zero(t, worker.signal(t, syscall.SIGTERM))
		slowest = max(slowest, time.Since(began))
		worker = next
	}
	l.end()
	t.Logf("%d reports; the slowest of three stops took %s", len(l.accepted), slowest.Round(time.Millisecond))
	require.Empty(t, l.violations)
	require.Zero(t, l.broken.Load()+l.refused.Load(), "no client noticed")
	eventually(t, "all tasks have succeeded", func() bool {
		return c.count(t, `select count(*) from tasks where state <> 'succeeded'`) == 0
	})
	require.Equal(t, len(l.accepted), c.count(t, `select count(*) from crashes`))
	require.EqualValues(t, len(l.accepted), c.count(t, `select sum(count) from crash_groups`))
	require.Zero(t, c.count(t, `select count(*) from tasks where error is not null`))
	for name, kind := range tasks.Kinds() {
		require.Zero(t, c.count(t, `select count(*) from tasks where kind = $1 and attempt - (max_attempts - $2) > 1`, name, kind.MaxAttempts),
			"a graceful stop costs no attempt of %s", name)
	}
}
