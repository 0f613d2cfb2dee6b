package localservice

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFolderHasOneHolder(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	folder := open(t, dir)
	_, err := Open(dir)
	var locked *LockedError
	require.ErrorAs(t, err, &locked)
	require.Equal(t, os.Getpid(), locked.PID)
	require.ErrorContains(t, err, "in use by process")
	require.NoError(t, folder.Close(t.Context()))
	require.NoError(t, open(t, dir).Close(t.Context()))
}

func TestCtrlCDoesNotReachServers(t *testing.T) {
	t.Parallel()
	dir := seeded(t)
	cmd, servers, lines, release := startParent(t, dir)
	_, err := Open(dir)
	var locked *LockedError
	require.ErrorAs(t, err, &locked)
	require.Equal(t, cmd.Process.Pid, locked.PID)

	require.NoError(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGINT))
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "interrupted\n", line)
	require.Equal(t, 1, query[int](t, servers.Postgres, "select 1"))
	require.NoError(t, redisClient(t, servers.Redis).Ping(t.Context()).Err())
	release()
	require.NoError(t, cmd.Wait())
	require.False(t, isRunning(servers.PostgresPID))
	require.False(t, isRunning(servers.RedisPID))
}

func TestServersEndWithAKilledParent(t *testing.T) {
	t.Parallel()
	dir := seeded(t)
	cmd, servers, _, _ := startParent(t, dir)
	execute(t, servers.Postgres, "create table kept (v int)", "insert into kept values (7)")
	require.NoError(t, cmd.Process.Kill())
	eventually(t, "the kernel ends the servers", func() bool {
		return !isRunning(servers.PostgresPID) && !isRunning(servers.RedisPID)
	})
	_ = cmd.Wait()
	server, err := open(t, dir).Postgres(t.Context(), small)
	require.NoError(t, err)
	require.Equal(t, servers.Postgres, server.URL())
	require.Equal(t, 7, query[int](t, server.URL(), "select v from kept"))
}

func TestOpenSweepsOrphans(t *testing.T) {
	t.Parallel()
	dir := seeded(t)
	cmd, servers, _, _ := startParent(t, dir, orphansVariable+"=1")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.Equal(t, 1, query[int](t, servers.Postgres, "select 1"), "an orphan still serves")
	require.True(t, isRunning(servers.RedisPID))

	// A process with a recorded pid, but another start time, is left alone.
	foreign := exec.Command("sleep", "60")
	require.NoError(t, foreign.Start())
	defer func() { _ = foreign.Process.Kill(); _ = foreign.Wait() }()
	path := filepath.Join(dir, "children.json")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	former, err := parseChildrenFile(data)
	require.NoError(t, err)
	require.Len(t, former.Children, 2)
	start, _ := processStart(foreign.Process.Pid)
	former.Children = append(former.Children, child{Name: "redis", PID: foreign.Process.Pid, Group: foreign.Process.Pid, Start: start - 1})
	data, err = json.Marshal(former)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o600))

	began := time.Now()
	folder := open(t, dir)
	t.Logf("swept after %v", time.Since(began).Round(time.Millisecond))
	require.False(t, isRunning(servers.PostgresPID))
	require.False(t, isRunning(servers.RedisPID))
	require.True(t, isRunning(foreign.Process.Pid))
	server, err := folder.Postgres(t.Context(), small)
	require.NoError(t, err)
	require.Equal(t, 1, query[int](t, server.URL(), "select 1"))
}

func TestCloseBreaksOffAStart(t *testing.T) {
	t.Parallel()
	folder := open(t, scratch(t))
	failed := make(chan error, 1)
	go func() {
		_, err := folder.Postgres(context.Background(), small)
		failed <- err
	}()
	eventually(t, "initdb runs", func() bool {
		folder.mu.Lock()
		defer folder.mu.Unlock()
		return len(folder.children) > 0
	})
	require.NoError(t, folder.Close(t.Context()))
	require.Error(t, <-failed)
	require.NoDirExists(t, filepath.Join(folder.dir, "postgres"))
	// The unfinished data do not prevent the next start.
	_, err := open(t, folder.dir).Postgres(t.Context(), small)
	require.NoError(t, err)
}

func TestForeignPostgresIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := seeded(t)
	cmd, servers, _, _ := startParent(t, dir, orphansVariable+"=1")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	// Without its record it is a server that somebody else started.
	require.NoError(t, os.Remove(filepath.Join(dir, "children.json")))
	_, err := open(t, dir).Postgres(t.Context(), small)
	var foreign *ForeignError
	require.ErrorAs(t, err, &foreign)
	require.Equal(t, servers.PostgresPID, foreign.PID)
	for _, pid := range []int{servers.PostgresPID, servers.RedisPID} {
		require.NoError(t, syscall.Kill(pid, syscall.SIGTERM))
		eventually(t, "it ends", func() bool { return !isRunning(pid) })
	}
}

// The child ignores every signal that it can ignore.
func TestStubbornChildIsKilled(t *testing.T) {
	t.Parallel()
	folder := open(t, scratch(t))
	log := filepath.Join(folder.dir, "stubborn.log")
	p, err := folder.start(command{name: "redis", program: "/bin/sh", folder: folder.dir, log: log,
		args: []string{"-c", `trap "" TERM INT; echo trapped; while :; do sleep 1; done`}})
	require.NoError(t, err)
	eventually(t, "it runs", func() bool { return tail(log, 0, 100) == "trapped\n" })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	killed, err := p.end(ctx)
	require.NoError(t, err)
	require.True(t, killed)
	require.Empty(t, folder.children)
}

func TestParseRosterKeepsOnlyChildren(t *testing.T) {
	t.Parallel()
	r, err := parseChildrenFile([]byte(`{"boot":"b","children":[
		{"name":"a","pid":1,"group":1,"start":5},{"name":"b","pid":-1,"group":-1,"start":5},
		{"name":"c","pid":77,"group":0,"start":5},{"name":"d","pid":77,"group":77,"start":0},
		{"name":"e","pid":77,"group":77,"start":5}]}`))
	require.NoError(t, err)
	require.Equal(t, []child{{Name: "e", PID: 77, Group: 77, Start: 5}}, r.Children)

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "children.json"), []byte("{"), 0o600))
	_, err = Open(dir)
	require.ErrorContains(t, err, "damaged")
}

func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.log")
	require.NoError(t, os.WriteFile(path, []byte("0123456789"), 0o600))
	rotateLog(path, 10)
	require.NoFileExists(t, path+".1")
	rotateLog(path, 4)
	require.Equal(t, "6789", tail(path+".1", 0, 100))
	require.Equal(t, "", tail(path, 0, 100))
}

func TestSecretIsDrawnOnce(t *testing.T) {
	t.Parallel()
	folder := open(t, t.TempDir())
	first, err := folder.secret("x")
	require.NoError(t, err)
	again, err := folder.secret("x")
	require.NoError(t, err)
	require.Equal(t, first, again)
	other, err := folder.secret("y")
	require.NoError(t, err)
	require.NotEqual(t, first, other)
	require.NoError(t, os.WriteFile(filepath.Join(folder.dir, "secrets", "x"), []byte("short"), 0o600))
	_, err = folder.secret("x")
	require.ErrorContains(t, err, "does not hold a password")
}

func FuzzParseRoster(f *testing.F) {
	f.Add([]byte(`{"boot":"b","children":[{"name":"redis","program":"/bin/x","folder":"/d","pid":77,"group":77,"start":5}]}`))
	f.Add([]byte(`{"children":[{"pid":1,"group":1,"start":1},{"pid":-5,"group":-5,"start":1}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := parseChildrenFile(data)
		if err != nil {
			return
		}
		require.LessOrEqual(t, len(r.Children), childrenLimit)
		for _, c := range r.Children {
			require.True(t, c.PID > 1 && c.Group == c.PID && c.Start != 0)
		}
	})
}
