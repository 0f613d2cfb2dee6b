package processtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

// gate is a way to PostgreSQL that can end behind a commit: the answer to that of the first
// transaction after arm in which a word occurs does not come through.
type gate struct {
	to, url   string
	committed chan struct{} // closed when there is such a commit

	word atomic.Pointer[string]
	mu   sync.Mutex
	open []net.Conn
}

// committed is the end of what PostgreSQL responds to a commit, or to a statement that is a
// transaction by itself: the tag of the command, and that no transaction is open.
var committed = regexp.MustCompile(`C\x00\x00\x00[\x08-\x20](?:COMMIT|INSERT|SELECT|UPDATE)[ 0-9]*\x00Z\x00\x00\x00\x05I`)

func newGate(t *testing.T, database string) *gate {
	t.Helper()
	u, err := url.Parse(database)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := &gate{to: u.Host, committed: make(chan struct{})}
	u.Host = listener.Addr().String()
	g.url = u.String()
	t.Cleanup(func() { _ = listener.Close(); g.cut() })
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", g.to)
			if err != nil {
				_ = from.Close()
				continue
			}
			g.mu.Lock()
			g.open = append(g.open, from, to)
			g.mu.Unlock()
			g.pass(from, to)
		}
	}()
	return g
}

// arm waits for the commit of a transaction with a word in its statements.
func (g *gate) arm(word string) { g.word.Store(&word) }

// cut ends all connections; new ones pass.
func (g *gate) cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.open {
		_ = c.Close()
	}
	g.open = nil
}

// pass copies between a client and the server until one of them ends, or the gate holds
// the answer to the commit.
func (g *gate) pass(client, server net.Conn) {
	var marked atomic.Bool
	go func() {
		defer server.Close()
		copyUntil(server, client, func(sent []byte) bool {
			if word := g.word.Load(); word != nil && bytes.Contains(sent, []byte(*word)) {
				marked.Store(true)
			}
			return false
		})
	}()
	go func() {
		held := copyUntil(client, server, func(received []byte) bool {
			return marked.Load() && committed.Match(received) && g.word.Swap(nil) != nil
		})
		if held {
			close(g.committed)
			return // the connection stays, and is silent
		}
		_ = client.Close()
	}()
}

// copyUntil copies what comes until look says so of it, which is then not copied. Look sees
// the end of what came before as well.
func copyUntil(to io.Writer, from io.Reader, look func([]byte) bool) bool {
	const before = 64
	buffer := make([]byte, before+64<<10)
	kept := 0
	for {
		n, err := from.Read(buffer[kept:])
		if n > 0 {
			if look(buffer[:kept+n]) {
				return true
			}
			if _, err := to.Write(buffer[kept : kept+n]); err != nil {
				return false
			}
			tail := min(before, kept+n)
			copy(buffer, buffer[kept+n-tail:kept+n])
			kept = tail
		}
		if err != nil {
			return false
		}
	}
}

// TestNothingIsLostBehindACommit ends an api, or its connection to the database, when a
// report is committed and nobody has heard of it: it is stored once, whatever the client
// sends again.
func TestNothingIsLostBehindACommit(t *testing.T) {
	t.Parallel()
	for name, killed := range map[string]bool{"the api is killed": true, "the connection ends": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := servicetest.DatabaseURL(t)
			c := newCluster(t, database, servicetest.RedisURL(t))
			c.tier(t, "scheduler")
			c.tier(t, "worker")
			g := newGate(t, database)
			through := *c
			through.variables = append(slices.Clone(c.variables), "SLIPWAY_DATABASE_URL="+g.url)
			port := quietPort(t)
			p, at := through.api(t, port)
			id := uuid.New()
			body := sample(id, "CommitError", "behind")
			g.arm("crash_uuids")
			answered := make(chan int, 1)
			go func() { answered <- at.send(c.token, body) }()
			select {
			case <-g.committed:
			case status := <-answered:
				t.Fatalf("%d before the commit", status)
			case <-time.After(longWait):
				t.Fatal("the report was not committed")
			}
			require.Equal(t, 1, c.count(t, `select count(*) from crash_uuids where uuid = $1`, id))
			if killed {
				p.kill()
				require.Zero(t, <-answered, "the client heard nothing")
				_, at = c.api(t, port)
				require.Equal(t, http.StatusBadRequest, at.send(c.token, body), "it is known")
			} else {
				g.cut()
				require.Equal(t, http.StatusOK, <-answered, "the api has looked whether it is there")
			}
			at.awaitGroup(t, "CommitError", 1)
			require.Equal(t, 1, c.count(t, `select count(*) from crashes where uuid = $1`, id))
		})
	}
}

// send submits a report and returns the status, 0 when the connection ended. A report that
// is known already is 400, with a code of its own.
func (a caller) send(token string, report []byte) int {
	res, err := http.Post(a.base+"/post?format=json&token="+token, "application/json", bytes.NewReader(report))
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	var refusal struct {
		Error struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	if json.NewDecoder(res.Body).Decode(&refusal) != nil {
		return 0
	}
	if res.StatusCode == http.StatusBadRequest && refusal.Error.Code != 4 {
		return -refusal.Error.Code
	}
	return res.StatusCode
}
