package abuse

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
)

const (
	chaosClients = 4                // of an organization, for crashes
	chaosPersist = 90 * time.Second // how long a client tries again
)

// start begins the load and returns the function that ends it, once every client knows
// what became of its last request.
func (l *chaosLoad) start(ctx context.Context) (stop func()) {
	working, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	every := func(pause time.Duration, once func()) {
		done.Go(func() {
			for process.Sleep(working, pause) == nil {
				once()
			}
		})
	}
	reports := measure.Samples(64, 4<<10)
	for _, t := range l.tenants {
		for range chaosClients {
			every(20*time.Millisecond, func() {
				id := uuid.New()
				l.crash(ctx, t, id, reports[rand.IntN(len(reports))].With(id))
			})
		}
		every(500*time.Millisecond, func() { l.upload(ctx, t) })
		every(500*time.Millisecond, func() { l.startRun(ctx, t) })
	}
	return func() {
		cancel()
		done.Wait()
	}
}

func (l *chaosLoad) increment(counter *int) {
	l.mu.Lock()
	*counter++
	l.mu.Unlock()
}

// note adds the id of something that was answered with success.
func note[T any](l *chaosLoad, list *[]T, id T) {
	l.mu.Lock()
	*list = append(*list, id)
	l.mu.Unlock()
}

func (l *chaosLoad) crash(ctx context.Context, t *tenant, id uuid.UUID, body []byte) {
	_, stored := l.persist(ctx, func(ctx context.Context, base string) (int, []byte, error) {
		return post(ctx, base+"/post?format=json&token="+t.Token, "application/json", body, nil)
	}, func(status int, text []byte) bool {
		// 400 of code 4: the uuid is there. An earlier try was stored, and its response lost.
		return status == http.StatusBadRequest && bytes.Contains(text, []byte(`"code":4`))
	})
	if stored {
		note(l, &l.answered.Crashes, id)
	}
}

func (l *chaosLoad) upload(ctx context.Context, t *tenant) {
	body, contentType, err := appForm(t)
	if err != nil {
		l.report(err)
		return
	}
	key := uuid.NewString()
	text, stored := l.persist(ctx, func(ctx context.Context, base string) (int, []byte, error) {
		return post(ctx, base+"/api/upload", contentType, body, func(r *http.Request) { r.Header.Set("Idempotency-Key", key) })
	}, func(int, []byte) bool { return false })
	if !stored {
		return
	}
	id, err := buildOf(text)
	if err != nil {
		l.report(err)
		return
	}
	note(l, &l.answered.Builds, id)
}

// buildOf returns the build of the response to an upload.
func buildOf(text []byte) (int64, error) {
	var made struct {
		ID string `json:"build_id"`
	}
	if err := json.Unmarshal(text, &made); err != nil {
		return 0, fmt.Errorf("response to an upload: %w", err)
	}
	id, err := strconv.ParseInt(made.ID, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("response to an upload: build_id: %w", err)
	}
	return id, nil
}

// startRun starts a run once: the interface has no key by which a client that has no
// response could repeat a start, so a lost response is a run that nobody knows. A start
// that was refused, or that reached no process, has stored nothing.
func (l *chaosLoad) startRun(ctx context.Context, t *tenant) {
	status, text, err := post(ctx, l.bases[rand.IntN(len(l.bases))]+"/v1/ai-authoring/testcases/"+t.caseID+"/run",
		"application/json", []byte("{}"), t.Authorize)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		l.increment(&l.again)
		return
	case err != nil:
		l.increment(&l.again)
		l.increment(&l.answered.Unanswered)
		return
	case status == http.StatusConflict || status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		l.increment(&l.again)
		return
	case status/100 != 2:
		l.report(fmt.Errorf("start of a run: %d: %.300s", status, text))
		return
	}
	var made struct{ Data struct{ ID uuid.UUID } }
	if err := json.Unmarshal(text, &made); err != nil {
		l.report(fmt.Errorf("response to the start of a run: %w", err))
		return
	}
	note(l, &l.answered.Runs, made.Data.ID)
}

// persist sends a request to the processes in turn until one responds with 200, or in a
// way that known accepts, and returns that response.
func (l *chaosLoad) persist(ctx context.Context, send func(context.Context, string) (int, []byte, error),
	known func(int, []byte) bool) (response []byte, stored bool) {
	at := rand.IntN(len(l.bases))
	for end := time.Now().Add(chaosPersist); time.Now().Before(end) && ctx.Err() == nil; at++ {
		status, text, err := send(ctx, l.bases[at%len(l.bases)])
		switch {
		case err == nil && (status == http.StatusOK || known(status, text)):
			return text, true
		case err == nil && status != http.StatusServiceUnavailable && status != http.StatusConflict:
			l.report(fmt.Errorf("%d: %.300s", status, text))
			return nil, false
		}
		l.increment(&l.again)
		_ = process.Sleep(ctx, time.Duration(20+rand.IntN(200))*time.Millisecond)
	}
	l.report(errors.New("no response"))
	return nil, false
}

func (l *chaosLoad) report(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrong = cmp.Or(l.wrong, err)
}

// post sends a body and reads the response.
func post(ctx context.Context, address, contentType string, body []byte, prepare func(*http.Request)) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", contentType)
	if prepare != nil {
		prepare(r)
	}
	r.Close = true // the process may be gone at the next one
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	return response.StatusCode, text, err
}
