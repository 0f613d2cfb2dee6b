package abuse

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/bench/progress"
)

// probeTimeout is the longest time of one request of the victim. One that has no
// response by then counts with this time and as refused.
const probeTimeout = 20 * time.Second

// probe is what the victim does again and again: one request, whose time counts.
type probe struct {
	name  string
	every time.Duration
	once  func(context.Context) error
	// most is the longest time that the target allows; 0: abuseRatio times the quiet one.
	most time.Duration
}

// probes are what the victim does in every attack.
func (t *tenant) probes() []probe {
	client := probeClient()
	reports := measure.Samples(64, 4<<10)
	sent := 0
	return []probe{
		{name: "upload", every: 250 * time.Millisecond, once: func(ctx context.Context) error { return t.uploadApp(ctx, client) }},
		{name: "crash", every: 50 * time.Millisecond, once: func(ctx context.Context) error {
			sent++
			return t.send(ctx, client, http.MethodPost, "/post?format=json&token="+t.Token, "application/json",
				reports[sent%len(reports)].With(uuid.New()))
		}},
		{name: "list", every: 50 * time.Millisecond, once: func(ctx context.Context) error {
			return t.send(ctx, client, http.MethodGet, fmt.Sprintf("/api/v3/projects/%d/builds", t.project), "", nil)
		}},
		{name: "run until it starts", every: time.Second, most: runStart, once: t.probeRun},
	}
}

// probeClient returns a client that opens a connection for each request, as CI jobs and
// crashing apps do.
func probeClient() *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: probeTimeout}
}

// send sends a request with the key and reads the response, which must be a success.
func (t *tenant) send(ctx context.Context, client *http.Client, method, path, contentType string, body []byte) error {
	return t.sendAs(ctx, client, method, path, contentType, t.APIKey, body)
}

// sendAs is send with a key, or without one: "".
func (t *tenant) sendAs(ctx context.Context, client *http.Client, method, path, contentType, key string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, method, t.Base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if key != "" {
		r.Header.Set("X-API-Key", key)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	response, err := client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return &statusError{response.StatusCode, fmt.Sprintf("%s %s: %s: %.200s", method, r.URL.Path, response.Status, text)}
	}
	return nil
}

// probeBytes is the size of the victim's app: small, so that its time is that of the
// service and not of the bytes.
const probeBytes = 100 << 10

// uploadApp uploads the organization's app, the key in the form behind the file.
func (t *tenant) uploadApp(ctx context.Context, client *http.Client, fields ...string) error {
	body, contentType, err := appForm(t, fields...)
	if err != nil {
		return err
	}
	return t.sendAs(ctx, client, http.MethodPost, "/api/upload", contentType, "", body)
}

// appForm returns the form of an upload of the organization's app: the file, further
// fields (name, value and so on), and the key.
func appForm(t *tenant, fields ...string) (body []byte, contentType string, err error) {
	file, err := appFile(t.slug, probeBytes)
	if err != nil {
		return nil, "", err
	}
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	part, err := form.CreateFormFile("file", "shop.ipa")
	if err != nil {
		return nil, "", err
	}
	_, _ = part.Write(file) // to memory
	for pair := range slices.Chunk(append(fields, "api_key", t.APIKey), 2) {
		_ = form.WriteField(pair[0], pair[1])
	}
	err = form.Close()
	return b.Bytes(), form.FormDataContentType(), err
}

// probeRun starts a run of two steps and waits until it is not queued any more.
func (t *tenant) probeRun(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*probeTimeout)
	defer cancel()
	var run process.RunState
	if err := t.Call(ctx, http.MethodPost, "/testcases/"+t.caseID+"/run", struct{}{}, &run); err != nil {
		return err
	}
	for run.Status == "QUEUED" {
		if err := process.Sleep(ctx, 20*time.Millisecond); err != nil {
			return err
		}
		if err := t.Call(ctx, http.MethodGet, "/testcases/"+t.caseID+"/runs/"+run.ID, nil, &run); err != nil {
			return err
		}
	}
	if run.Status != "RUNNING" && run.Status != "PASSED" {
		return fmt.Errorf("the run ended as %s: %s", run.Status, run.Error)
	}
	return nil
}

// figure is what a probe measured.
type figure struct {
	times   []time.Duration // sorted
	refused int
	first   error // the first refusal
}

func (f *figure) quantile(q float64) time.Duration {
	return (&measure.Outcome{Times: f.times}).Quantile(q)
}

// String returns the figures of a cell of the table.
func (f *figure) String() string {
	text := fmt.Sprintf("p50 %s, p99 %s", measure.Round(f.quantile(0.5)), measure.Round(f.quantile(0.99)))
	if f.refused > 0 {
		text += fmt.Sprintf("; %d of %d refused", f.refused, len(f.times))
	}
	return text
}

// watch does what the probes do for a while and returns their figures in order. A probe
// that is under way at the end is waited for.
func watch(ctx context.Context, probes []probe, length time.Duration) []*figure {
	figures := make([]*figure, len(probes))
	end := time.Now().Add(length)
	var done sync.WaitGroup
	for i, p := range probes {
		f := &figure{}
		figures[i] = f
		done.Go(func() {
			for n := 0; ctx.Err() == nil && (n == 0 || time.Now().Before(end)); n++ {
				began := time.Now()
				err := p.once(ctx)
				if ctx.Err() != nil {
					return
				}
				f.times = append(f.times, time.Since(began))
				if err != nil {
					f.refused++
					f.first = cmp.Or(f.first, err)
				}
				if process.Sleep(ctx, p.every-time.Since(began)) != nil {
					return
				}
			}
		})
	}
	done.Wait()
	for _, f := range figures {
		slices.Sort(f.times)
	}
	return figures
}

const (
	// abuseRatio is how much longer the victim's slowest requests may take.
	abuseRatio = 2
	// runStart is how long a run may wait for its start when slots exist.
	runStart = 10 * time.Second
	// takeHold is the time that an attack gets to take what it wants, before its effect
	// is measured.
	takeHold = 5 * time.Second
)

// compare measures the probes quiet, then under an attack, which works until its context
// ends, and prints a row for each.
func (b *bench) compare(ctx context.Context, name string, probes []probe, attack func(context.Context) error) error {
	defer progress.Waits(ctx, "the requests of the other organization, quiet and under the attack")()
	watch(ctx, probes, time.Second) // warms caches
	quiet := watch(ctx, probes, b.Quiet)
	for i, f := range quiet {
		if f.first != nil {
			return fmt.Errorf("%s without an attack: %w", probes[i].name, f.first)
		}
	}
	attacking, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- attack(attacking) }()
	if err := process.Sleep(ctx, takeHold); err != nil {
		stop()
		return err
	}
	under := watch(ctx, probes, b.Attack)
	stop()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("attack: %w", err)
	}
	for i, p := range probes {
		most, target := abuseRatio*quiet[i].quantile(0.99), fmt.Sprintf("p99 %d times", abuseRatio)
		if p.most > 0 {
			most, target = p.most, "p99 "+p.most.String()
		}
		got := under[i].quantile(0.99)
		ratio := float64(got) / float64(max(quiet[i].quantile(0.99), time.Microsecond))
		b.row(name, p.name, quiet[i].String(), fmt.Sprintf("%s (%.1f times)", under[i], ratio), target, got <= most && under[i].refused == 0)
		if under[i].first != nil {
			b.row("", "its first refusal", "", oneLine(under[i].first.Error()), "", true)
		}
	}
	return ctx.Err()
}

// oneLine shortens a text to what fits in a cell.
func oneLine(text string) string {
	return fmt.Sprintf("%.160s", strings.Join(strings.Fields(strings.ReplaceAll(text, "|", "/")), " "))
}
