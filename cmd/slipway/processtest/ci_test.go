package processtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// pipeline runs the commands of a CI job against an installation.
type pipeline struct {
	*installation
	t    *testing.T
	dir  string
	env  []string
	line *line // between the job and the server
}

// TestPipeline plays what a CI job does with the program, against a real server.
func TestPipeline(t *testing.T) {
	t.Parallel()
	in := startUp(t, t.TempDir())
	p := &pipeline{installation: in, t: t, dir: t.TempDir(), line: newLine(t, in.base)}
	p.env = []string{"SLIPWAY_SERVER=" + p.line.url, "SLIPWAY_KEY=" + in.boot.Owner.APIKey}
	p.put("/api/v3/settings/organization", `{"generic_files":true}`)
	for _, step := range []struct {
		name string
		run  func(*pipeline)
	}{
		{"status", (*pipeline).status}, {"upload", (*pipeline).upload}, {"the same job again", (*pipeline).again},
		{"a killed job", (*pipeline).killed},
		{"a line that breaks", (*pipeline).broken}, {"two jobs", (*pipeline).together}, {"symbols", (*pipeline).symbols},
		{"crashes", (*pipeline).crashes},
	} {
		if !t.Run(step.name, func(t *testing.T) {
			now := *p
			now.t = t
			step.run(&now)
		}) {
			return
		}
	}
	require.Zero(t, in.signal(t, os.Interrupt))
	checkNoSecrets(t, in)
}

func (p *pipeline) put(path, body string) {
	p.t.Helper()
	res, text := p.do(p.t, http.MethodPut, path, []byte(body), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
	require.Equal(p.t, http.StatusOK, res.StatusCode, "%s", text)
}

// ci runs a line.
func (p *pipeline) ci(env []string, args ...string) result {
	p.t.Helper()
	r := command(p.t, append(append([]string{}, p.env...), env...), append([]string{"ci"}, args...)...)
	require.NotContains(p.t, r.stdout+r.stderr, p.boot.Owner.APIKey)
	return r
}

// document runs a line that must end well, and reads what it prints.
func (p *pipeline) document(into any, env []string, args ...string) {
	p.t.Helper()
	r := p.ci(env, append(args, "--json")...)
	require.Zero(p.t, r.code, "%v: %s", args, r.stderr)
	require.NoError(p.t, json.Unmarshal([]byte(r.stdout), into), r.stdout)
}

// job are the variables of a run of GitHub Actions.
func job(run string) []string {
	return []string{"GITHUB_ACTIONS=true", "GITHUB_SHA=c0ffee", "GITHUB_REF_NAME=main", "GITHUB_SERVER_URL=https://github.com",
		"GITHUB_REPOSITORY=acme/shop",
		"GITHUB_RUN_ID=" + run, "GITHUB_JOB=build"}
}

func (p *pipeline) status() {
	r := p.ci(nil, "status")
	require.Zero(p.t, r.code, r.stderr)
	require.Contains(p.t, r.stdout, "builds.upload")
	require.Contains(p.t, r.stdout, "(SLIPWAY_KEY)")
	r = p.ci([]string{"SLIPWAY_KEY=slp_wrong"}, "status")
	require.Equal(p.t, 5, r.code, r.stderr)
	require.Contains(p.t, r.stderr, "401")
}

// ciUploads is the document of `upload`.
type ciUploads struct {
	Uploads []struct {
		BuildID      string   `json:"build_id"`
		SHA256       string   `json:"sha256"`
		Verification string   `json:"verification"`
		Warnings     []string `json:"warnings"`
		Build        *struct {
			Verification string            `json:"verification"`
			Metadata     map[string]string `json:"metadata"`
			ReleaseNotes string            `json:"release_notes"`
		} `json:"build"`
	} `json:"uploads"`
}

func (p *pipeline) write(name string, content []byte) (path, digest string) {
	p.t.Helper()
	path = filepath.Join(p.dir, name)
	require.NoError(p.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(p.t, os.WriteFile(path, content, 0o600))
	sum := sha256.Sum256(content)
	return path, hex.EncodeToString(sum[:])
}

func (p *pipeline) upload() {
	path, digest := p.write("Shop.ipa", newIPA(p.t, "com.example.shop", "1.4.2", "142"))
	r := p.ci(job("1"), "upload", path, "--wait", "--channel", "beta", "--notes", "faster", "--json")
	require.Equal(p.t, 1, r.code, r.stderr)
	require.Contains(p.t, r.stderr, "the signature does not hold: ", "no device installs it")
	require.Equal(p.t, 1, strings.Count(r.stderr, "No provisioning profile"), "said once")
	var got ciUploads
	require.NoError(p.t, json.Unmarshal([]byte(r.stdout), &got), r.stdout)
	up := got.Uploads[0]
	require.Equal(p.t, digest, up.SHA256)
	require.Equal(p.t, "failed", up.Build.Verification)
	require.Equal(p.t, "faster", up.Build.ReleaseNotes)
	require.Equal(p.t, map[string]string{"channel": "beta", "commit": "c0ffee", "branch": "main",
		"ci_url": "https://github.com/acme/shop/actions/runs/1"}, up.Build.Metadata)
	program, _ := p.write("shop.exe", []byte("MZ"))
	r = p.ci(job("1"), "upload", program, "--platform", "Windows", "--wait")
	require.Zero(p.t, r.code, r.stderr)
	require.Contains(p.t, r.stdout, "inspected, signature unchecked")
	r = p.ci(nil, "open", "build", "1.4.2", "--app", "com.example.shop")
	require.Zero(p.t, r.code, r.stderr)
	require.Equal(p.t, p.line.url+"/console/builds/builds/"+up.BuildID+"\n", r.stdout)

	empty, _ := p.write("empty.apk", nil)
	r = p.ci(nil, "upload", empty)
	require.Equal(p.t, 2, r.code)
	require.Contains(p.t, r.stderr, "it has 0 bytes")
	text, _ := p.write("notes.apk", []byte("no package"))
	p.put("/api/v3/settings/organization", `{"generic_files":false}`)
	r = p.ci(nil, "upload", text)
	require.Equal(p.t, 1, r.code, "the server refuses the file: %s", r.stderr)
	require.Contains(p.t, r.stderr, "400")
	p.put("/api/v3/settings/organization", `{"generic_files":true}`)
}

func (p *pipeline) again() {
	path, _ := p.write("Shop.ipa", newIPA(p.t, "com.example.shop", "1.5", "150"))
	var first, second, third ciUploads
	p.document(&first, job("2"), "upload", path)
	p.document(&second, job("2"), "upload", path)
	p.document(&third, job("3"), "upload", path)
	require.Equal(p.t, first.Uploads[0].BuildID, second.Uploads[0].BuildID, "the same run")
	require.NotEqual(p.t, first.Uploads[0].BuildID, third.Uploads[0].BuildID, "another run")
}

// large is a file of ten parts.
func (p *pipeline) large(seed byte) (path, digest string, size int64) {
	content := make([]byte, 10*leastPart-12345)
	source := rand.NewChaCha8([32]byte{seed})
	_, _ = source.Read(content)
	path, digest = p.write(fmt.Sprintf("large-%d.exe", seed), content)
	return path, digest, int64(len(content))
}

// leastPart is the least size of a part (api/upload/resumable), aside what a request has besides.
const (
	leastPart = 16 << 20
	aside     = 1 << 20
)

// killed ends the program at 60 % and runs the same line again: only the parts that were on their
// way, one in sending and one without an answer, are sent twice.
func (p *pipeline) killed() {
	path, digest, size := p.large(1)
	arguments := []string{"ci", "upload", path, "--platform", "Windows", "--part-threshold", "1MB", "--json"}
	p.line.sent.Store(0)
	cmd := exec.Command(binary, arguments...)
	cmd.Env = environment(append(append([]string{}, p.env...), job("4")...))
	reached, killed := make(chan struct{}), make(chan struct{})
	var once sync.Once
	wait := func(sent int64) { // it must not come to its end before
		if sent > size*6/10 {
			once.Do(func() { close(reached) })
			<-killed
		}
	}
	p.line.after.Store(&wait)
	require.NoError(p.t, cmd.Start())
	select {
	case <-reached:
	case <-time.After(longWait):
		require.Fail(p.t, "60 % are not sent")
	}
	require.NoError(p.t, cmd.Process.Kill())
	require.Error(p.t, cmd.Wait())
	p.line.after.Store(nil)
	close(killed)
	eventually(p.t, "its connections end", func() bool { return p.line.open.Load() == 0 })
	var got ciUploads
	p.document(&got, job("4"), arguments[1:len(arguments)-1]...)
	require.Equal(p.t, digest, got.Uploads[0].SHA256)
	require.Less(p.t, p.line.sent.Load(), size+2*leastPart+aside, "at most the parts that were on their way")
}

// broken cuts each connection in the middle of the file, and lets nobody in for a while.
func (p *pipeline) broken() {
	path, digest, size := p.large(2)
	p.line.sent.Store(0)
	var once sync.Once
	cut := func(sent int64) {
		if sent > size/2 {
			once.Do(func() { p.line.cut(6) })
		}
	}
	p.line.after.Store(&cut)
	defer p.line.after.Store(nil)
	var got ciUploads
	p.document(&got, job("5"), "upload", path, "--platform", "Windows", "--part-threshold", "1MB")
	require.Equal(p.t, digest, got.Uploads[0].SHA256)
	require.Less(p.t, p.line.sent.Load(), size+leastPart+aside)
}

// together are two jobs with one key at the same time: one build.
func (p *pipeline) together() {
	path, digest, _ := p.large(3)
	results := make([]result, 2)
	var jobs sync.WaitGroup
	for i := range results {
		jobs.Go(func() {
			results[i] = command(p.t, append(append([]string{}, p.env...), job("6")...), "ci", "upload", path, "--platform",
				"Windows", "--part-threshold", "1MB", "--json")
		})
	}
	jobs.Wait()
	var ids []string
	for _, r := range results {
		require.Zero(p.t, r.code, r.stderr)
		var got ciUploads
		require.NoError(p.t, json.Unmarshal([]byte(r.stdout), &got))
		require.Equal(p.t, digest, got.Uploads[0].SHA256)
		ids = append(ids, got.Uploads[0].BuildID)
	}
	require.Equal(p.t, ids[0], ids[1])
}

func (p *pipeline) symbols() {
	p.write("web/app.js", []byte("let a=1\n//# sourceMappingURL=app.js.map\n"))
	p.write("web/app.js.map", []byte(`{"version":3,"file":"app.js","sources":["app.ts"],"names":[],"mappings":"AAAA"}`))
	p.write("mapping/mapping.txt", []byte(lateMapping))
	web, mapping := filepath.Join(p.dir, "web"), filepath.Join(p.dir, "mapping")
	type files struct {
		Files []struct{ Name, State string } `json:"files"`
	}
	var first, second files
	p.document(&first, nil, "symbols", "upload", web, mapping, "--inject-debug-ids", "--wait")
	require.Len(p.t, first.Files, 3)
	for _, f := range first.Files {
		require.Equal(p.t, "sent", f.State, f.Name)
	}
	p.line.sent.Store(0)
	p.document(&second, nil, "symbols", "upload", web, mapping, "--wait")
	for _, f := range second.Files {
		require.Equal(p.t, "known", f.State, f.Name)
	}
	none := filepath.Join(p.dir, "none")
	require.NoError(p.t, os.MkdirAll(none, 0o755))
	r := p.ci(nil, "symbols", "upload", none)
	require.Equal(p.t, 1, r.code)
	require.Contains(p.t, r.stderr, "there are no symbol files in it")
}

func (p *pipeline) crashes() {
	r := p.ci(nil, "crashes", "--app-version", "7.7.7", "--fail-on", "new")
	require.Zero(p.t, r.code, r.stderr)
	report := strings.Replace(string(sample(uuid.New(), "PipelineError", "in_pipeline")), `"application.version":"1.0"`,
		`"application.version":"7.7.7"`, 1)
	require.Contains(p.t, report, "7.7.7")
	p.post(p.t, p.boot.Crash.Token, []byte(report))
	p.awaitGroup(p.t, "PipelineError", 1)
	r = p.ci(nil, "crashes", "--app-version", "7.7.7", "--fail-on", "new")
	require.Equal(p.t, 1, r.code, r.stderr)
	require.Contains(p.t, r.stdout, "PipelineError")
	require.Contains(p.t, r.stderr, "version 7.7.7 has 1 new crash groups")
}

// line is a connection to the server that counts what is sent, and can be cut.
type line struct {
	url    string
	server string
	sent   atomic.Int64
	open   atomic.Int64
	refuse atomic.Int64 // connections that are closed at once
	after  atomic.Pointer[func(sent int64)]

	mu    sync.Mutex
	conns map[net.Conn]bool
}

func newLine(t *testing.T, server string) *line {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	s := &line{url: "http://" + l.Addr().String(), server: strings.TrimPrefix(server, "http://"), conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		l.Close()
		s.cut(0)
	})
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(from)
		}
	}()
	return s
}

// cut closes all connections, and the next ones as they come.
func (s *line) cut(next int64) {
	s.refuse.Store(next)
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Close()
	}
}

func (s *line) hold(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns[c] = true
}

func (s *line) drop(c net.Conn) {
	_ = c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

func (s *line) serve(from net.Conn) {
	s.open.Add(1)
	defer s.open.Add(-1)
	s.hold(from)
	defer s.drop(from)
	if s.refuse.Add(-1) >= 0 {
		return
	}
	to, err := net.Dial("tcp4", s.server)
	if err != nil {
		return
	}
	s.hold(to)
	defer s.drop(to)
	go func() {
		_, _ = io.Copy(from, to)
		s.drop(from)
	}()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
			sent := s.sent.Add(int64(n))
			if after := s.after.Load(); after != nil {
				(*after)(sent)
			}
		}
		if err != nil {
			return
		}
	}
}
