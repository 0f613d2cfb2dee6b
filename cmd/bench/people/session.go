package people

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/storage"
)

const (
	sessionConns    = 64
	sessionsEach    = 40 // of each connection: a batch goes to each in turn
	sessionEvents   = 10 // of a batch
	sessionDuration = 10 * time.Second
	sessionTarget   = 2000 // batches a second
)

// measureSessions measures batches of events, and the baseline in the same run: one
// INSERT of the same document for each request.
func measureSessions(ctx context.Context) error {
	p, err := process.Start(ctx, "")
	if err != nil {
		return err
	}
	defer p.Stop()
	db, err := storage.Open(storage.Config{URL: p.Database, MaxConns: 4})
	if err != nil {
		return err
	}
	defer db.Close()
	b := &sessionBench{Product: p, db: db, host: strings.TrimPrefix(p.Base, "http://")}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	baseline, err := b.baseline(ctx)
	if err != nil {
		return err
	}
	measure.Row(fmt.Sprintf("baseline: Gin, one INSERT a request (jsonb), %d bytes", len(sessionBatch("1000000000"))),
		fmt.Sprintf("%.0f/s", baseline.PerSecond()), "", true)
	return b.batches(ctx, baseline)
}

type sessionBench struct {
	*process.Product
	db       *storage.DB
	host     string
	sdkToken string
	sessions [][]string // of each connection
}

// post sends JSON and reads the members of the answer.
func (b *sessionBench) post(ctx context.Context, path string, body map[string]any, header, value string) (map[string]any, error) {
	doc, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.Base+path, bytes.NewReader(doc))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(header, value)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s: %s: %s", path, response.Status, text)
	}
	var answer map[string]any
	return answer, json.Unmarshal(text, &answer)
}

// prepare makes an app with a token, and starts the sessions.
func (b *sessionBench) prepare(ctx context.Context) error {
	made, err := b.post(ctx, "/api/v3/projects", map[string]any{"name": "Sessions", "package_name": "com.example.sessions",
		"platform": "Android"}, "X-API-Key", b.APIKey)
	if err != nil {
		return err
	}
	id := made["project"].(map[string]any)["id"]
	token, err := b.post(ctx, fmt.Sprintf("/api/v3/projects/%v/sdk-tokens", id), map[string]any{}, "X-API-Key", b.APIKey)
	if err != nil {
		return err
	}
	b.sdkToken = token["secret"].(string)
	began := time.Now()
	errs := make(chan error, sessionConns)
	b.sessions = make([][]string, sessionConns)
	for i := range sessionConns {
		go func() {
			for range sessionsEach {
				client := uuid.NewString()
				if _, err := b.post(ctx, "/api/1/sdk/sessions", map[string]any{"session_id": client, "version": "1"},
					"X-SDK-Token", b.sdkToken); err != nil {
					errs <- err
					return
				}
				b.sessions[i] = append(b.sessions[i], client)
			}
			errs <- nil
		}()
	}
	for range sessionConns {
		if err := <-errs; err != nil {
			return err
		}
	}
	measure.Row(fmt.Sprintf("%d sessions started, by net/http", sessionConns*sessionsEach),
		fmt.Sprintf("%.0f/s", sessionConns*sessionsEach/time.Since(began).Seconds()), "", true)
	return nil
}

// sessionBatch is the body of a batch, with a number of NumberLength digits.
func sessionBatch(number string) string {
	var events strings.Builder
	for i := range sessionEvents {
		if i > 0 {
			events.WriteByte(',')
		}
		fmt.Fprintf(&events, `{"type":"log","time":%d,"text":"GET /api/items?page=%d took %d ms and returned 24 items","data":{"thread":"main",`+
			`"line":%d}}`,
			time.Now().UnixMilli()+int64(i), i, 10+7*i, 100+i)
	}
	return `{"seq":` + number + `,"events":[` + events.String() + `]}`
}

// baseline posts documents of the same content to the baseline server.
func (b *sessionBench) baseline(ctx context.Context) (*measure.Outcome, error) {
	address, stop, err := process.StartBaseline(ctx, b.Database)
	if err != nil {
		return nil, err
	}
	defer stop()
	target, err := url.Parse("http://" + address + "/insert")
	if err != nil {
		return nil, err
	}
	body := `{"uuid":"` + measure.Placeholder + `",` + sessionBatch("1000000000")[1:]
	l := &measure.Load{Target: target, Conns: sessionConns, Duration: sessionDuration / 5,
		Samples: []measure.Sample{{Body: []byte(body), UUID: len(`{"uuid":"`)}}}
	if _, err := measure.Send(ctx, l); err != nil {
		return nil, err
	}
	l.Duration = sessionDuration
	return measure.Send(ctx, l)
}

// requests renders a request for each session of a connection.
func (b *sessionBench) requests(number int) []*measure.Request {
	const zero = "1000000000"
	out := make([]*measure.Request, 0, sessionsEach)
	for _, client := range b.sessions[number] {
		body := sessionBatch(zero)
		head := fmt.Sprintf("POST /api/1/sdk/sessions/%s/events HTTP/1.1\r\nHost: %s\r\nX-SDK-Token: %s\r\nContent-Type: application/json\r\n"+
			"Content-Length: %d\r\n\r\n",
			client, b.host, b.sdkToken, len(body))
		r := &measure.Request{Bytes: []byte(head + body)}
		r.Number = r.Bytes[len(head)+len(`{"seq":`):][:measure.NumberLength]
		out = append(out, r)
	}
	return out
}

func (b *sessionBench) batches(ctx context.Context, baseline *measure.Outcome) error {
	target, err := url.Parse(b.Base)
	if err != nil {
		return err
	}
	rendered := make([][]*measure.Request, sessionConns) // the numbers go on after the warm-up
	for i := range rendered {
		rendered[i] = b.requests(i)
	}
	l := &measure.Load{Target: target, Conns: sessionConns, Duration: sessionDuration / 5,
		Render: func(number int) []*measure.Request { return rendered[number] }}
	warm, err := measure.Send(ctx, l)
	if err != nil {
		return err
	}
	l.Duration = sessionDuration
	o, err := measure.Send(ctx, l)
	if err != nil {
		return err
	}
	measure.Row(fmt.Sprintf("batches of %d events, %d connections, durable when answered", sessionEvents, sessionConns),
		fmt.Sprintf("%.0f/s, p50 %s, p99 %s", o.PerSecond(), measure.Round(o.Quantile(0.5)), measure.Round(o.Quantile(0.99))),
		fmt.Sprintf("%d/s", sessionTarget), o.PerSecond() >= sessionTarget)
	ratio := o.PerSecond() / baseline.PerSecond()
	// The baseline neither knows a session nor counts.
	measure.Row("their ratio to the baseline", fmt.Sprintf("%.2f", ratio), "", true)
	var stored struct {
		Batches int `db:"batches"`
		Counted int `db:"counted"`
		Dropped int `db:"dropped"`
	}
	err = b.db.GetContext(ctx, &stored, `select (select count(*) from app_session_batches) as batches,
		(select sum(batches) from app_sessions) as counted, (select sum(dropped) from app_sessions) as dropped`)
	if err != nil {
		return err
	}
	measure.Row("accepted, stored, counted by the sessions, dropped", fmt.Sprintf("%d, %d, %d, %d", warm.Accepted+o.Accepted,
		stored.Batches, stored.Counted, stored.Dropped),
		"equal, none dropped", stored.Batches == warm.Accepted+o.Accepted && stored.Counted == stored.Batches && stored.Dropped == 0)
	return nil
}
