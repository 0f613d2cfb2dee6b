package processtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

// stuck is a deployment with one worker that is in the middle of a task: it
// waits for a group's row, which the test holds.
type stuck struct {
	*cluster
	at     caller
	worker *process
	crash  uuid.UUID // of the report that is being processed
	free   func()    // lets the row go
}

// stickWorker brings a worker into the middle of a task. The variables are those of all
// processes.
func stickWorker(t *testing.T, variables ...string) *stuck {
	t.Helper()
	c := newCluster(t, servicetest.DatabaseURL(t), servicetest.RedisURL(t))
	c.variables = append(c.variables, variables...)
	c.tier(t, "scheduler")
	s := &stuck{cluster: c}
	_, s.at = c.api(t, quietPort(t))
	s.worker, _ = c.tier(t, "worker")
	s.at.post(t, c.token, sample(uuid.New(), "StuckError", "stuck"))
	g := s.at.awaitGroup(t, "StuckError", 1)

	tx, err := c.db.BeginTxx(t.Context(), nil)
	require.NoError(t, err)
	s.free = func() { require.NoError(t, tx.Rollback()) }
	_, err = tx.ExecContext(t.Context(), `select 1 from crash_groups where id = $1 for update`, g.ID)
	require.NoError(t, err)
	s.crash = s.at.post(t, c.token, sample(uuid.New(), "StuckError", "stuck"))
	awaitBlocked(t, c, "crash_groups")
	return s
}

// The task of a batch has the batch's id, which is the crash's with 0 as entry.
func (s *stuck) task() uuid.UUID {
	id := s.crash
	id[15] = 0
	return id
}

func (s *stuck) attempt(t *testing.T) int {
	t.Helper()
	return s.count(t, `select attempt from tasks where id = $1`, s.task())
}

// TestTaskOfADeadWorkerRunsAgain ends a worker in the middle of a task: the
// process, whose connections the system closes, or the whole machine, which
// leaves an open transaction behind. A stopped process looks like the latter.
func TestTaskOfADeadWorkerRunsAgain(t *testing.T) {
	t.Parallel()
	for name, death := range map[string]syscall.Signal{"process": syscall.SIGKILL, "machine": syscall.SIGSTOP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stickWorker(t)
			s.tier(t, "worker") // the one that will take over
			require.NoError(t, s.worker.cmd.Process.Signal(death))
			before := s.attempt(t)
			s.free()
			eventually(t, "the task runs again", func() bool { return s.attempt(t) > before })
			s.at.awaitGroup(t, "StuckError", 2)
			require.Equal(t, 1, s.count(t, `select count(*) from tasks where id = $1 and state = 'succeeded'`, s.task()))
			require.Equal(t, 1, s.count(t, `select count(*) from crashes where id = $1`, s.crash))
		})
	}
}

// TestPausedWorkerDoesNothingTwice pauses a worker in the middle of a task, as a
// machine that is moved does, until another one has taken the task over. When it
// goes on, it holds a claim that is no longer its own.
func TestPausedWorkerDoesNothingTwice(t *testing.T) {
	t.Parallel()
	c := newCluster(t, servicetest.DatabaseURL(t), servicetest.RedisURL(t))
	c.tier(t, "scheduler")
	_, at := c.api(t, quietPort(t))
	id := at.post(t, c.token, sample(uuid.New(), "PausedError", "paused"))
	running := func(attempt int) func() bool {
		return func() bool {
			return c.count(t, `select count(*) from tasks where kind = 'crash:process' and state = 'running' and attempt >= $1`, attempt) == 1
		}
	}
	// The documents cannot be read, so the task waits before its transaction.
	tx, err := c.db.BeginTxx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), `lock table crash_batches in access exclusive mode`)
	require.NoError(t, err)
	paused, _ := c.tier(t, "worker")
	eventually(t, "the first worker has the task", running(1))
	require.NoError(t, paused.cmd.Process.Signal(syscall.SIGSTOP))
	c.tier(t, "worker")
	eventually(t, "the second worker has the task", running(2))
	require.NoError(t, tx.Rollback())
	at.awaitGroup(t, "PausedError", 1)

	require.NoError(t, paused.cmd.Process.Signal(syscall.SIGCONT))
	// It must have come to the end of its attempt before that is judged.
	require.Zero(t, paused.signal(t, syscall.SIGTERM))
	require.Equal(t, 1, c.count(t, `select count(*) from crashes where id = $1`, id))
	require.Equal(t, 1, c.count(t, `select count(*) from tasks where kind = 'crash:process' and state = 'succeeded' and attempt >= 2`))
	require.EqualValues(t, 1, at.awaitGroup(t, "PausedError", 1).Count)
}

// TestStoppedWorkerReturnsItsTasks stops a worker that cannot finish its task in
// the time it has.
func TestStoppedWorkerReturnsItsTasks(t *testing.T) {
	t.Parallel()
	s := stickWorker(t, "SLIPWAY_WORKER_DRAIN=1s", "SLIPWAY_RESCUE_AFTER=5m")
	require.Zero(t, s.worker.signal(t, syscall.SIGTERM), "exit code")
	var task struct {
		State       string `db:"state"`
		Attempt     int    `db:"attempt"`
		MaxAttempts int    `db:"max_attempts"`
	}
	const query = `select state, attempt, max_attempts from tasks where id = $1`
	require.NoError(t, s.db.GetContext(t.Context(), &task, query, s.task()))
	require.Equal(t, "queued", task.State, "given back, not left to the rescue")
	require.Equal(t, 1, task.Attempt)
	left := task.MaxAttempts - task.Attempt
	require.Equal(t, s.count(t, `select max(max_attempts) from tasks where id <> $1 and kind = 'crash:process'`, s.task()), left,
		"the attempt is granted again")

	s.free()
	s.tier(t, "worker")
	s.at.awaitGroup(t, "StuckError", 2)
	require.NoError(t, s.db.GetContext(t.Context(), &task, query, s.task()))
	require.Equal(t, "succeeded", task.State)
	require.Equal(t, 2, task.Attempt)
}

// TestStoppedAPIAnswersWhatItHasBegun stops an api while it reads bodies: each
// of the requests gets its whole answer.
func TestStoppedAPIAnswersWhatItHasBegun(t *testing.T) {
	t.Parallel()
	c := newCluster(t, servicetest.DatabaseURL(t), servicetest.RedisURL(t))
	port := quietPort(t)
	p, api := c.api(t, port)
	const requests = 32
	open := make([]*openRequest, requests)
	for i := range open {
		open[i] = beginRequest(t, port, c.token, sample(uuid.New(), "DrainError", "drain"))
	}
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	eventually(t, "new connections are refused", func() bool {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	ids := map[uuid.UUID]bool{}
	for _, r := range open {
		ids[r.finish(t)] = true
	}
	require.Len(t, ids, requests)
	require.Zero(t, p.wait(t), "exit code")

	// What was answered is durable, and waits for the next processes.
	c.tier(t, "scheduler")
	c.tier(t, "worker")
	_, again := c.api(t, port)
	require.Equal(t, api.base, again.base)
	again.awaitGroup(t, "DrainError", requests)
	for id := range ids {
		require.Equal(t, "processed", again.crash(t, id).State)
	}
}

// TestStopDelay: a stopping api is not ready at once, serves for its delay, and asks for
// other connections; a second signal ends it at once.
func TestStopDelay(t *testing.T) {
	t.Parallel()
	c := newCluster(t, servicetest.DatabaseURL(t), servicetest.RedisURL(t))
	c.variables = append(c.variables, "SLIPWAY_STOP_DELAY=5m")
	p, at := c.api(t, quietPort(t))
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	eventually(t, "503 at /readyz", func() bool { return at.status(t, "/readyz") == http.StatusServiceUnavailable })
	for range 3 {
		client := &http.Client{Transport: &http.Transport{}} // a connection of its own
		req, err := http.NewRequest(http.MethodPost, at.base+"/post?format=json&token="+c.token,
			bytes.NewReader(sample(uuid.New(), "LateError", "late")))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		require.NoError(t, err)
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		res.Body.Close()
		require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
		require.True(t, res.Close, "the connection is not kept")
	}
	var rep struct {
		Checks map[string]struct{ Error string }
	}
	_, text := at.do(t, http.MethodGet, "/readyz?capability=uploads", nil, nil)
	require.NoError(t, json.Unmarshal(text, &rep))
	require.Equal(t, "stopping", rep.Checks["process"].Error)
	require.Equal(t, 130, p.signal(t, syscall.SIGTERM), "the second signal: %s", strings.TrimSpace(p.stderr.String()))
}

// openRequest is a submission whose second half is still to come.
type openRequest struct {
	conn net.Conn
	in   *bufio.Reader
	rest []byte
}

// beginRequest sends headers and half of the body, once the server has said that
// it reads the body.
func beginRequest(t *testing.T, port int, token string, body []byte) *openRequest {
	t.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(longWait)))
	r := &openRequest{conn: conn, in: bufio.NewReader(conn), rest: body[len(body)/2:]}
	_, err = fmt.Fprintf(conn, "POST /post?format=json&token=%s HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n"+
		"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n", token, len(body))
	require.NoError(t, err)
	line, err := r.in.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1 100 Continue\r\n", line)
	_, err = r.in.ReadString('\n')
	require.NoError(t, err)
	_, err = conn.Write(body[:len(body)/2])
	require.NoError(t, err)
	return r
}

// finish sends the rest and reads the answer.
func (r *openRequest) finish(t *testing.T) uuid.UUID {
	t.Helper()
	_, err := r.conn.Write(r.rest)
	require.NoError(t, err)
	res, err := http.ReadResponse(r.in, nil)
	require.NoError(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode, "%s", text)
	return receipt(t, text)
}
