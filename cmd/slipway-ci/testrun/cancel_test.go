package testrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/progress"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/report"
)

// A start whose answer does not come may have started a run, which would go on with nobody to
// wait for it: its key finds it.
func TestAStartThatIsCutOffIsCancelled(t *testing.T) {
	t.Parallel()
	for _, ends := range []string{"the context", "the connection"} {
		s, c := newScripted(t, map[string][]string{"first": {"QUEUED"}, "second": {"QUEUED"}})
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("interrupted")
		var once sync.Once
		s.cut = func(r *http.Request) {
			if !strings.Contains(r.URL.Path, "second") {
				return
			}
			once.Do(func() {
				if ends == "the connection" {
					panic(http.ErrAbortHandler)
				}
				cancel(cause)
				<-r.Context().Done()
			})
		}
		r, err := c.Run(ctx, planOf("first", "second", "third"))
		require.Error(t, err)
		require.Equal(t, ends == "the context", errors.Is(err, cause), "%v", err)
		require.Equal(t, map[string]int{"first": 1, "second": 1}, s.started, "nothing else is started")
		require.Equal(t, map[string]string{"run-first-1": "CANCELLED", "run-second-1": "CANCELLED"}, s.state)
		require.Equal(t, map[string]report.Outcome{"first": report.Cancelled, "second": report.Cancelled}, outcomes(r))
		cancel(nil)
	}
}

// Runs are cancelled a few at a time, and read after all are.
func TestManyRunsAreCancelledTogether(t *testing.T) {
	t.Parallel()
	ends, names := map[string][]string{}, []string{}
	for n := range 3 * cancelling {
		names = append(names, fmt.Sprintf("t%d", n))
		ends[names[n]] = []string{"QUEUED"}
	}
	s, c := newScripted(t, ends)
	asked := 0
	c.Last = func(ctx context.Context, requests int) (context.Context, context.CancelFunc) {
		asked = max(asked, requests)
		return context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	}
	var arrived atomic.Int64
	s.cancels = func(r *http.Request) {
		n := arrived.Add(1)
		for whole := (n + cancelling - 1) / cancelling * cancelling; arrived.Load() < whole &&
			r.Context().Err() == nil; { // until the others of its round are here
			time.Sleep(time.Millisecond)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	s.cut = func(r *http.Request) {
		if strings.Contains(r.URL.Path, names[len(names)-1]+"/") {
			cancel(errors.New("the time is over"))
			<-r.Context().Done()
			s.mu.Lock()
			s.cut = nil
			s.mu.Unlock()
		}
	}
	r, err := c.Run(ctx, planOf(names...))
	require.Error(t, err)
	require.Equal(t, len(names), r.Count(report.Cancelled))
	require.Len(t, s.state, len(names))
	for run, state := range s.state {
		require.Equal(t, "CANCELLED", state, run)
	}
	require.Equal(t, len(names), asked, "there is time for all")
}

// answered is a client whose server is a function.
func answered(t *testing.T, of func(*http.Request) string) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{Server: "http://x", RetryFor: -1, HTTP: roundTrip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(of(r)))}, nil
	})})
	require.NoError(t, err)
	return c
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAServerThatDoesNotWaitIsNotAskedWithoutAPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		c := &Config{Out: progress.New(progress.Config{Out: io.Discard}), Key: func(what ...string) string { return strings.Join(what, " ") }}
		c.Client = answered(t, func(r *http.Request) string {
			status := "QUEUED"
			if r.Method == http.MethodGet {
				if looks++; looks == 10 {
					status = "PASSED"
				}
			}
			return `{"data":{"id":"r","testCaseId":"1","status":"` + status + `","jobs":[{"id":"j","status":"` + status + `"}]}}`
		})
		begun := time.Now()
		r, err := c.Run(t.Context(), planOf("1"))
		require.NoError(t, err)
		require.True(t, r.Good())
		require.Equal(t, 9*time.Second, time.Since(begun))
	})
}

// A shard without a test to run is well when another one has some, and only then.
func TestShardsWithNothingToRun(t *testing.T) {
	t.Parallel()
	_, c := newScripted(t, nil)
	for name, k := range map[string]struct {
		others string // a case of another shard; "": none
		good   bool
	}{
		"no other shard":     {"", false},
		"others are empty":   {`{"runSettings":{"primaryTarget":{"capabilities":{"browserName":"chrome"}}},"revisions":[{"steps":[]}]}`, false},
		"others have steps":  {`{"runSettings":{"primaryTarget":{"capabilities":{"browserName":"chrome"}}},"revisions":[{"steps":[{}]}]}`, true},
		"no target for them": {`{"runSettings":{"primaryTarget":null},"revisions":[{"steps":[{}]}]}`, false},
	} {
		c.Client = answered(t, func(*http.Request) string { return `{"data":` + k.others + `}` })
		p := planOf()
		if k.others != "" {
			p.others = []Test{{ID: "1"}}
		}
		r, err := c.Run(t.Context(), p)
		require.NoError(t, err, name)
		require.Equal(t, k.good, r.Good(), name)
	}
}
