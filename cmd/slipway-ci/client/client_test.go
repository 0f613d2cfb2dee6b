package client

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// script answers the nth request; the last one again and again.
func script(t *testing.T, answers ...http.HandlerFunc) (*Client, *atomic.Int64) {
	t.Helper()
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers[min(int(n.Add(1)), len(answers))-1](w, r)
	}))
	t.Cleanup(s.Close)
	c, err := New(Config{Server: s.URL + "/", Credential: Key("secret-key"), RetryFor: 5 * time.Second})
	require.NoError(t, err)
	return c, &n
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if len(header) > 0 {
			w.Header().Set(header[0], header[1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, `{"error":"text"}`)
	}
}

func TestWhatIsSentAgain(t *testing.T) {
	t.Parallel()
	fine := status(200)
	post := Request{Method: http.MethodPost, Path: "/x"}
	keyed := Request{Method: http.MethodPost, Path: "/x", Key: "k"}
	get := Request{Method: http.MethodGet, Path: "/x"}
	cut := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for name, c := range map[string]struct {
		request Request
		first   http.HandlerFunc
		sent    int64
	}{
		"a read, 503":                    {get, status(503), 2},
		"a read, 502":                    {get, status(502), 2},
		"a read that is cut":             {get, cut, 2},
		"a read, 500":                    {get, status(500), 1},
		"a read, 404":                    {get, status(404), 1},
		"a change, 429":                  {post, status(429), 2},
		"a change, 503":                  {post, status(503), 1},
		"a change that is cut":           {post, cut, 1},
		"a change with a key, 503":       {keyed, status(503), 2},
		"a change with a key, cut":       {keyed, cut, 2},
		"a change with a key, too slow":  {keyed, status(408), 2},
		"a change with a key, conflict":  {keyed, status(409), 1},
		"a change with a key, in use":    {keyed, status(409, "Retry-After", "0"), 1},
		"a change with a key, in use 1s": {keyed, status(409, "Retry-After", "1"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, n := script(t, c.first, fine)
			err := client.JSON(t.Context(), c.request, nil, nil)
			require.Equal(t, c.sent, n.Load())
			require.Equal(t, c.sent == 2, err == nil, "%v", err)
		})
	}
}

func TestRetriesEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		again := []string{}
		c, err := New(Config{Server: "http://x", RetryFor: time.Minute, HTTP: roundTrip(func(*http.Request) (*http.Response, error) {
			n++
			return nil, fmt.Errorf("cut")
		}), Again: func(err error, in time.Duration) { again = append(again, err.Error()) }})
		require.NoError(t, err)
		begun := time.Now()
		err = c.Get(t.Context(), "/x", nil, nil)
		require.True(t, Is(err, Unreachable), "%v", err)
		require.Less(t, time.Since(begun), time.Minute+time.Second)
		require.Greater(t, time.Since(begun), 40*time.Second)
		require.Less(t, n, 15, "pauses grow")
		require.Len(t, again, n-1)
		require.Equal(t, "the server did not answer: cut", again[0])
	})
}

// An upload that fails after a long time is tried again where bytes had gone out: it went well
// until then. That ends too, and nothing else lasts longer than the time to try again.
func TestRetriesBeginAnewAfterALongTry(t *testing.T) {
	t.Parallel()
	body := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("12345678")), nil }
	upload := Request{Method: http.MethodPost, Path: "/x", Key: "k", Size: 8, Body: body}
	for name, c := range map[string]struct {
		request Request
		reads   bool
		fails   int // so many tries fail
		tries   int
	}{
		"an upload":               {upload, true, 3, 4},
		"an upload that never is": {upload, true, 100, mostAnew + 3},
		"an upload, nothing sent": {upload, false, 100, 2},
		"a read":                  {Request{Method: http.MethodGet, Path: "/x"}, false, 100, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n := 0
				client, err := New(Config{Server: "http://x", RetryFor: time.Minute, HTTP: roundTrip(func(r *http.Request) (*http.Response, error) {
					if r.Body != nil {
						defer r.Body.Close()
					}
					if n++; n > c.fails {
						return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("{}")), Header: http.Header{}}, nil
					}
					if c.reads {
						_, _ = io.ReadAll(r.Body)
					}
					time.Sleep(40 * time.Second)
					if !c.reads {
						time.Sleep(time.Minute)
					}
					return nil, fmt.Errorf("cut")
				})})
				require.NoError(t, err)
				err = client.JSON(t.Context(), c.request, nil, nil)
				require.Equal(t, c.fails >= 100, err != nil, "%v", err)
				require.Equal(t, c.tries, n)
			})
		})
	}
}

// An answer that breaks off after it began did not come.
func TestAnswersThatBreakOff(t *testing.T) {
	t.Parallel()
	half := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"a":`)
	}
	whole := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"data":{"id":"1"}}`) }
	for name, ask := range map[string]func(*Client) error{
		"a read": func(c *Client) error { return c.Get(t.Context(), "/x", nil, nil) },
		"a change": func(c *Client) error {
			return c.JSON(t.Context(), Request{Method: http.MethodPost, Path: "/x", Key: "k"}, "in", nil)
		},
		"a run": func(c *Client) error {
			s, err := c.StartTestRun(t.Context(), "1", "k", StartRun{})
			if err == nil && s.Run.ID != "1" {
				return fmt.Errorf("another run")
			}
			return err
		},
	} {
		c, n := script(t, half, whole)
		require.NoError(t, ask(c), name)
		require.EqualValues(t, 2, n.Load(), name)
	}
	c, n := script(t, half, whole)
	err := c.JSON(t.Context(), Request{Method: http.MethodPost, Path: "/x"}, "in", nil)
	require.ErrorContains(t, err, "the answer broke off")
	require.EqualValues(t, 1, n.Load(), "it may have been done")
}

func TestABodyThatStandsStillIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		var counted int64
		c, err := New(Config{Server: "http://x", RetryFor: 10 * time.Second, HTTP: roundTrip(func(r *http.Request) (*http.Response, error) {
			n++
			_, _ = r.Body.Read(make([]byte, 4))
			<-r.Context().Done()
			_ = r.Body.Close()
			return nil, r.Context().Err()
		})})
		require.NoError(t, err)
		begun := time.Now()
		err = c.JSON(t.Context(), Request{Method: http.MethodPost, Path: "/x", Size: 8, Count: func(n int64) { counted += n },
			Body: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("12345678")), nil }}, nil, nil)
		require.True(t, Is(err, Unreachable), "%v", err)
		require.ErrorContains(t, err, "nothing could be sent for a minute")
		require.Equal(t, stallAfter, time.Since(begun).Truncate(time.Second))
		require.Equal(t, 1, n)
		require.Zero(t, counted, "what was sent in vain is taken back")
	})
}

func TestErrorsOfAllInterfaces(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][2]string{
		`{"error":"no such build"}`:                                        {"no such build", ""},
		`{"status":"fail","code":121,"message":"a wrong kind"}`:            {"a wrong kind", "121"},
		`{"error":{"code":"INVALID_BODY","detail":"steps[2] is unknown"}}`: {"steps[2] is unknown", "INVALID_BODY"},
		`<html>`: {"the server answered 400 Bad Request", ""},
		`[]`:     {"the server answered 400 Bad Request", ""},
	} {
		c, _ := script(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Request-Id", "r7")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, body)
		})
		err := c.Get(t.Context(), "/x", nil, nil)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, want, [2]string{e.Text, e.Code}, body)
		require.Contains(t, e.Error(), "(GET /x: 400, request r7)")
	}
}

func TestTheCredentialStaysAtTheServer(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	c, _ := script(t, status(http.StatusFound, "Location", other.URL+"/?token=t"))
	err := c.Get(t.Context(), "/x", nil, nil)
	require.True(t, Is(err, Misused))
	require.ErrorContains(t, err, "leads elsewhere: "+other.URL)
	require.NotContains(t, err.Error(), "token")
	require.Zero(t, elsewhere.Load())
	require.NotContains(t, fmt.Sprintf("%v %+v %#v %s", Key("secret-key"), Key("secret-key"), Key("secret-key"), Key("secret-key")),
		"secret-key")
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", &OIDC{token: "secret-key"}, &OIDC{token: "secret-key"},
		&OIDC{token: "secret-key"}), "secret-key")
}

func TestForm(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), `a "b".apk`)
	require.NoError(t, os.WriteFile(path, []byte("content"), 0o600))
	file, err := OpenFile(path, "")
	require.NoError(t, err)
	f, err := newForm([]field{{"release_notes", "a\r\nb"}, {`metadata.x"y`, "z"}}, []formFile{{"file", file}})
	require.NoError(t, err)
	for range 2 { // it can be sent again
		body, err := f.body()
		require.NoError(t, err)
		raw, err := io.ReadAll(body)
		require.NoError(t, err)
		require.NoError(t, body.Close())
		require.Len(t, raw, int(f.size))
		_, parameters, err := mime.ParseMediaType(f.contentType())
		require.NoError(t, err)
		form, err := multipart.NewReader(strings.NewReader(string(raw)), parameters["boundary"]).ReadForm(1 << 20)
		require.NoError(t, err)
		require.Equal(t, map[string][]string{"release_notes": {"a\r\nb"}, "metadata.x%22y": {"z"}}, form.Value)
		require.Equal(t, "a %22b%22.apk", form.File["file"][0].Filename)
		require.EqualValues(t, 7, form.File["file"][0].Size)
	}
}

func TestPollingHasOneRequestOpen(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		open, most, asked := 0, 0, 0
		c, err := New(Config{Server: "http://x", HTTP: roundTrip(func(r *http.Request) (*http.Response, error) {
			open++
			most, asked = max(most, open), asked+1
			require.Equal(t, "25", r.URL.Query().Get("wait"))
			state := "running"
			if asked == 30 {
				state = "succeeded"
			}
			open--
			return &http.Response{StatusCode: 200, Header: http.Header{},
				Body: io.NopCloser(strings.NewReader(`{"task":{"id":"1","state":"` + state + `"}}`))}, nil
		})})
		require.NoError(t, err)
		begun := time.Now()
		task, err := c.AwaitTask(t.Context(), "1")
		require.NoError(t, err)
		require.True(t, task.Ended())
		require.Equal(t, 1, most)
		require.Equal(t, 29*time.Second, time.Since(begun), "a server that does not wait is not asked without a pause")
	})
}

func TestTokensOfAJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			asked++
			if asked == 2 {
				return &http.Response{StatusCode: 503, Header: http.Header{}, Body: http.NoBody}, nil
			}
			require.Equal(t, "Bearer s", r.Header.Get("Authorization"))
			require.Equal(t, "x=1&audience=slipway", strings.Join([]string{"x=" + r.URL.Query().Get("x"), "audience=" +
				r.URL.Query().Get("audience")}, "&"))
			return &http.Response{StatusCode: 200, Header: http.Header{},
				Body: io.NopCloser(strings.NewReader(`{"value":"` + token(time.Now().Add(5*time.Minute)) + `"}`))}, nil
		})
		o := &OIDC{ConfigKey: "oidc_1", Source: GitHubToken(transport, "https://g/token?x=1", "s", "slipway")}
		sign := func() string {
			r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://x", nil)
			require.NoError(t, err)
			require.NoError(t, o.Sign(t.Context(), r))
			require.Equal(t, "oidc_1", r.Header.Get("X-OIDC-Config-Key"))
			return r.Header.Get("Authorization")
		}
		first := sign()
		time.Sleep(3 * time.Minute)
		require.Equal(t, first, sign())
		require.Equal(t, 1, asked)
		time.Sleep(time.Minute + time.Second)
		require.NotEqual(t, first, sign(), "less than a minute is left")
		require.Equal(t, 3, asked, "and the failure in between was tried again")

	})
}

// When a token ends is judged by the server, whatever this machine's clock says: a token is used
// for as long as it lives, asked for once more when it is refused, and one that there is no other
// of is left to the server.
func TestTokensAndClocks(t *testing.T) {
	t.Parallel()
	for _, wrong := range []time.Duration{-time.Hour, 0, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			asked, refusals := 0, 1
			source := func(context.Context) (string, error) {
				asked++
				return token(time.Now().Add(wrong + 5*time.Minute + time.Duration(asked)*time.Second)), nil
			}
			c, err := New(Config{Server: "http://x", Credential: &OIDC{ConfigKey: "oidc_1", Source: source},
				HTTP: roundTrip(func(r *http.Request) (*http.Response, error) {
					status := http.StatusOK
					if refusals > 0 {
						refusals, status = refusals-1, http.StatusUnauthorized
					}
					return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"error":"expired"}`))}, nil
				})})
			require.NoError(t, err)
			get := func() error { return c.Get(t.Context(), "/x", nil, nil) }
			require.NoError(t, get())
			require.Equal(t, 2, asked, "refused once, asked for once more")
			require.NoError(t, get())
			require.Equal(t, 2, asked)
			time.Sleep(3 * time.Minute)
			require.NoError(t, get())
			require.Equal(t, 2, asked, "it lives for five minutes")
			time.Sleep(2 * time.Minute)
			require.NoError(t, get())
			require.Equal(t, 3, asked)
			refusals = 2
			require.True(t, Is(get(), Refused), "once is enough")
			require.Equal(t, 4, asked)
		})
	}
	n := 0
	c, err := New(Config{Server: "http://x", Credential: &OIDC{Source: StaticToken(token(time.Now().Add(-time.Hour)),
		"SLIPWAY_ID_TOKEN")}, HTTP: roundTrip(func(*http.Request) (*http.Response, error) {
		n++
		return &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{},
			Body: io.NopCloser(strings.NewReader(`{"error":"the token has expired"}`))}, nil
	})})
	require.NoError(t, err)
	err = c.Get(t.Context(), "/x", nil, nil)
	require.True(t, Is(err, Refused))
	require.ErrorContains(t, err, "the token has expired")
	require.Equal(t, 1, n, "there is no other token")
}

// token is a token of five minutes without a signature that matters here.
func token(until time.Time) string {
	return "e30." + strings.TrimRight(base64url(fmt.Sprintf(`{"iat":%d,"exp":%d}`, until.Add(-5*time.Minute).Unix(), until.Unix())),
		"=") + ".x"
}

func base64url(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
