package install_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/http"
	netmail "net/mail"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/mail"
	"github.com/slipway-qa/slipway/tasks/letter"
	"github.com/slipway-qa/slipway/tasks/link"
	"github.com/slipway-qa/slipway/tasks/mailtemplate"
	sender "github.com/slipway-qa/slipway/worker/mail"
)

// mailbox is a mail server that keeps what it is sent.
type mailbox struct {
	t         testing.TB
	transport *sender.SMTP
	handed    map[string]bool // ids of mails that it was given

	mu    sync.Mutex
	mails [][]byte
}

type delivery struct{ box *mailbox }

func (delivery) Reset()                               {}
func (delivery) Logout() error                        { return nil }
func (delivery) Mail(string, *smtp.MailOptions) error { return nil }
func (delivery) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (d delivery) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	d.box.mu.Lock()
	defer d.box.mu.Unlock()
	d.box.mails = append(d.box.mails, data)
	return nil
}

func newMailbox(t testing.TB) *mailbox {
	t.Helper()
	box := &mailbox{t: t, handed: map[string]bool{}}
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return delivery{box}, nil }))
	server.Domain = "localhost"
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() {
		_ = server.Close()
		done.Wait()
	})
	address, err := sender.ParseSMTP("smtp://" + listener.Addr().String() + "?tls=none")
	require.NoError(t, err)
	box.transport, err = sender.NewSMTP(sender.SMTPConfig{Server: address, From: "Slipway <qa@example.com>"})
	require.NoError(t, err)
	return box
}

// link hands all new mail over, and finds the link in what the server received last.
func (box *mailbox) link(w *world, path string) string {
	box.t.Helper()
	for _, m := range w.mails() {
		if !box.handed[m.ID.String()] {
			box.handed[m.ID.String()] = true
			require.NoError(box.t, box.transport.Send(box.t.Context(), &sender.Outgoing{Mail: &m}))
		}
	}
	box.mu.Lock()
	defer box.mu.Unlock()
	require.NotEmpty(box.t, box.mails)
	text := plainText(box.t, box.mails[len(box.mails)-1])
	found := regexp.MustCompile(regexp.QuoteMeta(path) + `[A-Za-z0-9_-]+`).FindString(text)
	require.NotEmpty(box.t, found, text)
	return found
}

// plainText is the text of a mail, as a reader without HTML shows it.
func plainText(t testing.TB, raw []byte) string {
	t.Helper()
	m, err := netmail.ReadMessage(bytes.NewReader(raw))
	require.NoError(t, err)
	text, found := textPart(t, m.Header.Get("Content-Type"), m.Header.Get("Content-Transfer-Encoding"), m.Body)
	require.True(t, found)
	return text
}

func textPart(t testing.TB, kind, encoding string, body io.Reader) (string, bool) {
	t.Helper()
	media, parameters, err := mime.ParseMediaType(kind)
	require.NoError(t, err)
	if strings.HasPrefix(media, "multipart/") {
		for r := multipart.NewReader(body, parameters["boundary"]); ; {
			part, err := r.NextRawPart()
			if err == io.EOF {
				return "", false
			}
			require.NoError(t, err)
			if text, found := textPart(t, part.Header.Get("Content-Type"), part.Header.Get("Content-Transfer-Encoding"), part); found {
				return text, true
			}
		}
	}
	if media != "text/plain" {
		return "", false
	}
	if strings.EqualFold(encoding, "quoted-printable") {
		body = quotedprintable.NewReader(body)
	}
	text, err := io.ReadAll(body)
	require.NoError(t, err)
	return string(text), true
}

// inviteByMail invites a tester to a build, with the mail.
func (w *world) inviteByMail(build *distribution.Build, user int64, email, base string) {
	w.t.Helper()
	links := link.New(base)
	letters := letter.New(letter.Config{Links: links})
	invitation := w.invite(build.ID, user)[user]
	w.tx(func(ctx context.Context, tx *storage.Tx) error {
		_, err := letters.Write(ctx, tx, letter.Letter{OrganizationID: w.org, UserID: user, Recipient: email,
			Content: mailtemplate.Invitation{App: build.AppName, Version: build.Version, VersionCode: build.VersionCode,
				Platform: string(build.Platform),
				Notes:    mailtemplate.NewNotes(build.ReleaseNotes), Comment: "Please try the sync.", Link: links.Invite(invitation.Secret)}})
		return err
	})
}

// TestBrowserJourney goes a tester's way on a phone, with a real mail server: from the
// invitation by the app, a registered device and feedback to the end.
func TestBrowserJourney(t *testing.T) {
	t.Parallel()
	b, box := newTab(t), newMailbox(t)
	body := bytes.Repeat([]byte("a build of some size "), 20_000)
	made := b.upload(func(u *distribution.Upload) {
		forAll(u)
		file := b.put(squares(t), "image/png")
		u.Icon, u.ReleaseNotes, u.File = &file, notes, b.put(body, "application/octet-stream")
	}).Build
	b.upload(func(u *distribution.Upload) { forAllApple(u); u.Package.Name = "Harbour for iPhone" })
	older := b.upload(func(u *distribution.Upload) { forAll(u); u.Package.Version = "1.3.0" }).Build
	tess := b.member("tess@example.com", account.Tester)
	b.inviteByMail(made, tess, "tess@example.com", b.base)
	submit := chromedp.CSS("main button[type=submit]")
	b.on(screens()[0])

	// The invitation, and the build.
	b.open(strings.TrimPrefix(box.link(b.world, b.base+"/invite/"), b.base), "journey-invitation")
	require.Contains(t, b.text("main"), "tess@example.com")
	b.run(chromedp.Click(submit), chromedp.WaitVisible(chromedp.CSS(".act .button")))
	b.sound("journey-build")
	require.Equal(t, b.base+"/install/"+made.Token, value[string](b, "location.href"))
	require.Equal(t, made.File.SHA256, digest(b.download(".act .button")))
	require.Equal(t, 1, b.downloads(made.ID))

	// The apps and their history, in each look.
	for _, s := range screens() {
		b.on(s)
		b.open("/me", "journey-apps-"+s.name)
		require.Equal(t, 2, value[int](b, "document.querySelectorAll('.tile').length"))
		b.open(fmt.Sprintf("/me/apps/%d", made.ProjectID), "journey-history-"+s.name)
		require.Equal(t, 2, value[int](b, "document.querySelectorAll('.past > li').length"))
		b.open("/udid/register", "journey-register-"+s.name)
		b.open("/me/feedback?build="+older.Token, "journey-feedback-"+s.name)
		b.open("/sign-in", "") // who is signed in is led on
		require.Equal(t, b.base+"/me", value[string](b, "location.href"))
	}
	b.on(screens()[0])

	// The device: what the browser downloads, the device answers.
	b.open("/udid/register?build="+made.Token, "")
	profile := b.download("main .button")
	answer := newPhone(t).answer(profile, listed)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Post(strings.Replace(b.base, pageHost, "127.0.0.1", 1)+"/udid/answer", "application/pkcs7-signature",
		bytes.NewReader(answer))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusMovedPermanently, response.StatusCode)
	b.open(strings.TrimPrefix(response.Header.Get("Location"), b.base), "journey-registered")
	require.Contains(t, b.text("main"), listed)
	for _, s := range screens() {
		b.on(s)
		b.open("/me/devices", "journey-devices-"+s.name)
		require.Contains(t, b.text(".past"), listed)
	}
	b.on(screens()[0])

	// Feedback with a picture.
	picture := filepath.Join(t.TempDir(), "screen.png")
	require.NoError(t, os.WriteFile(picture, squares(t), 0o600))
	b.open("/install/"+made.Token, "")
	b.run(chromedp.Click(chromedp.CSS(`.links a[href*="/me/feedback"]`)), chromedp.WaitVisible(chromedp.CSS("textarea")),
		chromedp.SendKeys(chromedp.CSS("textarea"), "The sync stops."), chromedp.SetUploadFiles(chromedp.CSS("input[type=file]"),
			[]string{picture}),
		chromedp.Click(submit), chromedp.WaitNotPresent(chromedp.CSS("textarea")))
	b.sound("journey-thanks")
	require.Equal(t, "Thank you", b.text("h1"))
	require.Equal(t, 1, b.count(`select count(*) from feedbacks
		where build_id = $1 and text = 'The sync stops.' and screenshot_type = 'image/png' and email = 'tess@example.com'`, made.ID))

	// Away, and no way back by the link of the invitation.
	b.open("/me/leave", "journey-leave")
	b.run(chromedp.Click(submit), chromedp.WaitNotPresent(chromedp.CSS("form")))
	b.sound("journey-left")
	require.Contains(t, b.text("h1"), "You left Example Ships")
	b.open(strings.TrimPrefix(box.link(b.world, b.base+"/invite/"), b.base), "journey-gone")
	require.NotContains(t, b.text("main"), "Harbour")
	require.Zero(t, b.count(`select count(*) from memberships where user_id = $1`, tess))
	require.Zero(t, b.count(`select count(*) from tester_devices`))

	// Signing in without an app, as another person.
	b.member("ann@example.com", account.Tester)
	for _, s := range screens() {
		b.on(s)
		b.open("/sign-in", "journey-sign-in-"+s.name)
	}
	b.on(screens()[0])
	b.run(chromedp.SendKeys(chromedp.CSS("input[type=email]"), "ann@example.com"), chromedp.Click(submit),
		chromedp.WaitVisible(chromedp.CSS(".more")))
	b.sound("journey-sent")
	b.open(strings.TrimPrefix(box.link(b.world, b.base+"/session/"), b.base), "")
	b.run(chromedp.Click(submit), chromedp.WaitVisible(chromedp.CSS(".tile")))
	require.Equal(t, b.base+"/me", value[string](b, "location.href"))
	require.Equal(t, mail.Queued, b.mails()[0].State, "the test sends mail by itself")
}
