package command

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/cmd/slipway-ci/outcome"
)

// Every way in which a server cannot be asked has a line and a code, and what passes by itself
// is waited for.
func TestFaults(t *testing.T) {
	t.Parallel()
	again := answer{status: http.StatusServiceUnavailable, body: map[string]any{"error": "starting"},
		header: map[string]string{"Retry-After": "0"}}
	fine := answer{body: map[string]string{"version": "1.2.3"}}
	for name, c := range map[string]struct {
		set  func(*world)
		args []string
		code outcome.Code
		line string
	}{
		"restarting": {func(w *world) { w.server.answer("GET /healthz", again, again, fine) }, nil, outcome.Passed, "starting"},
		"busy": {func(w *world) {
			w.server.answer("GET /healthz", answer{status: http.StatusTooManyRequests, body: map[string]any{"error": "too many"},
				header: map[string]string{"Retry-After": "1"}}, fine)
		}, nil, outcome.Passed, "too many"},
		"a gateway without a server": {func(w *world) {
			w.server.answer("GET /healthz", answer{status: http.StatusBadGateway, body: "<html>"}, fine)
		}, nil, outcome.Passed, "the server answered 502 Bad Gateway"},
		"an error of the server": {func(w *world) {
			w.server.answer("GET /api/v3/me", answer{status: http.StatusInternalServerError, body: map[string]any{"error": "internal error"}})
		}, nil, outcome.NotAsked, "internal error (GET /api/v3/me: 500, request r-1)"},
		"away": {func(w *world) { w.env["SLIPWAY_SERVER"] = nobody(w.t) }, []string{"--timeout", "1s"},
			outcome.TimedOut, "the server cannot be reached"},
		"an unknown name": {func(w *world) { w.env["SLIPWAY_SERVER"] = "http://slipway.invalid" }, []string{"--timeout", "1s"},
			outcome.TimedOut, "the server's name is not known"},
		"a wrong key": {func(w *world) {
			w.server.answer("GET /api/v3/me", answer{status: http.StatusUnauthorized, body: map[string]any{"error": "invalid credentials"}})
		}, nil, outcome.Refused, "invalid credentials"},
		"too few rights": {func(w *world) {
			w.server.answer("GET /api/v3/me", answer{status: http.StatusForbidden, body: map[string]any{"error": "it takes admin"}})
		}, nil, outcome.Refused, "it takes admin"},
		"no key":    {func(w *world) { delete(w.env, "SLIPWAY_KEY") }, nil, outcome.Refused, "no key: set SLIPWAY_KEY"},
		"no server": {func(w *world) { delete(w.env, "SLIPWAY_SERVER") }, nil, outcome.Misused, "no server: set SLIPWAY_SERVER"},
		"no address": {func(w *world) { w.env["SLIPWAY_SERVER"] = "qa.example.com" }, nil, outcome.Misused,
			`"qa.example.com" is no address`},
		"a password in it": {func(w *world) { w.env["SLIPWAY_SERVER"] = "https://a:b@qa.example.com" }, nil, outcome.Misused,
			"no user name or password"},
		"another site": {func(w *world) { w.server.answer("GET /healthz", answer{body: "<html>"}) }, nil, outcome.NotAsked,
			"is this the address of a Slipway server?"},
		"a redirect": {func(w *world) {
			w.server.answer("GET /healthz", answer{status: http.StatusMovedPermanently,
				header: map[string]string{"Location": "https://elsewhere.example.com/login?secret=1"}})
		}, nil, outcome.Misused, "the server's address leads elsewhere: https://elsewhere.example.com"},
		"a strange authority": {func(w *world) { w.env["SLIPWAY_SERVER"] = secure(w, nil) }, nil, outcome.NotAsked,
			"signed by an authority that this machine does not know (SSL_CERT_FILE"},
		"a missing authority": {func(w *world) { w.env["SSL_CERT_FILE"] = "/none" }, nil, outcome.Misused, "SSL_CERT_FILE: "},
		"no authority": {func(w *world) { w.env["SSL_CERT_FILE"] = w.file("ca.pem", []byte("x")) }, nil, outcome.Misused,
			"has no certificate (PEM)"},
		"the own authority": {func(w *world) { w.env["SLIPWAY_SERVER"] = secure(w, certificate(w, -time.Hour)) }, nil, outcome.Passed, ""},
		"a clock that is wrong by an hour": {func(w *world) { w.env["SLIPWAY_SERVER"] = secure(w, certificate(w, time.Hour)) }, nil,
			outcome.NotAsked,
			"the server's certificate is not valid at this time; this machine's clock says"},
		"no TLS at all": {func(w *world) { w.env["SLIPWAY_SERVER"] = "https" + w.server.URL[len("http"):] },
			[]string{"--timeout", "1s"}, outcome.TimedOut, "the server did not answer"},
		"a wrong flag": {nil, []string{"--tiemout", "1s"}, outcome.Misused, `did you mean "--timeout"?`},
		"no time":      {nil, []string{"--timeout", "0s"}, outcome.Misused, "--timeout must be more than nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.set != nil {
				c.set(w)
			}
			r := w.run(append([]string{"status"}, c.args...)...)
			require.Equal(t, c.code, r.code, r.err)
			require.Contains(t, r.err, c.line)
			require.NotContains(t, r.err, "secret=1")
			if c.code == outcome.Passed {
				require.Contains(t, r.out, "ci@example.com, member of main (SLIPWAY_KEY)")
			} else {
				require.Empty(t, r.out)
			}
		})
	}
}

// A network that is slow is no --timeout that is over.
func TestNetworkTimeouts(t *testing.T) {
	t.Parallel()
	c, err := client.New(client.Config{Server: "http://x", RetryFor: time.Millisecond, HTTP: slow{}})
	require.NoError(t, err)
	err = c.Get(t.Context(), "/x", nil, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded, "as Go has it")
	require.Equal(t, outcome.NotAsked, outcome.CodeOf(err))
	ctx, stop := context.WithTimeoutCause(t.Context(), time.Millisecond, outcome.ErrTimeout)
	defer stop()
	<-ctx.Done()
	require.Equal(t, outcome.TimedOut, outcome.CodeOf(c.Get(ctx, "/x", nil, nil)))
}

// slow is a network on which a connection takes too long.
type slow struct{}

func (slow) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, stop := context.WithDeadline(r.Context(), time.Unix(0, 0))
	defer stop()
	_, err := (&net.Dialer{}).DialContext(ctx, "tcp4", "127.0.0.1:9")
	return nil, err
}

// nobody is an address at which nothing listens.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return "http://" + l.Addr().String()
}

// secure serves the fake by TLS.
func secure(w *world, own *tls.Certificate) string {
	s := httptest.NewUnstartedServer(w.server)
	s.Config.ErrorLog = nil
	if own != nil {
		s.TLS = &tls.Config{Certificates: []tls.Certificate{*own}}
	}
	s.StartTLS()
	w.t.Cleanup(s.Close)
	return s.URL
}

func TestSignals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal os.Signal
		code   outcome.Code
	}{{os.Interrupt, 130}, {syscall.SIGTERM, 143}} {
		w := newWorld(t)
		w.server.answer("GET /healthz", answer{before: func(r *http.Request) {
			w.signals <- c.signal
			<-r.Context().Done()
		}})
		r := w.run("status")
		require.Equal(t, c.code, r.code, r.err)
		require.Contains(t, r.err, "interrupted")
	}
}

func TestTimeoutEndsAWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.answer("GET /healthz", answer{before: func(r *http.Request) { <-r.Context().Done() }})
	r := w.run("status", "--timeout", "100ms")
	require.Equal(t, outcome.TimedOut, r.code)
	require.Contains(t, r.err, "the time of --timeout is over")
}

func TestWaysOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.run("status", "--json")
	require.Equal(t, outcome.Passed, r.code, r.err)
	require.JSONEq(t, `{"program":"`+number()+`","server":"`+w.server.URL+
		`","server_from":"SLIPWAY_SERVER","server_version":"1.2.3","key_from":"SLIPWAY_KEY",
		"settings":"","ci":"","me":{"id":0,"kind":"","username":"","email":"","label":"ci@example.com","role":"member","organization_id":0,
		"organization_slug":"main","rights":["builds.upload"]}}`, r.out)
	require.Empty(t, r.err)
	r = w.run("status", "--quiet")
	require.Equal(t, result{}, r)
	r = w.run("--version")
	require.Contains(t, r.out, number())
	r = w.run("--help")
	require.Equal(t, outcome.Passed, r.code)
	for _, line := range []string{"Exit codes:", "4    Timed out", "upload", "--allow-failure"} {
		require.Contains(t, r.out, line)
	}
	r = w.run("uplod")
	require.Equal(t, outcome.Misused, r.code)
	require.Contains(t, r.err, `did you mean "upload"?`)
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env = nil // it takes neither server nor key
	for words, want := range map[string]string{"up": "upload\n", "gate policy ": "get\npush\ncheck\n",
		"upload --not": "--notes\n--notes-from-git\n--notify\n",
		"completion z": "zsh\n", "upload --notes ": "", "crashes --fail-on r": "regressed\n", "comple": "completion\n", "nothing ": ""} {
		r := w.run(append([]string{"complete", "--"}, split(words)...)...)
		require.Equal(t, outcome.Passed, r.code, r.err)
		if words == "nothing " {
			continue
		}
		require.Equal(t, want, r.out, "%q", words)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		r := w.run("completion", shell)
		require.Equal(t, outcome.Passed, r.code)
		require.Contains(t, r.out, "slipway-ci complete -- ")
	}
	require.Equal(t, outcome.Misused, w.run("completion", "csh").code)
}

// split splits a line at blanks; one at the end begins a further, empty word.
func split(line string) []string {
	words := []string{""}
	for _, r := range line {
		if r == ' ' {
			words = append(words, "")
			continue
		}
		words[len(words)-1] += string(r)
	}
	return words
}
