package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/cmd/slipway/tier"
	"github.com/slipway-qa/slipway/storage"
)

// tcpProxy stands before a server, so that a test can take it away and bring it back.
type tcpProxy struct {
	net.Listener
	to    string
	hangs atomic.Bool // connections are accepted, and nothing more
	away  atomic.Bool // connections are closed at once

	mu    sync.Mutex
	conns []net.Conn
}

func newTCPProxy(t *testing.T, to string) *tcpProxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &tcpProxy{Listener: listener, to: to}
	go p.run()
	t.Cleanup(func() {
		_ = listener.Close()
		p.cut()
	})
	return p
}

func (p *tcpProxy) run() {
	for {
		conn, err := p.Accept()
		if err != nil {
			return
		}
		p.keep(conn)
		if p.hangs.Load() {
			continue
		}
		if p.away.Load() {
			_ = conn.(*net.TCPConn).SetLinger(0)
			_ = conn.Close()
			continue
		}
		server, err := net.Dial("tcp", p.to)
		if err != nil {
			_ = conn.Close()
			continue
		}
		p.keep(server)
		go func() { _, _ = io.Copy(server, conn); _ = server.Close() }()
		go func() { _, _ = io.Copy(conn, server); _ = conn.Close() }()
	}
}

func (p *tcpProxy) keep(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, conn)
}

// cut ends the connections that are open.
func (p *tcpProxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.conns {
		_ = conn.Close()
	}
	p.conns = nil
}

// heal lets everything through.
func (p *tcpProxy) heal() {
	p.hangs.Store(false)
	p.away.Store(false)
	p.cut()
}

// lockedBuffer takes the log of a tier.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// addresses are the services of a tier.
type addresses struct{ database, redis, objects string }

// settled is how long a test waits for what should take a moment.
const settled = 90 * time.Second

// runningTier is a tier in this process.
type runningTier struct {
	t    *testing.T
	log  *lockedBuffer
	base string
	stop context.CancelFunc
	done chan error
}

// startTier runs a tier until the test ends.
func startTier(t *testing.T, kind string, at addresses, more ...string) *runningTier {
	t.Helper()
	set, err := parseSettings(t, append([]string{kind, "--database-url", at.database, "--redis-url", at.redis, "--objects-url", at.objects,
		"--signing-key", strings.Repeat("k", 32), "--public-url", "http://127.0.0.1", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0",
		"--worker-pools", "1:schedule=1;1:default=3,bulk=1;1:crash=1", "--stop-delay", "0",
		"--worker-drain", "0", "--mail-journal", t.TempDir()}, more...)...)
	require.NoError(t, err)
	r := &runningTier{t: t, log: &lockedBuffer{}, done: make(chan error, 1)}
	log := slog.New(slog.NewTextHandler(r.log, nil))
	ctx, stop := context.WithCancel(t.Context())
	r.stop = stop
	go func() {
		switch kind {
		case "api":
			r.done <- tier.API{}.Run(ctx, set, log)
		case "worker":
			r.done <- tier.Worker{}.Run(ctx, set, log)
		case "scheduler":
			r.done <- tier.Scheduler{}.Run(ctx, set, log)
		}
	}()
	t.Cleanup(r.end)
	r.base = "http://" + r.await(`listen=(127\.0\.0\.1:\d+)`)
	return r
}

// end stops the tier, which must end well.
func (r *runningTier) end() {
	r.stop()
	select {
	case err := <-r.done:
		require.NoError(r.t, err)
		r.done <- nil
	case <-time.After(settled):
		r.t.Error("the tier has not ended")
	}
}

// await returns the first group of the pattern, once the log has it.
func (r *runningTier) await(pattern string) string {
	r.t.Helper()
	re := regexp.MustCompile(pattern)
	for end := time.Now().Add(settled); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if match := re.FindStringSubmatch(r.log.String()); match != nil {
			return match[len(match)-1]
		}
		select {
		case err := <-r.done:
			r.done <- err
			r.t.Fatalf("ended with %v before it logged %s:\n%s", err, pattern, r.log)
		default:
		}
	}
	r.t.Fatalf("has not logged %s:\n%s", pattern, r.log)
	return ""
}

// warnings counts the lines of level warn when a dependency is wrong. Notifications have a
// line of their own, which may also come when the start is slow; and on a busy machine what
// has nothing to do with that dependency may exceed its time, as may the dependency once it
// was mended, which is so many bytes behind the begin of the log.
func (r *runningTier) warnings(wrong string, mended int) int {
	n, at := 0, 0
	for line := range strings.Lines(r.log.String()) {
		at += len(line)
		of := strings.Contains(line, "dependency="+wrong) ||
			wrong == "postgres" && !strings.Contains(line, "dependency=") && !strings.Contains(line, `msg="heartbeat failed"`)
		slow := (!of || at > mended) && (strings.Contains(line, "context deadline exceeded") || strings.Contains(line, "reason=timeout"))
		if strings.Contains(line, "level=WARN") && !slow && !strings.Contains(line, `msg="notifications of the database`) {
			n++
		}
	}
	return n
}

// health is what /readyz says.
type health struct {
	code         int
	Status       string
	Capabilities map[string]struct {
		Status  string
		Failing map[string]string
	}
	Checks map[string]struct{ Status, Error string }
	text   string
}

func (r *runningTier) health() (h health) {
	r.t.Helper()
	res, err := http.Get(r.base + "/readyz")
	require.NoError(r.t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(r.t, err)
	require.NoError(r.t, json.Unmarshal(text, &h), "%s", text)
	h.code, h.text = res.StatusCode, string(text)
	return h
}

// awaitHealth polls until readiness is as wanted.
func (r *runningTier) awaitHealth(what string, holds func(health) bool) {
	r.t.Helper()
	var last health
	for end := time.Now().Add(settled); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if last = r.health(); holds(last) {
			return
		}
	}
	r.t.Fatalf("%s: %s\n%s", what, last.text, r.log)
}

// fault is a dependency that is wrong in one way.
type fault struct {
	name, dependency string
	// reason is what log and readiness say, as a regular expression.
	reason string
	// spoil changes the addresses and returns the host that the log must name, and what
	// mends it; nil: nothing but another setting does.
	spoil func(t *testing.T, at *addresses) (host string, mend func())
}

// changed returns an address with another host, user or parameter.
func changed(t *testing.T, raw string, change func(*url.URL)) string {
	t.Helper()
	u, err := url.Parse(raw)
	require.NoError(t, err)
	change(u)
	return u.String()
}

// behind puts a proxy before the server of an address.
func behind(t *testing.T, raw *string, begin func(*tcpProxy)) (string, func()) {
	t.Helper()
	var p *tcpProxy
	*raw = changed(t, *raw, func(u *url.URL) {
		p = newTCPProxy(t, u.Host)
		begin(p)
		u.Host = p.Addr().String()
	})
	return p.Addr().String(), p.heal
}

func hanging(p *tcpProxy) { p.hangs.Store(true) }
func broken(p *tcpProxy)  { p.away.Store(true) }

// refused leads to a port where nobody listens.
func refused(t *testing.T, raw *string) (string, func()) {
	t.Helper()
	const nobody = "127.0.0.1:1"
	*raw = changed(t, *raw, func(u *url.URL) { u.Host = nobody })
	return nobody, nil
}

// altered changes the address; the server stays.
func altered(t *testing.T, raw *string, change func(*url.URL)) (string, func()) {
	t.Helper()
	var host string
	*raw = changed(t, *raw, func(u *url.URL) { change(u); host = u.Host })
	return host, nil
}

// with sets a parameter.
func with(name, value string) func(*url.URL) {
	return func(u *url.URL) {
		q := u.Query()
		q.Set(name, value)
		u.RawQuery = q.Encode()
	}
}

// sesame is the secret that must show nowhere.
const sesame = "open-sesame-4711"

func faults() []fault {
	type at = *addresses
	return []fault{
		{"database away", "postgres", "connection refused", func(t *testing.T, a at) (string, func()) { return refused(t, &a.database) }},
		{"database breaks off", "postgres", "not reachable", func(t *testing.T, a at) (string, func()) { return behind(t, &a.database, broken) }},
		{"database hangs", "postgres", "timeout", func(t *testing.T, a at) (string, func()) { return behind(t, &a.database, hanging) }},
		{"database refuses the password", "postgres", "refuses user or password", func(t *testing.T, a at) (string, func()) {
			return altered(t, &a.database, func(u *url.URL) { u.User = url.UserPassword(u.User.Username(), sesame) })
		}},
		{"database without TLS", "postgres", "does not speak TLS", func(t *testing.T, a at) (string, func()) {
			return altered(t, &a.database, with("sslmode", "require"))
		}},
		{"no such database", "postgres", "no database of that name", func(t *testing.T, a at) (string, func()) {
			return altered(t, &a.database, func(u *url.URL) { u.Path = "/nowhere" })
		}},
		{"redis away", "redis", "connection refused", func(t *testing.T, a at) (string, func()) { return refused(t, &a.redis) }},
		{"redis breaks off", "redis", "not reachable", func(t *testing.T, a at) (string, func()) { return behind(t, &a.redis, broken) }},
		{"redis hangs", "redis", "timeout", func(t *testing.T, a at) (string, func()) { return behind(t, &a.redis, hanging) }},
		{"redis refuses the password", "redis", "refuses the password", func(t *testing.T, a at) (string, func()) {
			return altered(t, &a.redis, func(u *url.URL) { u.User = url.UserPassword("nobody", sesame) })
		}},
		{"redis without TLS, which it takes for a slow command", "redis", "timeout", func(t *testing.T, a at) (string, func()) {
			return altered(t, &a.redis, func(u *url.URL) { u.Scheme = "rediss" })
		}},
		{"objects away", "objects", "connection refused", func(t *testing.T, a at) (string, func()) { return refused(t, &a.objects) }},
		{"objects break off", "objects", "not reachable", func(t *testing.T, a at) (string, func()) { return behind(t, &a.objects, broken) }},
		{"objects hang", "objects", "timeout", func(t *testing.T, a at) (string, func()) { return behind(t, &a.objects, hanging) }},
		{"objects refuse the secret", "objects", "access refused", func(t *testing.T, a at) (string, func()) {
			return altered(t, &a.objects, func(u *url.URL) { u.User = url.UserPassword(u.User.Username(), sesame) })
		}},
		{"objects in another region", "objects", "wrong region|access refused", func(t *testing.T, a at) (string, func()) {
			return altered(t, &a.objects, with("region", "eu-far-9"))
		}},
		{"objects without TLS", "objects", "does not speak TLS", func(t *testing.T, a at) (string, func()) {
			return altered(t, &a.objects, with("tls", "1"))
		}},
		{"objects in a full folder", "objects", "no space left", func(t *testing.T, a at) (string, func()) {
			dir := smallDisk(t, "size=64k")
			filler := filepath.Join(dir, "filler")
			fill(t, filler)
			a.objects = "file://" + dir
			return dir, func() { require.NoError(t, os.Remove(filler)) }
		}},
		{"objects in a read-only folder", "objects", "read-only file system", func(t *testing.T, a at) (string, func()) {
			dir := smallDisk(t, "size=64k")
			require.NoError(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
			a.objects = "file://" + dir
			return dir, func() { require.NoError(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT, "")) }
		}},
		{"objects in a file", "objects", "not a folder", func(t *testing.T, a at) (string, func()) {
			dir := filepath.Join(t.TempDir(), "objects")
			require.NoError(t, os.WriteFile(dir, nil, 0o600))
			a.objects = "file://" + dir
			return dir, func() { require.NoError(t, os.Remove(dir)) }
		}},
	}
}

// smallDisk mounts a file system in memory, which only root may.
func smallDisk(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("slipway-test", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("a file system of a test's own needs root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// fill writes until there is no room.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	require.NoError(t, err)
	defer file.Close()
	for {
		if _, err := file.Write(make([]byte, 4096)); err != nil {
			require.ErrorIs(t, err, syscall.ENOSPC)
			return
		}
	}
}

// TestTiersStartWithoutTheirDependencies: each tier with each dependency wrong in each
// way starts, says which it is, where, and why, once and without secrets, shows what it
// is capable of, and goes on when the dependency is there.
func TestTiersStartWithoutTheirDependencies(t *testing.T) {
	t.Parallel()
	minio := servicetest.Minio(t)
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			at := addresses{database: servicetest.DatabaseURL(t), redis: servicetest.RedisURL(t), objects: minio}
			host, mend := f.spoil(t, &at)
			tiers := map[string]*runningTier{"api": startTier(t, "api", at), "worker": startTier(t, "worker", at)}
			if f.dependency != "objects" { // of which a scheduler has no need
				tiers["scheduler"] = startTier(t, "scheduler", at)
			}
			for kind, r := range tiers {
				r.await(`msg="dependency not available" dependency=` + f.dependency + ` host="?[^"]*` + regexp.QuoteMeta(host) +
					`[^" ]*"? reason="?[^"]*(` + f.reason + `)`)
				r.awaitHealth("the check fails", func(h health) bool { return h.Checks[f.dependency].Status == "failed" })
				h := r.health()
				require.Regexp(t, f.reason, h.Checks[f.dependency].Error)
				require.Equal(t, f.dependency == "postgres" || kind == "worker" && f.dependency == "redis", h.code == 503, "%s: %s", kind, h.text)
				if f.dependency == "objects" && kind == "api" {
					require.Equal(t, "ok", h.Capabilities["crash_intake"].Status)
					require.Equal(t, "unavailable", h.Capabilities["uploads"].Status)
					require.Regexp(t, f.reason, h.Capabilities["uploads"].Failing["objects"])
				}
				require.NotContains(t, h.text, host, "/readyz is open to everybody")
				requireNoSecrets(t, at, r.log.String()+h.text)
			}
			mended := map[string]int{}
			for kind, r := range tiers {
				mended[kind] = math.MaxInt
				if mend != nil {
					mended[kind] = len(r.log.String())
				}
			}
			if mend != nil {
				mend()
			}
			for kind, r := range tiers {
				if mend != nil {
					r.awaitHealth(kind+" is well again", func(h health) bool { return h.code == 200 && h.Checks[f.dependency].Status == "ok" })
				}
				r.end()
				require.Equal(t, 1, r.warnings(f.dependency, mended[kind]), "%s: %s", kind, r.log.String())
			}
		})
	}
}

// requireNoSecrets fails when the text has a password of the addresses.
func requireNoSecrets(t *testing.T, at addresses, text string) {
	t.Helper()
	for _, raw := range []string{at.database, at.redis, at.objects} {
		u, err := url.Parse(raw)
		require.NoError(t, err)
		if password, ok := u.User.Password(); ok {
			require.NotContains(t, text, password)
		}
	}
}

// TestSettingsThatCanNeverWork end a start with a reason, not with a panic.
func TestSettingsThatCanNeverWork(t *testing.T) {
	t.Parallel()
	set := func(objects, key string) *setting.Settings {
		s, err := parseSettings(t, "up", "--database-url", "postgres://u:"+sesame+"@127.0.0.1:1/d", "--redis-url", "redis://127.0.0.1:1",
			"--objects-url", objects, "--signing-key", key, "--public-url", "http://127.0.0.1")
		require.NoError(t, err)
		return s
	}
	long := strings.Repeat("k", 32)
	for _, tc := range []struct{ objects, key, want string }{
		{"file://" + t.TempDir(), "short", "SLIPWAY_SIGNING_KEY must have at least 32 bytes"},
		{"s3://a:" + sesame + "@host/bucket", "abc", "openssl rand -hex 32 makes one"},
		{"file://relative", long, "file:/// and an absolute path"},
		{"s3://a:" + sesame + "@host", long, "needs a host and one bucket"},
		{"s3://host/bucket", long, "no access key"},
		{"ftp://host/bucket", long, "must begin with s3://"},
	} {
		s, err := tier.Open(set(tc.objects, tc.key), slog.New(slog.DiscardHandler), "test")
		require.ErrorContains(t, err, tc.want)
		require.NotContains(t, err.Error(), sesame)
		require.Nil(t, s)
	}
}

// TestAPIWithoutObjects: while the object store is away, reports are accepted, uploads
// are refused with the reason and the time to come again; both work once it is back.
func TestAPIWithoutObjects(t *testing.T) {
	t.Parallel()
	at := addresses{database: servicetest.DatabaseURL(t), redis: servicetest.RedisURL(t), objects: servicetest.Minio(t)}
	_, mend := behind(t, &at.objects, broken)
	r := startTier(t, "api", at)
	db, err := storage.Open(storage.Config{URL: at.database, MaxConns: 2})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	w := &surface{t: t, db: db, base: r.base}
	boot := w.organization("main")
	report := func() *http.Response {
		body := fmt.Sprintf(`{"uuid":%q,"timestamp":1700000000,"lang":"c","langVersion":"1","agent":"t","agentVersion":"1","mainThread":"m","threads":{"m":{"name":"m","fault":true,"stack":[{"funcName":"f"}]}}}`, uuid.New())
		res, err := http.Post(r.base+"/post?format=json&token="+boot.Crash.Token, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		return res
	}
	upload := func() (*http.Response, string) {
		var form bytes.Buffer
		m := multipart.NewWriter(&form)
		require.NoError(t, m.WriteField("team_id", "1"))
		part, err := m.CreateFormFile("file", "app.apk")
		require.NoError(t, err)
		_, err = part.Write(bytes.Repeat([]byte("x"), 1000))
		require.NoError(t, err)
		require.NoError(t, m.Close())
		req, err := http.NewRequest(http.MethodPost, r.base+"/api/v3/builds/upload", &form)
		require.NoError(t, err)
		req.Header.Set("Content-Type", m.FormDataContentType())
		req.Header.Set("X-API-Key", boot.Owner.APIKey)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res, string(text)
	}
	res := report()
	text, _ := io.ReadAll(res.Body)
	res.Body.Close()
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
	refused, body := upload()
	require.Equal(t, http.StatusServiceUnavailable, refused.StatusCode, body)
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
	require.Contains(t, body, "the object store is not available at the moment: not reachable")
	require.NotContains(t, body, "127.0.0.1")
	mend()
	r.awaitHealth("uploads work", func(h health) bool { return h.Capabilities["uploads"].Status == "ok" })
	stored, body := upload()
	require.NotEqual(t, http.StatusServiceUnavailable, stored.StatusCode, body)
	require.Less(t, stored.StatusCode, 500, body)
}
