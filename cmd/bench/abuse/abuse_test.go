package abuse

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/worker/browser/webdriver"
)

func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }

func TestAbusePartsHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range (&bench{Command: &Command{}}).parts() {
		require.False(t, seen[p.Name], p.Name)
		require.NotNil(t, p.Run, p.Name)
		require.Positive(t, p.Limit, p.Name)
		seen[p.Name] = true
	}
	require.ErrorContains(t, (&Command{Only: []string{"nonsense"}}).Run(t.Context()), "nonsense")
}

func TestWatchCountsRefusalsAndSortsTimes(t *testing.T) {
	t.Parallel()
	n := 0
	figures := watch(t.Context(), []probe{
		{name: "odd", every: time.Millisecond, once: func(context.Context) error {
			n++
			if n%2 == 1 {
				return errors.New("odd")
			}
			return nil
		}},
		{name: "slow", every: time.Millisecond, once: func(ctx context.Context) error { return process.Sleep(ctx, 60*time.Millisecond) }},
	}, 50*time.Millisecond)
	require.Len(t, figures[0].times, n)
	require.Equal(t, (n+1)/2, figures[0].refused)
	require.EqualError(t, figures[0].first, "odd")
	require.IsIncreasing(t, append([]time.Duration{0}, figures[0].quantile(0.5), figures[0].quantile(1)+1))
	require.Len(t, figures[1].times, 1, "what is under way at the end is waited for")
	require.Zero(t, figures[1].refused)
	require.Contains(t, figures[0].String(), "refused")
	require.NotContains(t, figures[1].String(), "refused")
}

func TestTrickleOpensAgainWhatIsClosed(t *testing.T) {
	t.Parallel()
	var begun atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun.Add(1)
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	slow := &trickle{address: host, conns: 3, sources: 2, piece: []byte("a"), pause: time.Millisecond,
		head: func(int) string { return "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n" }}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- slow.run(ctx) }()
	require.Eventually(t, func() bool { return begun.Load() > 6 }, time.Minute, 10*time.Millisecond)
	stop()
	require.NoError(t, <-ended)
	require.GreaterOrEqual(t, slow.opened.Load(), int64(7))
	require.NotZero(t, slow.statuses["429 Too Many Requests"])
}

func TestStubHubStartsSessions(t *testing.T) {
	t.Parallel()
	hub := startStubHub()
	defer hub.close()
	client, err := webdriver.New(webdriver.Config{URL: hub.url})
	require.NoError(t, err)
	session, err := client.NewSession(t.Context(), map[string]any{"browserName": "chrome"})
	require.NoError(t, err)
	require.NotNil(t, session)
	require.EqualValues(t, 1, hub.sessions.Load())
}

func TestReceiverCountsEventsOnce(t *testing.T) {
	t.Parallel()
	r, err := startReceiver()
	require.NoError(t, err)
	defer r.close()
	for _, id := range []string{"a", "b", "a"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.base+"/hook", bytes.NewReader([]byte("{}")))
		require.NoError(t, err)
		request.Header.Set("webhook-id", id)
		request.SetBasicAuth("key", "secret")
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	}
	require.Equal(t, 3, r.count("/hook"))
	require.Equal(t, []string{"a", "b"}, r.received())
	require.True(t, r.passwordSeen("secret"))
	require.False(t, r.passwordSeen("other"))

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.base+"/slow", http.NoBody)
	require.NoError(t, err)
	_, err = http.DefaultClient.Do(request)
	require.ErrorIs(t, err, context.DeadlineExceeded, "a tarpit never responds")
}
