package webhookcall_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/webhook"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/outbound"
	"github.com/slipway-qa/slipway/tasks/webhookcall"
)

const secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

func sender(t *testing.T, cfg outbound.Config) *webhookcall.Sender {
	t.Helper()
	guard, err := outbound.New(cfg)
	require.NoError(t, err)
	t.Cleanup(guard.CloseIdleConnections)
	return webhookcall.NewSender(guard)
}

func send(t *testing.T, s *webhookcall.Sender, address string) webhookcall.Result {
	t.Helper()
	return s.Send(t.Context(), webhookcall.Request{URL: address, ID: "msg_1", Secrets: []string{secret}, Body: `{}`,
		ContentType: webhookcall.TypeJSON, At: time.Now()})
}

func server(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

// The example of the Standard Webhooks specification, with its signature.
func TestSign(t *testing.T) {
	t.Parallel()
	require.Equal(t, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", webhookcall.Sign([]string{"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"},
		"msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), `{"test": 2432232314}`))
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	a, b := webhookcall.NewSecret(), webhookcall.NewSecret()
	require.NotEqual(t, a, b)
	require.NoError(t, webhookcall.CheckSecret("secret", a))
	for _, bad := range []string{"", "whsec_", "whsec_YWJj", "whsec_!!!!", strings.TrimPrefix(a, "whsec_"), "whsec_" +
		strings.Repeat("YWJj", 22), a + "\n"} {
		require.Error(t, webhookcall.CheckSecret("secret", bad), bad)
	}
}

func TestEndlessAndCompressedAnswers(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, _ = z.Write(bytes.Repeat([]byte("a"), 64<<20))
	require.NoError(t, z.Close())
	s := sender(t, outbound.Config{AllowPrivate: true})
	for name, h := range map[string]http.HandlerFunc{
		"endless": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, strings.Repeat("a", 1000)); err != nil {
					return
				}
			}
		},
		"bomb": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		},
		"trickling": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "a")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		result := send(t, s, server(t, h))
		require.Equal(t, 200, result.Status, name)
		require.Empty(t, result.Error, name)
		require.LessOrEqual(t, len(result.Response), 2048, name)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	var bodies atomic.Int32
	end := server(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.ContentLength == 2 {
			bodies.Add(1)
		}
	})
	s := sender(t, outbound.Config{AllowPrivate: true})
	for status, want := range map[int]int{301: 301, 302: 302, 303: 303, 307: 200, 308: 200} {
		from := server(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, end, status) })
		require.Equal(t, want, send(t, s, from).Status, status)
	}
	require.EqualValues(t, 2, bodies.Load(), "a redirect that drops the body is no delivery")
	metadata := server(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest", http.StatusTemporaryRedirect)
	})
	require.Equal(t, "address refused: cloud metadata service", send(t, s, metadata).Error)
	var loop string
	loop = server(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, loop, http.StatusTemporaryRedirect) })
	require.Equal(t, "too many redirects", send(t, s, loop).Error)
}

func TestPrivateAddresses(t *testing.T) {
	t.Parallel()
	s := sender(t, outbound.Config{})
	for _, address := range []string{"http://127.0.0.1:9/", "http://10.0.0.1/", "http://[::1]/", "http://localhost/"} {
		result := send(t, s, address)
		require.Contains(t, result.Error, "address refused", address)
		require.Zero(t, result.Status)
	}
}

// A name that resolved to a public address when the webhook was made, and to this machine
// when it is delivered, leads nowhere.
func TestNamesThatChange(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	target := server(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	_, port, err := net.SplitHostPort(strings.TrimPrefix(target, "http://"))
	require.NoError(t, err)
	var lookups atomic.Int32
	names := newNames(t, func() [4]byte {
		if lookups.Add(1) <= 1 {
			return [4]byte{8, 8, 8, 8}
		}
		return [4]byte{127, 0, 0, 1}
	})
	guard, err := outbound.New(outbound.Config{Resolver: names})
	require.NoError(t, err)
	address := "http://hook.example.:" + port + "/"
	_, err = guard.CheckURL(t.Context(), address)
	require.NoError(t, err)
	require.Contains(t, send(t, webhookcall.NewSender(guard), address).Error, "address refused: loopback address")
	require.Zero(t, hits.Load())
}

// newNames returns a resolver whose server answers every question for IPv4 with one
// address, and others with none.
func newNames(t *testing.T, answer func() [4]byte) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			query := bytes.Clone(buf[:n])
			end := 12
			for query[end] != 0 {
				end += int(query[end]) + 1
			}
			end += 5 // the root, type and class
			reply := append(bytes.Clone(query[:2]), 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0)
			reply = append(reply, query[12:end]...)
			if query[end-3] == 1 {
				address := answer()
				reply[7] = 1
				reply = append(reply, 0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, address[0], address[1], address[2], address[3])
			}
			_, _ = conn.WriteTo(reply, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func TestErrorsHaveNoAddresses(t *testing.T) {
	t.Parallel()
	s := sender(t, outbound.Config{AllowPrivate: true})
	// The port of a client: it is taken, and nobody listens on it.
	client, err := net.Dial("tcp", strings.TrimPrefix(server(t, func(http.ResponseWriter, *http.Request) {}), "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { client.Close() })
	require.Equal(t, "connection refused", send(t, s, "http://"+client.LocalAddr().String()).Error)
	require.Equal(t, "the receiver does not speak TLS",
		send(t, s, strings.Replace(server(t, func(http.ResponseWriter, *http.Request) {}), "http:", "https:", 1)).Error)
	tls := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(tls.Close)
	require.Equal(t, "the receiver's TLS certificate is not valid", send(t, s, tls.URL).Error)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	require.Equal(t, "enough", s.Send(ctx, webhookcall.Request{URL: tls.URL, At: time.Now()}).Error)
}

// hostile is what a tester can write into feedback.
const hostile = "<!channel> <https://evil.example|x> @everyone **bold** [a](http://b) & \"q\""

func TestChatShapes(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(map[string]any{"crashMessage": hostile, "buildUrl": "https://qa.example.com/i?a=1&b=2"})
	require.NoError(t, err)
	due := &webhook.Due{Action: webhook.Crash, Data: data, AppName: "Shop", Version: "1.2", Build: "12"}
	for address, check := range map[string]func(doc map[string]any, text string){
		"https://hooks.slack.com/services/x": func(doc map[string]any, _ string) {
			require.Len(t, doc, 1)
			text := doc["text"].(string)
			require.Contains(t, text, "Crash in Shop 1.2 (12)")
			require.NotContains(t, text, "<!channel>")
			require.NotContains(t, text, "<https://evil")
			require.Contains(t, text, "&lt;!channel&gt;")
			require.Contains(t, text, "<https://qa.example.com/i?a=1&amp;b=2|Open>")
		},
		"https://discord.com/api/webhooks/1/x": func(doc map[string]any, _ string) {
			require.Equal(t, map[string]any{"parse": []any{}}, doc["allowed_mentions"])
			require.NotContains(t, doc["content"], "@everyone **bold**")
			require.Contains(t, doc["content"], `\@everyone \*\*bold\*\*`)
		},
		"https://acme.webhook.office.com/webhookb2/x": func(doc map[string]any, _ string) {
			require.Equal(t, "MessageCard", doc["@type"])
			require.Contains(t, doc["text"], `&lt;!channel&gt;`)
			require.NotContains(t, doc["text"], "[a](")
			require.NotEmpty(t, doc["potentialAction"])
		},
		"https://prod-1.westeurope.logic.azure.com/workflows/x": func(doc map[string]any, text string) {
			require.Equal(t, "message", doc["type"])
			require.Contains(t, text, `"type":"AdaptiveCard"`)
			require.NotContains(t, text, `"type":"TextBlock"`)
		},
		"https://hooks.slack.com.evil.example/x": func(doc map[string]any, _ string) { require.Equal(t, "crash", doc["event"]) },
		"https://discord.com/login":              func(doc map[string]any, _ string) { require.Equal(t, "crash", doc["event"]) },
	} {
		text, err := webhookcall.Body(due, address, link.Links{})
		require.NoError(t, err)
		doc := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(text), &doc), address)
		check(doc, text)
	}
	for _, action := range append(webhook.Actions(), webhook.Test) {
		text, err := webhookcall.Body(&webhook.Due{Action: action, Data: []byte(`{"name":"Nightly","status":"FAILED"}`)},
			"https://hooks.slack.com/services/x", link.Links{})
		require.NoError(t, err)
		require.Greater(t, len(text), 25, action)
	}
}

// A run says where it is seen; a chat service gets how many ended how, and why.
func TestRunsAreTold(t *testing.T) {
	t.Parallel()
	links := link.New("https://qa.example.com/")
	due := &webhook.Due{Action: webhook.Run, Data: []byte(`{"runId":"r1","testSuiteId":"s1","name":"Demo shop","status":"FAILED","error":null,
		"counts":{"total":4,"passed":2,"flaky":1,"failed":2,"error":0},
		"failureGroups":[{"title":"2 cases: 503 of /api/cart","reason":"product","count":2}]}`)}
	text, err := webhookcall.Body(due, "https://ci.example.com/hook", links)
	require.NoError(t, err)
	require.Contains(t, text, `"runUrl":"https://qa.example.com/console/tests/suites/s1/runs/r1"`)
	text, err = webhookcall.Body(due, "https://hooks.slack.com/services/x", links)
	require.NoError(t, err)
	require.JSONEq(t, `{"text":"*FAILED: Demo shop*\n2 passed, 1 flaky, 2 failed\n2 cases: 503 of /api/cart (product)\n`+
		`<https://qa.example.com/console/tests/suites/s1/runs/r1|Open>"}`, text)
	due.Data = []byte(`{"runId":"r2","testCaseId":"c1","name":"Cart","status":"ERROR","error":"no browser","counts":{"error":1}}`)
	text, err = webhookcall.Body(due, "https://hooks.slack.com/services/x", links)
	require.NoError(t, err)
	require.Contains(t, text, `no browser\n<https://qa.example.com/console/tests/cases/c1/runs/r2|Open>`)
}

// A crash group is a link, whether it is told of by itself or by a rule.
func TestCrashGroupsAreLinks(t *testing.T) {
	t.Parallel()
	links := link.New("https://qa.example.com/")
	for _, action := range []webhook.Action{webhook.CrashGroup, webhook.CrashRule} {
		due := &webhook.Due{Action: action, AppName: "Shop",
			Data: []byte(`{"groupId":7,"rule":"Checkout hurts","title":"Cart.pay","reason":"new"}`)}
		text, err := webhookcall.Body(due, "https://hooks.slack.com/services/x", links)
		require.NoError(t, err)
		require.Contains(t, text, `\n<https://qa.example.com/console/crashes/groups/7|Open>`)
	}
}
