package localservice

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// parentVariable turns the test binary into a parent that can be killed: it opens
// the named folder, starts servers, prints them as JSON and waits.
const parentVariable = "SLIPWAY_LOCALSERVICE_TEST_PARENT"

// orphansVariable starts the children without a parent-death signal.
const orphansVariable = "SLIPWAY_LOCALSERVICE_TEST_ORPHANS"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentVariable); dir != "" {
		if err := parent(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if dir := seedDir.Load(); dir != nil {
		os.RemoveAll(*dir)
	}
	os.Exit(code)
}

// seedDir is the folder in which makeSeed created the data that seeded copies.
var seedDir atomic.Pointer[string]

var makeSeed = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "localservice-seed-")
	if err != nil {
		return "", err
	}
	seedDir.Store(&dir)
	folder, err := Open(dir)
	if err != nil {
		return "", err
	}
	_, err = folder.Postgres(context.Background(), small)
	return dir, errors.Join(err, folder.Close(context.Background()))
})

// seeded returns a scratch folder with data of PostgreSQL: initdb takes most of
// the time of a first start.
func seeded(t *testing.T) string {
	t.Helper()
	seed, err := makeSeed()
	require.NoError(t, err)
	dir := scratch(t)
	output, err := exec.Command("cp", "-a", seed+"/secrets", seed+"/postgres", dir).CombinedOutput()
	require.NoError(t, err, string(output))
	return dir
}

// running is what the parent prints.
type running struct {
	PostgresPID, RedisPID int
	Postgres, Redis       string
}

func parent(dir string) error {
	interrupts := make(chan os.Signal, 8)
	signal.Notify(interrupts, syscall.SIGINT)
	folder, err := Open(dir)
	if err != nil {
		return err
	}
	folder.noDeathSignal = os.Getenv(orphansVariable) != ""
	if os.Getenv(browserVariable) != "" {
		return browserParent(folder)
	}
	postgres, err := folder.Postgres(context.Background(), PostgresConfig{Ephemeral: true, SharedBuffersMB: 16})
	if err != nil {
		return err
	}
	redis, err := folder.Redis(context.Background(), RedisConfig{})
	if err != nil {
		return err
	}
	encode := json.NewEncoder(os.Stdout)
	if err := encode.Encode(running{postgres.PID(), redis.PID(), postgres.URL(), redis.URL()}); err != nil {
		return err
	}
	<-interrupts
	fmt.Println("interrupted")
	// The test checks the servers now, and closes stdin to end them.
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return folder.Close(context.Background())
}

// startParent runs a parent in a separate process group, as a shell does.
func startParent(t *testing.T, dir string, env ...string) (*exec.Cmd, running, *bufio.Reader, func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), parentVariable+"="+dir), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	require.NoError(t, err)
	var servers running
	require.NoError(t, json.Unmarshal([]byte(line), &servers))
	return cmd, servers, lines, func() { stdin.Close() }
}

func isRunning(pid int) bool {
	_, alive := processStart(pid)
	return alive
}

// eventually polls: a test is not notified of the end of another's child.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, time.Minute, 10*time.Millisecond, what)
}

// scratch returns a data folder; the test fails if it leaves a process there.
func scratch(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() { require.Empty(t, processesBelow(t, dir), "processes left in %s", dir) })
	return dir
}

// processesBelow lists the processes whose working folder is under dir.
func processesBelow(t *testing.T, dir string) (pids []int) {
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	require.NoError(t, err)
	for _, link := range links {
		if at, err := os.Readlink(link); err == nil && strings.HasPrefix(at, dir+"/") {
			pid, _ := strconv.Atoi(strings.Split(link, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

func open(t *testing.T, dir string) *Folder {
	t.Helper()
	folder, err := Open(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, folder.Close(context.Background())) })
	return folder
}

// small is the configuration of PostgreSQL in most tests.
var small = PostgresConfig{Ephemeral: true, SharedBuffersMB: 16}

func query[T any](t *testing.T, url, text string) T {
	t.Helper()
	db, err := sql.Open("postgres", url)
	require.NoError(t, err)
	defer db.Close()
	var value T
	require.NoError(t, db.QueryRow(text).Scan(&value))
	return value
}

func execute(t *testing.T, url string, statements ...string) {
	t.Helper()
	db, err := sql.Open("postgres", url)
	require.NoError(t, err)
	defer db.Close()
	for _, statement := range statements {
		_, err = db.Exec(statement)
		require.NoError(t, err, statement)
	}
}

func redisClient(t *testing.T, url string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	require.NoError(t, err)
	client := redis.NewClient(options)
	t.Cleanup(func() { client.Close() })
	return client
}
