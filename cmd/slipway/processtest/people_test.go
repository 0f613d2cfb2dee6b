package processtest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPeople tells the story of a tester from the invitation to feedback, with a real
// mail server and a receiver of webhooks, up to the removal; the audit log has it all.
func TestPeople(t *testing.T) {
	t.Parallel()
	mails, events := startMailCounter(t), startEventReceiver(t)
	dir := t.TempDir()
	in := installed(t, dir, time.Now(), start(t, []string{"SLIPWAY_SMTP_URL=smtp://" + mails.address + "?tls=none",
		"SLIPWAY_MAIL_JOURNAL=" + filepath.Join(t.TempDir(), "journal"), "SLIPWAY_LOG_LEVEL=debug"}, "up", "--data-dir",
		dir, "--listen", "127.0.0.1:0"))
	s := &peopleStory{installation: in, t: t, mails: mails}
	var hook struct{ Secret string }
	res, answer := in.do(t, http.MethodPost, "/api/v3/webhooks",
		[]byte(`{"name":"ci","url":"`+events.url+`","actions":["upload","download","feedback"]}`), asJSON)
	require.Equal(t, http.StatusCreated, res.StatusCode, "%s", answer)
	require.NoError(t, json.Unmarshal(answer, &hook))

	s.form(http.MethodPost, "/api/1/testers/", "email=Ann%2Bshop@Example.com&group=Beta&notify=on")
	require.Contains(t, s.mail(1), "Beta", "the welcome")
	build := s.upload()
	text := s.mail(2)
	invitation := regexp.MustCompile(`http://\S+(/invite/\S+)`).FindStringSubmatch(text)
	require.NotEmpty(t, invitation, "%s", text)

	var listed struct {
		Testers []struct {
			Email, AppDownloadLink, BuildInviteStatus string
			ID                                        int64
			IsInvitedToBuild                          bool
		}
	}
	invited := func() string {
		in.get(t, "/api/1/testers?buildId="+build, &listed)
		require.Len(t, listed.Testers, 1)
		require.True(t, listed.Testers[0].IsInvitedToBuild)
		return listed.Testers[0].BuildInviteStatus
	}
	eventually(t, "the invitation is sent", func() bool { return invited() == "sent" })
	require.Contains(t, listed.Testers[0].AppDownloadLink, invitation[1])

	// A mail scanner opens the link; the person presses the button.
	status, _, _ := s.visit(http.MethodGet, invitation[1], "", "")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "sent", invited(), "nothing happens on GET")
	status, header, _ := s.visit(http.MethodPost, invitation[1], "", "x=1")
	require.Equal(t, http.StatusSeeOther, status)
	cookie, _, _ := strings.Cut(header.Get("Set-Cookie"), ";")
	page := header.Get("Location")
	require.Equal(t, "opened", invited())
	status, _, text = s.visit(http.MethodGet, page, cookie, "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, text, "/me/feedback?build=")
	status, _, _ = s.visit(http.MethodGet, page+"/download", cookie, "")
	require.Equal(t, http.StatusFound, status)
	require.Equal(t, "installed", invited())
	report, contentType := form(t, field{name: "build", value: filepath.Base(page)}, field{name: "text", value: "The cart is empty"})
	res, answer = in.do(t, http.MethodPost, "/me/feedback", report.Bytes(), func(r *http.Request) {
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Cookie", cookie)
	})
	require.Equal(t, http.StatusOK, res.StatusCode, "%.300s", answer)

	seen := map[string]map[string]any{}
	for range 3 {
		got := events.next(t, hook.Secret)
		seen[fmt.Sprint(got["event"])] = got
	}
	require.Equal(t, "Ann+shop@Example.com", seen["download"]["testerEmail"])
	require.Equal(t, "The cart is empty", seen["feedback"]["text"])
	require.Equal(t, "10", seen["upload"]["build"])

	// Blocked: no page, no link; restored by the end of the block, ended by the removal.
	tester := fmt.Sprintf("/api/1/testers/%d", listed.Testers[0].ID)
	me := func(want int) {
		t.Helper()
		status, _, _ := s.visit(http.MethodGet, "/me", cookie, "")
		require.Equal(t, want, status)
	}
	me(http.StatusOK)
	s.form(http.MethodPost, tester+"/block/", "")
	me(http.StatusForbidden)
	status, _, _ = s.visit(http.MethodPost, invitation[1], "", "x=1")
	require.Equal(t, http.StatusGone, status)
	s.form(http.MethodDelete, tester+"/block", "")
	status, _, _ = s.visit(http.MethodPost, invitation[1], "", "x=1")
	require.Equal(t, http.StatusSeeOther, status)
	s.form(http.MethodDelete, tester, "")
	status, _, _ = s.visit(http.MethodPost, invitation[1], "", "x=1")
	require.Equal(t, http.StatusGone, status, "the tester is removed")

	_, csv := in.do(t, http.MethodGet, "/api/v3/audits.csv", nil, nil)
	for _, action := range []string{"testers.invited", "group.created", "build.uploaded", "testers.notified", "build.downloaded",
		"feedback.received", "tester.signed_in", "tester.blocked", "tester.unblocked", "tester.removed", "webhook.created"} {
		require.Contains(t, string(csv), ","+action+",")
	}
	require.NotContains(t, string(csv), strings.TrimPrefix(invitation[1], "/invite/"), "a secret in the audit log")
	require.Zero(t, in.signal(t, os.Interrupt))
	checkNoSecrets(t, in)
	require.NotContains(t, in.stderr.String(), strings.TrimPrefix(invitation[1], "/invite/"), "a secret in the log")
}

type peopleStory struct {
	*installation
	t     *testing.T
	mails *mailCounter
}

// form sends a form of version 1.
func (s *peopleStory) form(method, path, body string) {
	s.t.Helper()
	res, text := s.do(s.t, method, path, []byte(body), func(r *http.Request) {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	})
	require.Equal(s.t, http.StatusOK, res.StatusCode, "%s %s: %s", method, path, text)
	require.JSONEq(s.t, `{"status":"ok"}`, string(text))
}

// upload uploads a build for the group and has it told to its testers.
func (s *peopleStory) upload() string {
	s.t.Helper()
	body, contentType := form(s.t, field{name: "groups", value: "Beta"}, field{name: "notify", value: "on"},
		field{name: "file", file: "shop.ipa", value: string(newIPA(s.t, "com.example.people", "1.0", "10"))})
	res, text := s.do(s.t, http.MethodPost, "/api/upload/", body.Bytes(), func(r *http.Request) { r.Header.Set("Content-Type", contentType) })
	require.Equal(s.t, http.StatusOK, res.StatusCode, "%s", text)
	var up uploaded
	require.NoError(s.t, json.Unmarshal(text, &up))
	return up.BuildID
}

// mail returns the text of the tester's n-th mail.
func (s *peopleStory) mail(n int) string {
	s.t.Helper()
	person := "Ann+shop@Example.com"
	eventually(s.t, fmt.Sprintf("mail %d", n), func() bool {
		s.mails.mu.Lock()
		defer s.mails.mu.Unlock()
		return s.mails.people[person] >= n
	})
	s.mails.mu.Lock()
	defer s.mails.mu.Unlock()
	require.Equal(s.t, n, s.mails.people[person])
	// Long lines of quoted-printable text are broken; the pictures beside it are Base64.
	return strings.NewReplacer("=\r\n", "", "=3D", "=").Replace(s.mails.last[person])
}

// visit opens a page as the tester's browser does, without following redirects.
func (s *peopleStory) visit(method, path, cookie, body string) (int, http.Header, string) {
	s.t.Helper()
	if at, err := url.Parse(path); err == nil {
		path = at.RequestURI()
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, strings.NewReader(body))
	require.NoError(s.t, err)
	if body != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if cookie != "" {
		req.Header.Set("Cookie", cookie)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	return res.StatusCode, res.Header, string(text)
}

// eventReceiver keeps what webhooks send.
type eventReceiver struct {
	url  string
	sent chan *receivedEvent
}

type receivedEvent struct {
	header http.Header
	body   []byte
}

func startEventReceiver(t *testing.T) *eventReceiver {
	t.Helper()
	r := &eventReceiver{sent: make(chan *receivedEvent, 100)}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		if body, err := io.ReadAll(req.Body); err == nil {
			r.sent <- &receivedEvent{req.Header, body}
		}
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// next returns the next event, whose signature is checked as Standard Webhooks says.
func (r *eventReceiver) next(t *testing.T, secret string) map[string]any {
	t.Helper()
	var got *receivedEvent
	select {
	case got = <-r.sent:
	case <-time.After(longWait):
		t.Fatal("no event came")
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	require.NoError(t, err)
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", got.header.Get("webhook-id"), got.header.Get("webhook-timestamp"), got.body)
	require.Equal(t, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)), got.header.Get("webhook-signature"))
	var event map[string]any
	require.NoError(t, json.Unmarshal(got.body, &event))
	return event
}
