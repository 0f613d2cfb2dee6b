package people

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	netmail "net/mail"
	"net/smtp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	gosmtp "github.com/emersion/go-smtp"
	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/storage"
)

const (
	notifyTesters = 10_000
	// notifyTarget is in messages a second, notifyAnswer the time of the request.
	notifyTarget = 500
	notifyAnswer = 50 * time.Millisecond
	// notifyKills are kills of the worker, spread over its work.
	notifyKills = 3
	notifyLimit = 5 * time.Minute
)

// measureNotify measures the notification of 10,000 testers: the request, the messages a
// second at a local mail server, and what arrives when the worker is killed. The baseline
// in the same run is a plain client that sends messages of that size over one connection.
func measureNotify(ctx context.Context) error {
	server, err := StartMailSink()
	if err != nil {
		return err
	}
	defer server.Close()
	dir, err := os.MkdirTemp("", "slipway-bench-mail-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := process.Build(ctx, dir, "")
	if err != nil {
		return err
	}
	p, err := process.Start(ctx, binary, "--worker-pools", "2:schedule=1;4:critical=6,default=3;1:bulk=1")
	if err != nil {
		return err
	}
	defer p.Stop()
	db, err := storage.Open(storage.Config{URL: p.Database, MaxConns: 4})
	if err != nil {
		return err
	}
	defer db.Close()
	b := &notifyBench{Product: p, db: db, server: server, binary: binary, dir: dir}
	build, err := b.prepare(ctx)
	if err != nil {
		return err
	}
	if err := b.speed(ctx, build); err != nil {
		return err
	}
	return b.kills(ctx, build)
}

type notifyBench struct {
	*process.Product
	db          *storage.DB
	server      *MailSink
	binary, dir string
}

// prepare stores an app with a build for all testers.
func (b *notifyBench) prepare(ctx context.Context) (build int64, err error) {
	for _, statement := range []string{
		`insert into users (uuid, username, email) select gen_random_uuid(), 'bench' || n, 'tester' || n || '@example.com'
			from generate_series(1, 10000) n`,
		`insert into memberships (organization_id, user_id, role) select (select min(id) from organizations), id, 'tester' from users
			where username like 'bench%'`,
		`insert into files (organization_id, object_key, size, sha256, content_type) select min(id), 'bench', 1, '', '' from organizations`,
		`insert into projects (organization_id, team_id, name, package_name, platform, token, landing_page_mode, all_testers)
			select organization_id, min(id), 'Bench', 'com.example.bench', 'Android', 'benchproject', 'open', true from teams
			group by organization_id limit 1`,
		`insert into builds (organization_id, project_id, token, app_name, version, version_code, platform, kind, file_id, file_name,
			release_notes)
			select p.organization_id, p.id, 'benchbuild', 'Bench', '1.0', '1', 'Android', 'apk', f.id, 'b.apk', '- **Faster** start'
			from projects p join files f on f.object_key = 'bench' where p.token = 'benchproject'`,
		`analyze`,
	} {
		if _, err := b.db.ExecContext(ctx, statement); err != nil {
			return 0, err
		}
	}
	err = b.db.GetContext(ctx, &build, `select id from builds where token = 'benchbuild'`)
	return build, err
}

// notify sends the request and returns how long it took.
func (b *notifyBench) notify(ctx context.Context, build int64) (time.Duration, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("%s/api/v3/builds/%d/notify-testers", b.Base, build), nil)
	if err != nil {
		return 0, err
	}
	r.Header.Set("X-API-Key", b.APIKey)
	// The first request of a process opens connections; this one is not it.
	if _, err := b.uploadedBuild(ctx, build); err != nil {
		return 0, err
	}
	began := time.Now()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusAccepted {
		return 0, fmt.Errorf("notify-testers: %s", response.Status)
	}
	return time.Since(began), nil
}

// uploadedBuild reads the build, and returns the status of the answer.
func (b *notifyBench) uploadedBuild(ctx context.Context, build int64) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/api/v3/builds/%d", b.Base, build), nil)
	if err != nil {
		return "", err
	}
	r.Header.Set("X-API-Key", b.APIKey)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.Status, err
}

// startMailWorker starts a worker of the queue of mail alone.
func (b *notifyBench) startMailWorker() (*exec.Cmd, error) {
	environment, err := os.ReadFile(filepath.Join(b.Product.Dir, "data", "environment"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(b.binary, "worker", "--worker-pools", "2:mail=1")
	cmd.Env = os.Environ()
	for line := range strings.Lines(string(environment)) {
		if name, value, found := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "="); found {
			cmd.Env = append(cmd.Env, name+"="+strings.Trim(value, "'"))
		}
	}
	cmd.Env = append(cmd.Env, "SLIPWAY_SMTP_URL=smtp://"+b.server.Address+"?tls=none", "SLIPWAY_MAIL_JOURNAL="+filepath.Join(b.dir, "journal"),
		"SLIPWAY_PUBLIC_URL="+b.Base)
	out, err := os.OpenFile(filepath.Join(b.dir, "worker.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	return cmd, cmd.Start()
}

// written waits until the mails of a notification are stored.
func (b *notifyBench) written(ctx context.Context, want int) error {
	return b.poll(ctx, func() (bool, error) {
		var n int
		err := b.db.GetContext(ctx, &n, `select count(*) from mails`)
		return n >= want, err
	})
}

func (b *notifyBench) poll(ctx context.Context, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, notifyLimit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d messages arrived: %w", b.server.total(), ctx.Err())
		case <-tick.C:
		}
	}
}

func (b *notifyBench) speed(ctx context.Context, build int64) error {
	took, err := b.notify(ctx, build)
	if err != nil {
		return err
	}
	measure.Row(fmt.Sprintf("notify %d testers: the request", notifyTesters), measure.Round(took), "50ms", took <= notifyAnswer)
	began := time.Now()
	if err := b.written(ctx, notifyTesters); err != nil {
		return err
	}
	measure.Row("the mails are written", fmt.Sprintf("%.0f/s", notifyTesters/time.Since(began).Seconds()), "", true)
	worker, err := b.startMailWorker()
	if err != nil {
		return err
	}
	if err := b.poll(ctx, func() (bool, error) { return b.server.total() > 0, nil }); err != nil {
		return err
	}
	first := time.Now()
	if err := b.poll(ctx, func() (bool, error) { return b.server.total() >= notifyTesters, nil }); err != nil {
		return err
	}
	rate := notifyTesters / time.Since(first).Seconds()
	plain, err := b.server.baseline(2000)
	if err != nil {
		return err
	}
	measure.Row("baseline: net/smtp, one connection, the same message", fmt.Sprintf("%.0f/s", plain), "", true)
	measure.Row("messages handed to a local mail server", fmt.Sprintf("%.0f/s (%.2f of the baseline)", rate, rate/plain),
		fmt.Sprintf("%d/s", notifyTarget), rate >= notifyTarget)
	_ = worker.Process.Kill()
	_ = worker.Wait()
	return nil
}

// kills counts what arrives while the worker is killed again and again.
func (b *notifyBench) kills(ctx context.Context, build int64) error {
	b.server.reset()
	if _, err := b.notify(ctx, build); err != nil {
		return err
	}
	if err := b.written(ctx, 2*notifyTesters); err != nil {
		return err
	}
	for n := range notifyKills + 1 {
		worker, err := b.startMailWorker()
		if err != nil {
			return err
		}
		want := notifyTesters * (n + 1) / (notifyKills + 1)
		err = b.poll(ctx, func() (bool, error) { return b.server.total() >= want, nil })
		if n == notifyKills {
			err = errors.Join(err, b.poll(ctx, func() (bool, error) {
				var open int
				err := b.db.GetContext(ctx, &open, `select count(*) from tasks where kind = 'mail:send' and state in ('queued', 'running')`)
				return open == 0, err
			}))
		}
		_ = worker.Process.Kill() // SIGKILL
		_ = worker.Wait()
		if err != nil {
			return err
		}
	}
	twice, people := b.server.count()
	measure.Row(fmt.Sprintf("kill -9 of the worker, %d times: people with none, with two", notifyKills),
		fmt.Sprintf("%d, %d", notifyTesters-people, twice),
		"0, 0", people == notifyTesters && twice == 0)
	return nil
}

// MailSink is a mail server that counts messages by Message-ID.
type MailSink struct {
	Address string
	server  *gosmtp.Server

	mu     sync.Mutex
	byID   map[string]int
	people map[string]int // messages of each
	sum    int
	last   []byte
}

// StartMailSink starts a mail server on a free port.
func StartMailSink() (*MailSink, error) {
	s := &MailSink{byID: map[string]int{}, people: map[string]int{}}
	s.server = gosmtp.NewServer(gosmtp.BackendFunc(func(*gosmtp.Conn) (gosmtp.Session, error) { return &sinkSession{sink: s}, nil }))
	s.server.Domain, s.server.ErrorLog = "localhost", log.New(io.Discard, "", 0)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.Address = listener.Addr().String()
	go func() { _ = s.server.Serve(listener) }()
	return s, nil
}

// Close ends the server.
func (s *MailSink) Close() { _ = s.server.Close() }

func (s *MailSink) total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sum
}

func (s *MailSink) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byID, s.people, s.sum = map[string]int{}, map[string]int{}, 0
}

// CountFor returns how many messages have come for an address.
func (s *MailSink) CountFor(address string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.people[address]
}

// count returns how many messages came more than once, and how many people have one.
func (s *MailSink) count() (twice, people int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.byID {
		if n > 1 {
			twice++
		}
	}
	return twice, len(s.people)
}

// baseline sends the last message again and again over one connection.
func (s *MailSink) baseline(n int) (perSecond float64, err error) {
	s.mu.Lock()
	message := s.last
	s.mu.Unlock()
	client, err := smtp.Dial(s.Address)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	began := time.Now()
	for range n {
		if err := sendPlain(client, message); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(began).Seconds(), nil
}

func sendPlain(client *smtp.Client, message []byte) error {
	if err := errors.Join(client.Mail("slipway@example.com"), client.Rcpt(uuid.NewString()+"@example.com")); err != nil {
		return err
	}
	w, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(message); err != nil {
		return err
	}
	return w.Close()
}

// sinkSession is one connection.
type sinkSession struct {
	sink *MailSink
	to   string
}

func (v *sinkSession) Reset() { v.to = "" }

func (v *sinkSession) Logout() error { return nil }

func (v *sinkSession) Mail(string, *gosmtp.MailOptions) error { return nil }

func (v *sinkSession) Rcpt(to string, _ *gosmtp.RcptOptions) error { v.to = to; return nil }

func (v *sinkSession) Data(r io.Reader) error {
	content, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	m, err := netmail.ReadMessage(bytes.NewReader(content))
	if err != nil {
		return err
	}
	v.sink.mu.Lock()
	defer v.sink.mu.Unlock()
	v.sink.byID[m.Header.Get("Message-ID")]++
	v.sink.people[v.to]++
	v.sink.sum++
	v.sink.last = content
	return nil
}
