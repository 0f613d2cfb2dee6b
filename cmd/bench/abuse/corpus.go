package abuse

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/storage/artifact/artifacttest"
)

const (
	// corpusCPU and corpusMemory are what one hostile file may cost.
	corpusCPU    = 2 * time.Second
	corpusMemory = 64 << 20
	// corpusIdle is the processor time in corpusWindow up to which a service counts as idle
	// again: its loops take less.
	corpusIdle   = 40 * time.Millisecond
	corpusWindow = 400 * time.Millisecond
	// corpusTail is how long what goes on after a response is measured.
	corpusTail = 90 * time.Second
	// corpusGrowth is how much memory more than before may stay: the heap of a server that
	// has served requests.
	corpusGrowth = 48 << 20
)

// corpus uploads hostile packages, one after the other, and measures what each of them costs
// the service and its readers until these are idle again; then whether the service is as it
// was.
func (b *bench) corpus(ctx context.Context) error {
	t, err := b.startTarget(ctx, "--metrics-public")
	if err != nil {
		return err
	}
	defer t.stop()
	for range 20 { // warms caches, and the heap
		if err := t.victim.uploadApp(ctx, probeClient()); err != nil {
			return err
		}
	}
	root := t.product.Cmd.Process.Pid
	if _, err := settle(ctx, root); err != nil {
		return err
	}
	before, err := t.usage(ctx)
	if err != nil {
		return err
	}
	for _, h := range artifacttest.Corpus() {
		if err := b.hostile(ctx, t, root, h); err != nil {
			return fmt.Errorf("%s: %w", h.File, err)
		}
	}
	if err := t.victim.uploadApp(ctx, probeClient()); err != nil {
		b.row("corpus", "an upload afterwards", "", oneLine(err.Error()), "accepted", false)
	}
	if _, err := settle(ctx, root); err != nil {
		return err
	}
	after, err := t.usage(ctx)
	if err != nil {
		return err
	}
	b.row("corpus", "memory of the service, before and after", mebibytes(before.memory), mebibytes(after.memory),
		"+ "+mebibytes(corpusGrowth), after.memory <= before.memory+corpusGrowth)
	b.row("corpus", "goroutines, before and after", fmt.Sprint(before.goroutines), fmt.Sprint(after.goroutines), "+ 20",
		after.goroutines <= before.goroutines+20)
	return ctx.Err()
}

// hostile uploads one file and prints what it cost.
func (b *bench) hostile(ctx context.Context, t *target, root int, h artifacttest.Hostile) error {
	data := h.Data()
	body, contentType, err := hostileForm(t.attacker, h.File, data)
	if err != nil {
		return err
	}
	path := "/api/upload"
	if h.Symbols {
		path = "/upload/dsym/"
	}
	started, err := readersCPU(root)
	if err != nil {
		return err
	}
	memory := process.SampleMemory(root)
	began := time.Now()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 2 * time.Minute}
	refused := t.attacker.sendAs(ctx, client, http.MethodPost, path, contentType, "", body)
	took := time.Since(began)
	ended, err := settle(ctx, root)
	peak := memory()
	if err != nil {
		return err
	}
	used := ended - started
	outcome := "accepted"
	if refused != nil {
		outcome = oneLine(refused.Error())
	}
	b.row("corpus", h.Name, fmt.Sprintf("%.1f MB", float64(len(data))/1e6),
		fmt.Sprintf("%s CPU, %s more, %s: %s", used.Round(10*time.Millisecond), mebibytes(peak), measure.Round(took), outcome),
		fmt.Sprintf("%s, %s", corpusCPU, mebibytes(corpusMemory)), used <= corpusCPU && peak <= corpusMemory)
	return nil
}

// hostileForm returns the form of an upload, with the key in front.
func hostileForm(t *tenant, name string, data []byte) (body []byte, contentType string, err error) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	_ = form.WriteField("api_key", t.APIKey) // to memory
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		return nil, "", err
	}
	_, _ = part.Write(data)
	err = form.Close()
	return b.Bytes(), form.FormDataContentType(), err
}

// readersCPU returns the processor time of the service and of those that read files for it,
// ended ones included.
func readersCPU(root int) (time.Duration, error) {
	const tick = 10 * time.Millisecond
	all, err := process.Readers(root)
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, pid := range all {
		fields, err := process.Stat(pid)
		if err != nil {
			continue // ended meanwhile: its parent has its time
		}
		for _, field := range fields[11:15] {
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0, err
			}
			sum += time.Duration(n) * tick
		}
	}
	return sum, nil
}

// settle waits until the service and its readers are idle, and returns their processor time.
func settle(ctx context.Context, root int) (time.Duration, error) {
	last, err := readersCPU(root)
	for end := time.Now().Add(corpusTail); err == nil && time.Now().Before(end); {
		if err := process.Sleep(ctx, corpusWindow); err != nil {
			return 0, err
		}
		var now time.Duration
		if now, err = readersCPU(root); err == nil && now-last <= corpusIdle {
			return last, nil
		}
		last = now
	}
	return last, err
}

// serviceUsage is what a service has without requests.
type serviceUsage struct {
	memory     int64
	goroutines int
}

func (t *target) usage(ctx context.Context) (serviceUsage, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, t.product.Base+"/metrics", http.NoBody)
	if err != nil {
		return serviceUsage{}, err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return serviceUsage{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return serviceUsage{}, err
	}
	u := serviceUsage{memory: process.ResidentMemory(t.product.Cmd.Process.Pid)}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "go_goroutines "); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			u.goroutines = int(n)
			return u, err
		}
	}
	return u, cmp.Or(ctx.Err(), fmt.Errorf("no number of goroutines in the metrics: %s", response.Status))
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
