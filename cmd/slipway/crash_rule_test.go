package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/tasks"
)

// mailbox is a mail server that keeps what it is sent.
type mailbox struct {
	url string

	mu    sync.Mutex
	mails []arrivedMail
}

type arrivedMail struct{ to, text string }

// mailSession is one connection to it.
type mailSession struct {
	box *mailbox
	to  string
}

func (v *mailSession) Reset()                             { v.to = "" }
func (*mailSession) Logout() error                        { return nil }
func (*mailSession) Mail(string, *smtp.MailOptions) error { return nil }

func (v *mailSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	v.to += to
	return nil
}

func (v *mailSession) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	v.box.mu.Lock()
	defer v.box.mu.Unlock()
	v.box.mails = append(v.box.mails, arrivedMail{v.to, string(text)})
	return err
}

func newMailbox(t *testing.T) *mailbox {
	t.Helper()
	box := &mailbox{}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &mailSession{box: box}, nil }))
	server.Domain = "localhost"
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	box.url = "smtp://" + listener.Addr().String() + "?tls=none"
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		_ = server.Close()
		done.Wait()
	})
	return box
}

func (box *mailbox) all() []arrivedMail {
	box.mu.Lock()
	defer box.mu.Unlock()
	return append([]arrivedMail(nil), box.mails...)
}

// signedCall is what a receiver of webhooks got.
type signedCall struct {
	id, at, signature, body string
}

// verify checks the signature as Standard Webhooks describes it, with nothing of the code that signs.
func (c signedCall) verify(t *testing.T, secret string) {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	require.NoError(t, err)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", c.id, c.at, c.body)
	require.Contains(t, strings.Fields(c.signature), "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// The whole way of a rule as the program wires it: the rule and the webhook by the API, a report that an
// SDK posts, the worker, a mail at a mail server and a signed request at a receiver. Each arrives once,
// though the report is posted again and its tasks run again.
func TestCrashRuleArrivesOnce(t *testing.T) {
	t.Parallel()
	box := newMailbox(t)
	calls := make(chan signedCall, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		calls <- signedCall{r.Header.Get("webhook-id"), r.Header.Get("webhook-timestamp"), r.Header.Get("webhook-signature"), string(body)}
	}))
	t.Cleanup(receiver.Close)
	w := newSurface(t, func(s *setting.Settings) {
		s.WorkerPools += ";1:mail=1;1:webhook=1"
		s.SMTPURL, s.MailJournal = setting.Secret(box.url), t.TempDir()
	})
	w.relay()
	must := func(r request) {
		t.Helper()
		status, answer := w.send(r)
		require.Equal(t, r.want, status, "%s", answer)
		w.keep(r.save, answer)
	}
	must(request{method: post, path: v3 + "/webhooks", body: `{"name":"CI","url":"` + receiver.URL + `","actions":["crash-rule"]}`,
		want: 201, save: "secret=secret"})
	must(request{method: post, path: v3 + "/crash-rules", want: 201, save: "rule=crash_rule.id",
		body: `{"name":"Shop","trigger":"new","conditions":[{"subject":"attribute","key":"hostname","values":["web-*"]},
			{"subject":"place","values":["shop.py"]}],"mail":["me"],"webhook":true,"assignee":"me"}`})
	must(request{method: post, path: v3 + "/crash-rules", want: 201, body: `{"name":"Other","trigger":"new","mail":["me"],"webhook":true,
		"conditions":[{"subject":"place","values":["src/checkout/"]}]}`})

	// The first line of a mail's header that a hostile title would begin is one of its own.
	report := crashReport("pay", "Value\r\nBcc: eve@example.com\r\n\r\nError", "2.0", time.Now(), nil)
	w.sendReport(report)
	var call signedCall
	select {
	case call = <-calls:
	case <-time.After(2 * time.Minute):
		t.Fatal("no webhook arrived: " +
			w.one(`select coalesce(string_agg(kind || ' ' || state || ' ' || coalesce(error, ''), E'\n'), '') from tasks`))
	}
	call.verify(t, w.ids["secret"])
	w.wait("group", `select id::text from crash_groups`)
	var event map[string]any
	require.NoError(t, json.Unmarshal([]byte(call.body), &event))
	require.Equal(t, []any{"crash-rule", "Shop", "new", "new", w.ids["group"], w.ids["rule"]},
		[]any{event["event"], event["rule"], event["trigger"],
			event["reason"], fmt.Sprintf("%.0f", event["groupId"]), fmt.Sprintf("%.0f", event["ruleId"])})
	require.Eventually(t, func() bool { return len(box.all()) > 0 }, 2*time.Minute, 20*time.Millisecond)
	arrived := box.all()[0]
	require.Equal(t, w.boot.Owner.Email, arrived.to)
	read, err := mail.ReadMessage(strings.NewReader(arrived.text))
	require.NoError(t, err)
	require.Empty(t, read.Header.Get("Bcc"))
	subject, err := new(mime.WordDecoder).DecodeHeader(read.Header.Get("Subject"))
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(subject, "Shop: "), subject)
	require.Equal(t, fmt.Sprint(w.boot.Owner.ID), w.one(`select coalesce(assignee_id, 0)::text from crash_groups`))

	must(request{method: post, path: "/post", query: "?format=json&token={{crashtoken}}", body: report, as: "none", want: 400})
	w.wait("settled", `select 'x' where not exists (select from tasks where kind = $1 and state in ('queued', 'running'))`,
		tasks.CrashProcess.Name)
	_, err = w.db.ExecContext(t.Context(), `update tasks set state = 'queued', run_at = now(), delivered_at = null, finished_at = null
		where kind = $1 and state = 'succeeded'`, tasks.CrashRules.Name)
	require.NoError(t, err)
	w.wait("evaluated", `select 'x' from tasks where kind = $1 having max(attempt) > 1 and bool_and(state = 'succeeded')`,
		tasks.CrashRules.Name)
	// What a task causes is written in the transaction that ends it.
	require.Equal(t, "1", w.one(`select count(*)::text from mails where kind = 'crash-rule'`))
	require.Equal(t, "1", w.one(`select count(*)::text from events where action = 'crash-rule'`))
	require.Empty(t, calls)
	require.Len(t, box.all(), 1)
	require.Equal(t, "1", w.one(`select fired::text from crash_rules where id = $1`, w.ids["rule"]))
	require.Equal(t, "1", w.one(`select sum(fired)::text from crash_rules`), "the other rule looks at other code")
	code, answer := w.send(request{method: http.MethodGet, path: v3 + "/crash-groups/{id:group}/history"})
	require.Equal(t, http.StatusOK, code, "%s", answer)
	require.Equal(t, 1, strings.Count(string(answer), `"rule_name":"Shop"`), "%s", answer)
}
