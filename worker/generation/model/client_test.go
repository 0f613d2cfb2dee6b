package model

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/languagemodel"
	"github.com/slipway-qa/slipway/storage/step/redaction"
	"github.com/slipway-qa/slipway/tasks/outbound"
)

// newClient returns a client of a service of a test, whose waits are short.
func newClient(t *testing.T, format string, s *languagemodel.Server, change ...func(*Config)) *Client {
	t.Helper()
	guard, err := outbound.New(outbound.Config{AllowPrivate: true})
	require.NoError(t, err)
	t.Cleanup(guard.CloseIdleConnections)
	cfg := Config{Provider: format, BaseURL: s.URL, Model: languagemodel.Model, Key: languagemodel.Key, HTTP: guard.Client(time.Minute),
		InputPrice: 2_000_000, OutputPrice: 10_000_000, Backoff: time.Millisecond}
	for _, f := range change {
		f(&cfg)
	}
	c, err := New(cfg)
	require.NoError(t, err)
	return c
}

func oneRequest(t *testing.T) *Request {
	t.Helper()
	return &Request{System: "You test.", Messages: []Message{{Text: "Click Save."}}, Tools: []Tool{readTool(), noAnswerTool()}}
}

func eachFormat(t *testing.T, f func(t *testing.T, format string)) {
	t.Helper()
	for _, format := range languagemodel.Formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			f(t, format)
		})
	}
}

func TestConversation(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format string) {
		for _, stream := range []bool{false, true} {
			first := languagemodel.Answer{Text: "I will, ünd more.", Stream: stream, Calls: []languagemodel.Call{
				{Name: "click", Arguments: map[string]any{"ref": "e1", "reason": "the only one"}},
				{Name: "fly away!", ArgumentText: `{"ref": `}}}
			s := languagemodel.Start(t, format, languagemodel.Say(first, languagemodel.Answer{Text: "Done."}))
			c := newClient(t, format, s)
			r := oneRequest(t)
			rec := NewRecorder(nil)
			reply, err := c.Chat(t.Context(), r, nil, rec)
			require.NoError(t, err)
			require.Equal(t, "I will, ünd more.", reply.Text)
			require.Len(t, reply.Calls, 2)
			require.Equal(t, "click", reply.Calls[0].Name)
			require.JSONEq(t, `{"ref":"e1","reason":"the only one"}`, string(reply.Calls[0].Arguments))
			require.False(t, isObject(reply.Calls[1].Arguments), "what is no object stays none")
			require.Equal(t, TokenUsage{languagemodel.InputTokens, languagemodel.OutputTokens}, reply.Usage)

			// The service checks that the conversation goes on as it must.
			r.Messages = append(r.Messages, Message{Reply: reply}, Message{Text: "The page.", Results: []ToolResult{
				{ID: reply.Calls[0].ID, Text: "executed"}, {ID: reply.Calls[1].ID, Text: "no such tool", Error: true}}})
			reply, err = c.Chat(t.Context(), r, nil, rec)
			require.NoError(t, err)
			require.Empty(t, reply.Calls)
			sent := s.Requests()[1]
			require.Equal(t, "You test.", sent.System)
			require.Len(t, sent.Messages, 3)
			require.Equal(t, "I will, ünd more.", sent.Messages[1].Text)
			require.Len(t, sent.Tools, 2)

			usage := rec.Usage()
			require.Len(t, usage.Calls, 2)
			require.Equal(t, int64(2*(2000+500)), usage.MicroUSD)
			require.Contains(t, usage.Calls[0].Request, "Click Save.")
			require.NotContains(t, usage.Calls[0].Request+usage.Calls[0].Response, languagemodel.Key)
		}
	})
}

func TestStops(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format string) {
		for _, c := range []struct {
			answer languagemodel.Answer
			want   Stop
		}{
			{languagemodel.Answer{Text: "No.", Refuse: true}, Refused},
			{languagemodel.Answer{Text: "I wi", Cut: true}, Cut},
			{languagemodel.Answer{}, Stopped},
		} {
			reply, err := newClient(t, format, languagemodel.Start(t, format, languagemodel.Say(c.answer))).Chat(t.Context(),
				oneRequest(t), nil, nil)
			require.NoError(t, err)
			require.Equal(t, c.want, reply.Stop)
			require.Equal(t, c.answer.Text, reply.Text)
		}
	})
}

// What passes is tried again, what does not is not.
func TestMisbehaviour(t *testing.T) {
	t.Parallel()
	good := languagemodel.Use("done", map[string]any{"summary": "it works"})
	stream := good
	stream.Stream = true
	cut := stream
	cut.Events = 4
	failed := cut
	failed.StreamError = true
	unmarked := stream
	unmarked.ContentType = "application/json"
	slow := good
	slow.Delay = time.Minute
	drip := languagemodel.Answer{Raw: []byte(`{"id": "this comes slowly, and takes longer than a request may"}`),
		ContentType: "application/json", Drip: 200 * time.Millisecond}
	for name, c := range map[string]struct {
		answers []languagemodel.Answer
		detail  string // "": it passes
		asked   int
	}{
		"rate limit": {[]languagemodel.Answer{{Status: 429, Text: "slow down",
			Header: map[string]string{"Retry-After": "0.01"}}, good}, "", 2},
		"rate limit in ms": {[]languagemodel.Answer{{Status: 429, Header: map[string]string{"Retry-After-Ms": "5"}}, good}, "", 2},
		"rate limit of an hour": {[]languagemodel.Answer{{Status: 429, Text: "slow down",
			Header: map[string]string{"Retry-After": "3600"}}, good}, "answered 429: slow down", 1},
		"overloaded":           {[]languagemodel.Answer{{Status: 529}, {Status: 503}, {Status: 500}, good}, "", 4},
		"too long overloaded":  {[]languagemodel.Answer{{Status: 529, Text: "Overloaded"}}, "answered 529: Overloaded", 4},
		"conflict and timeout": {[]languagemodel.Answer{{Status: 409}, {Status: 408}, good}, "", 3},
		"a wrong key": {[]languagemodel.Answer{{Status: 401, Text: "key " + languagemodel.Key + " is wrong"}, good},
			"answered 401: key *** is wrong", 1},
		"no money": {[]languagemodel.Answer{{Status: 402, Text: "pay first"}, good}, "answered 402: pay first", 1},
		"too long": {[]languagemodel.Answer{{Status: 413, Text: "too large"}, good}, "answered 413", 1},
		"redirect": {[]languagemodel.Answer{{Status: 307,
			Header: map[string]string{"Location": "https://example.com/"}}, good}, "answered 307", 1},
		"broken connection":    {[]languagemodel.Answer{{HangUp: true}, good}, "", 2},
		"unasked stream":       {[]languagemodel.Answer{stream}, "", 1},
		"unmarked stream":      {[]languagemodel.Answer{unmarked}, "", 1},
		"a stream that stops":  {[]languagemodel.Answer{cut, good}, "", 2},
		"streams that stop":    {[]languagemodel.Answer{cut}, "cannot be read", 4},
		"an error in a stream": {[]languagemodel.Answer{failed, good}, "", 2},
		"errors in streams":    {[]languagemodel.Answer{failed}, "failed while it answered: Overloaded", 4},
		"no answer in time":    {[]languagemodel.Answer{slow, good}, "", 2},
		"slow drip":            {[]languagemodel.Answer{drip, good}, "", 2},
		"a page of HTML":       {[]languagemodel.Answer{{Raw: []byte("<html>Sign in</html>"), ContentType: "text/html"}}, "cannot be read", 4},
		"nothing":              {[]languagemodel.Answer{{Raw: []byte{}, ContentType: "application/json"}, good}, "", 2},
		"another document":     {[]languagemodel.Answer{{Raw: []byte(`{"object":"list"}`), ContentType: "application/json"}, good}, "", 2},
		"a wrong type": {[]languagemodel.Answer{{Raw: []byte(`{"type":"message","content":"x","choices":7}`),
			ContentType: "application/json"}, good}, "", 2},
		"a huge body": {[]languagemodel.Answer{{Raw: []byte(strings.Repeat(" ", maxResponse+1)),
			ContentType: "application/json"}}, "more than 4 MiB", 1},
		"a huge stream": {[]languagemodel.Answer{{Raw: []byte("data: " + strings.Repeat("x", maxResponse+1)), ContentType: "text/event-stream"}},
			"more than 4 MiB", 1},
	} {
		for _, format := range languagemodel.Formats {
			t.Run(name+" "+format, func(t *testing.T) {
				t.Parallel()
				s := languagemodel.Start(t, format, languagemodel.Say(c.answers...))
				// Only what is slow meets the time limit of a request.
				limit := time.Minute
				if strings.Contains(name, "in time") || strings.Contains(name, "drip") {
					limit = 5 * time.Second
				}
				client := newClient(t, format, s, func(cfg *Config) { cfg.CallTimeout = limit })
				reply, err := client.Chat(t.Context(), oneRequest(t), nil, NewRecorder(nil))
				if c.detail == "" {
					require.NoError(t, err)
					require.Equal(t, "done", reply.Calls[0].Name)
				} else {
					var failed *ServiceError
					require.ErrorAs(t, err, &failed)
					require.Contains(t, failed.Detail, c.detail)
					require.NotContains(t, failed.Detail, languagemodel.Key)
				}
				require.Len(t, s.Requests(), c.asked)
			})
		}
	}
}

// A parameter that a service does not know is left out.
func TestParametersThatAreRefused(t *testing.T) {
	t.Parallel()
	s := languagemodel.Start(t, OpenAI, languagemodel.Say(languagemodel.Use("done", nil)))
	s.Refuse("max_completion_tokens")
	s.Refuse("tool_choice")
	client, rec := newClient(t, OpenAI, s), NewRecorder(nil)
	for range 2 {
		_, err := client.Chat(t.Context(), oneRequest(t), nil, rec)
		require.NoError(t, err)
	}
	require.Contains(t, s.Requests()[0].Body, `"max_tokens":4000`)
	require.Len(t, rec.Usage().Calls, 4, "the second request knows")
	s = languagemodel.Start(t, Anthropic, languagemodel.Say(languagemodel.Use("done", nil)))
	s.Refuse("tool_choice")
	_, err := newClient(t, Anthropic, s).Chat(t.Context(), oneRequest(t), nil, nil)
	require.NoError(t, err)
	require.Equal(t, "", named("max_tokens_to_sample: nothing", []string{"max_tokens"}))
}

// The end of the context is the end, also while an answer comes or a retry is waited for.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format string) {
		asked := make(chan struct{}, 8)
		script := func(int, *languagemodel.Request) languagemodel.Answer {
			asked <- struct{}{}
			return languagemodel.Answer{Delay: time.Hour}
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-asked
			cancel()
		}()
		budget := NewTaskBudget(Amount{Calls: 5}, nil)
		_, err := newClient(t, format, languagemodel.Start(t, format, script)).Chat(ctx, oneRequest(t), budget, nil)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, 1, budget.Used().Calls)
		require.Positive(t, budget.Used().MicroUSD, "it may have cost what was estimated")

		// A wait that would end after the deadline is not begun.
		limited, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		s := languagemodel.Start(t, format, languagemodel.Say(languagemodel.Answer{Status: 503, Header: map[string]string{"Retry-After": "20"}}))
		_, err = newClient(t, format, s).Chat(limited, oneRequest(t), nil, nil)
		require.ErrorContains(t, err, "answered 503")
	})
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-3": 0, "0": 0, "2": 2 * time.Second, "1.5": 1500 * time.Millisecond, "1e300": 24 * time.Hour,
		"Sun, 01 Mar 2026 12:00:07 GMT": 7 * time.Second, "Sun, 01 Mar 2026 11:00:00 GMT": 0, "NaN": 0,
	} {
		require.Equal(t, want, retryAfter(http.Header{"Retry-After": {value}}, now), value)
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	good := Config{Provider: OpenAI, Model: "m", HTTP: http.DefaultClient}
	for base, want := range map[string]string{
		"": "https://api.openai.com/v1/chat/completions", "http://10.0.0.1:8000/v1/": "http://10.0.0.1:8000/v1/chat/completions",
	} {
		cfg := good
		cfg.BaseURL = base
		c, err := New(cfg)
		require.NoError(t, err)
		require.Equal(t, want, c.url)
	}
	for base, want := range map[string]string{
		"": "https://api.anthropic.com/v1/messages", "http://h/v1": "http://h/v1/messages", "http://h/proxy/": "http://h/proxy/v1/messages",
	} {
		cfg := good
		cfg.Provider, cfg.BaseURL = Anthropic, base
		c, err := New(cfg)
		require.NoError(t, err)
		require.Equal(t, want, c.url)
	}
	for _, change := range []func(*Config){
		func(c *Config) { c.Provider = "other" }, func(c *Config) { c.Model = "" }, func(c *Config) { c.HTTP = nil },
		func(c *Config) { c.BaseURL = "ftp://h" }, func(c *Config) { c.BaseURL = "https://me:secret@h" }, func(c *Config) { c.InputPrice = -1 },
	} {
		cfg := good
		change(&cfg)
		_, err := New(cfg)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "secret")
	}
}

// An address that the guard refuses is not asked, and not tried again.
func TestGuardedAddress(t *testing.T) {
	t.Parallel()
	s := languagemodel.Start(t, OpenAI, languagemodel.Say(languagemodel.Answer{}))
	guard, err := outbound.New(outbound.Config{})
	require.NoError(t, err)
	c := newClient(t, OpenAI, s, func(cfg *Config) { cfg.HTTP = guard.Client(time.Minute) })
	_, err = c.Chat(t.Context(), oneRequest(t), nil, nil)
	require.ErrorContains(t, err, "loopback address")
	require.Empty(t, s.Requests())
}

func TestTaskBudget(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format string) {
		s := languagemodel.Start(t, format, languagemodel.Say(languagemodel.Use("done", nil)))
		client := newClient(t, format, s)
		for want, limit := range map[string]Amount{
			"2 calls per task": {Calls: 2}, "20000 tokens per task": {Tokens: 20_000}, "0.08 US dollars per task": {MicroUSD: 80_000},
		} {
			budget := NewTaskBudget(limit, nil)
			var err error
			calls := 0
			for ; err == nil && calls < 100; calls++ {
				_, err = client.Chat(t.Context(), oneRequest(t), budget, nil)
			}
			var over *OverBudgetError
			require.ErrorAs(t, err, &over)
			require.Equal(t, want, over.Budget)
			require.Greater(t, calls, 1)
			used := budget.Used()
			require.Equal(t, Amount{calls - 1, (calls - 1) * 1050, int64(calls-1) * 2500}, used, "what was used, not what was estimated")
		}
	})
}

// dayBudget refuses, and counts what is open.
type dayBudget struct {
	left, open int
}

func (b *dayBudget) Reserve(context.Context, Amount) (Settle, error) {
	if b.left == 0 {
		return nil, &OverBudgetError{"US dollars per day"}
	}
	b.left--
	b.open++
	return func(context.Context, Amount) error { b.open--; return nil }, nil
}

func TestBudgetBehind(t *testing.T) {
	t.Parallel()
	s := languagemodel.Start(t, OpenAI, languagemodel.Say(languagemodel.Answer{Status: 400, Text: "no"}))
	day := &dayBudget{left: 1}
	budget := NewTaskBudget(Amount{Calls: 10}, day)
	_, err := newClient(t, OpenAI, s).Chat(t.Context(), oneRequest(t), budget, nil)
	require.ErrorContains(t, err, "400")
	require.Equal(t, Amount{Calls: 1}, budget.Used(), "what is refused costs nothing")
	_, err = newClient(t, OpenAI, s).Chat(t.Context(), oneRequest(t), budget, nil)
	require.ErrorContains(t, err, "US dollars per day")
	require.Equal(t, Amount{Calls: 1}, budget.Used())
	require.Zero(t, day.open)
}

// brokenBudget is a database that fails.
type brokenBudget struct{}

func (brokenBudget) Reserve(context.Context, Amount) (Settle, error) {
	return nil, errors.New("database")
}

func TestBudgetThatFails(t *testing.T) {
	t.Parallel()
	s := languagemodel.Start(t, OpenAI, languagemodel.Say(languagemodel.Answer{}))
	_, err := newClient(t, OpenAI, s).Chat(t.Context(), oneRequest(t), brokenBudget{}, nil)
	require.EqualError(t, err, "database")
	require.Empty(t, s.Requests())
}

func TestRecorderIsBounded(t *testing.T) {
	t.Parallel()
	rec := NewRecorder(redaction.New([]string{"s3cret"}))
	require.Nil(t, rec.Usage())
	for range 100 {
		rec.add(&Config{Provider: OpenAI}, Call{Request: "s3cret " + strings.Repeat("ä", 50_000), Response: "s3cret"}, 1)
	}
	text, err := json.Marshal(rec.Usage())
	require.NoError(t, err)
	require.Less(t, len(text), maxKept+100*200)
	require.NotContains(t, string(text), "s3cret")
	require.LessOrEqual(t, len(rec.Usage().Calls[0].Request), maxKeptCall)
	require.Equal(t, int64(100), rec.Usage().MicroUSD)
}

func TestMissingUsageIsEstimated(t *testing.T) {
	t.Parallel()
	eachFormat(t, func(t *testing.T, format string) {
		s := languagemodel.Start(t, format, languagemodel.Say(languagemodel.Answer{Text: "x", NoUsage: true}))
		reply, err := newClient(t, format, s).Chat(t.Context(), oneRequest(t), nil, nil)
		require.NoError(t, err)
		require.Greater(t, reply.Usage.Input, 100)
		require.Positive(t, reply.Usage.Output)
	})
}
