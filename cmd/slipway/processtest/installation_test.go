package processtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/account"
)

// installation is a running `slipway up`.
type installation struct {
	*process
	caller
	dir  string
	boot account.Bootstrap
	took time.Duration // from the start to the printed curl
}

// startUp runs `slipway up` on a folder until it says what it started.
func startUp(t *testing.T, dir string) *installation {
	t.Helper()
	began := time.Now()
	return installed(t, dir, began, start(t, []string{"SLIPWAY_LOG_LEVEL=debug"}, "up", "--data-dir", dir, "--listen", "127.0.0.1:0"))
}

func installed(t *testing.T, dir string, began time.Time, p *process) *installation {
	t.Helper()
	p.await(t, p.stdout, `(?s)Read it back:\n\n[^\n]+\n`)
	in := &installation{process: p, dir: dir, took: time.Since(began)}
	in.endWithTest(t)
	in.read(t)
	return in
}

// endWithTest ends the run and its servers with the test. The servers follow a killed run
// a moment later, and until then they write to the folder that the test is about to
// remove.
func (in *installation) endWithTest(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		children := in.children(t)
		in.kill()
		for _, pid := range children {
			eventually(t, "the private servers end with the run", func() bool { return !alive(pid) })
		}
	})
}

// read reads what the start left in its folder: addresses and keys.
func (in *installation) read(t *testing.T) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(in.dir, "bootstrap.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &in.boot))
	in.caller = caller{base: in.boot.BaseURL, key: in.boot.Owner.APIKey}
}

// variables are the addresses of the run, as DIR/environment holds them.
func (in *installation) variables(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(in.dir, "environment"))
	require.NoError(t, err)
	var list []string
	for line := range strings.Lines(string(raw)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		require.True(t, ok, "%q is no variable", line)
		list = append(list, name+"="+strings.Trim(value, "'"))
	}
	return list
}

// children are the process ids in the folder's children file.
func (in *installation) children(t *testing.T) []int {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(in.dir, "children.json"))
	require.NoError(t, err)
	var file struct {
		Children []struct{ PID int } `json:"children"`
	}
	require.NoError(t, json.Unmarshal(raw, &file))
	var pids []int
	for _, c := range file.Children {
		pids = append(pids, c.PID)
	}
	return pids
}

// checkNoSecrets looks for every secret of the installation in the logs, which
// ran at debug level, and in what was printed.
func checkNoSecrets(t *testing.T, in *installation) {
	t.Helper()
	secrets := map[string]string{"api key": in.boot.Owner.APIKey, "access key": in.boot.Owner.AccessKey,
		"crash token": in.boot.Crash.Token, "operator's password": in.boot.Operator.Password}
	files, err := filepath.Glob(filepath.Join(in.dir, "secrets", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		secrets[filepath.Base(file)] = strings.TrimSpace(string(text))
	}
	logs := map[string]string{"log": in.stderr.String()}
	files, err = filepath.Glob(filepath.Join(in.dir, "log", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		logs[filepath.Base(file)] = string(text)
	}
	require.Contains(t, logs["log"], `"level":"DEBUG"`, "the log is at debug level")
	shown := in.stdout.String()
	for name, value := range secrets {
		require.GreaterOrEqual(t, len(value), 16, name)
		for log, text := range logs {
			require.False(t, strings.Contains(text, value), "%s is in %s", name, log)
		}
		require.False(t, strings.Contains(shown, value), "%s is printed", name)
	}
}

// caller calls the interfaces with an API key.
type caller struct{ base, key string }

// do sends a request and gives status, headers and body.
func (a caller) do(t *testing.T, method, path string, body []byte, change func(*http.Request)) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, a.base+path, bytes.NewReader(body))
	require.NoError(t, err)
	if a.key != "" {
		req.Header.Set("X-API-Key", a.key)
	}
	if change != nil {
		change(req)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, text
}

// get reads a JSON answer of 200.
func (a caller) get(t *testing.T, path string, into any) {
	t.Helper()
	res, text := a.do(t, http.MethodGet, path, nil, nil)
	require.Equal(t, http.StatusOK, res.StatusCode, "GET %s: %s", path, text)
	require.NoError(t, json.Unmarshal(text, into), "GET %s: %s", path, text)
}

// status returns the status of a GET.
func (a caller) status(t *testing.T, path string) int {
	t.Helper()
	res, _ := a.do(t, http.MethodGet, path, nil, nil)
	return res.StatusCode
}

type group struct {
	ID          int64  `json:"id"`
	Title       string `json:"title"`
	Culprit     string `json:"culprit"`
	Classifier  string `json:"classifier"`
	State       string `json:"state"`
	Count       int64  `json:"count"`
	Regressions int    `json:"regressions"`
	Days        []struct {
		Day   string `json:"day"`
		Count int64  `json:"count"`
	} `json:"days"`
}

type attachment struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
	Size int64     `json:"size"`
	URL  string    `json:"url"`
}

type crashReport struct {
	ID         uuid.UUID      `json:"id"`
	GroupID    *int64         `json:"group_id"`
	UUID       uuid.UUID      `json:"uuid"`
	State      string         `json:"state"`
	Message    string         `json:"message"`
	Agent      string         `json:"agent"`
	Host       string         `json:"host"`
	Attributes map[string]any `json:"attributes"`
	Threads    []struct {
		ID     string `json:"id"`
		Frames []struct {
			Function string `json:"function"`
		} `json:"frames"`
	} `json:"threads"`
	Fingerprint *struct {
		Key         string          `json:"key"`
		Explanation json.RawMessage `json:"explanation"`
	} `json:"fingerprint"`
	Attachments []attachment `json:"attachments"`
}

func (a caller) groups(t *testing.T, query string) []group {
	t.Helper()
	var list struct {
		Groups []group `json:"crash_groups"`
	}
	a.get(t, "/api/v3/crash-groups"+query, &list)
	return list.Groups
}

func (a caller) group(t *testing.T, id int64) group {
	t.Helper()
	var one struct {
		Group group `json:"crash_group"`
	}
	a.get(t, fmt.Sprintf("/api/v3/crash-groups/%d", id), &one)
	return one.Group
}

// awaitGroup waits until the group whose title begins so has the count.
func (a caller) awaitGroup(t *testing.T, title string, count int64) group {
	t.Helper()
	var found group
	eventually(t, fmt.Sprintf("group %q with count %d", title, count), func() bool {
		for _, g := range a.groups(t, "") {
			if strings.HasPrefix(g.Title, title) && g.Count >= count {
				found = g
				return true
			}
		}
		return false
	})
	require.Equal(t, count, found.Count, "count of %q", title)
	return found
}

// crashes lists the crashes of a group, newest first.
func (a caller) crashes(t *testing.T, id int64) []crashReport {
	t.Helper()
	var list struct {
		Crashes []crashReport `json:"crashes"`
	}
	a.get(t, fmt.Sprintf("/api/v3/crash-groups/%d/crashes", id), &list)
	return list.Crashes
}

func (a caller) crash(t *testing.T, id uuid.UUID) crashReport {
	t.Helper()
	var one struct {
		Crash crashReport `json:"crash"`
	}
	a.get(t, "/api/v3/crashes/"+id.String(), &one)
	return one.Crash
}

// change sends a PATCH for a group and gives the answered group.
func (a caller) change(t *testing.T, id int64, body string) group {
	t.Helper()
	res, text := a.do(t, http.MethodPatch, fmt.Sprintf("/api/v3/crash-groups/%d", id), []byte(body), func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
	})
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
	var one struct {
		Group group `json:"crash_group"`
	}
	require.NoError(t, json.Unmarshal(text, &one))
	return one.Group
}

// post submits a report and gives the id under which it is kept.
func (a caller) post(t *testing.T, token string, report []byte) uuid.UUID {
	t.Helper()
	res, text := a.do(t, http.MethodPost, "/post?format=json&token="+token, report, func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
	})
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
	return receipt(t, text)
}

// receipt reads the id from the answer to a submission.
func receipt(t *testing.T, text []byte) uuid.UUID {
	t.Helper()
	var ok struct {
		Response string    `json:"response"`
		ID       uuid.UUID `json:"_rxid"`
	}
	require.NoError(t, json.Unmarshal(text, &ok), "%s", text)
	require.Equal(t, "ok", ok.Response)
	require.NotEqual(t, uuid.Nil, ok.ID)
	return ok.ID
}

// sample is a small report: an error of a class, thrown in a function.
func sample(id uuid.UUID, class, function string) []byte {
	doc, err := json.Marshal(map[string]any{
		"uuid": id, "timestamp": time.Now().Unix(), "lang": "python", "langVersion": "3.12",
		"agent": "slipway-test", "agentVersion": "1", "mainThread": "main", "classifiers": []string{class},
		"attributes": map[string]any{"error.message": "it broke", "hostname": "host-1", "application.version": "1.0", "load": class},
		"threads": map[string]any{"main": map[string]any{"name": "main", "fault": true, "stack": []map[string]any{
			{"funcName": function, "library": "work.py", "line": 12}, {"funcName": "main", "library": "work.py", "line": 40}}}},
	})
	if err != nil {
		panic(err) // plain values
	}
	return doc
}
