// Package servicetest connects tests to real services: PostgreSQL with a migrated
// database for each test, Redis with a logical database for each test, and MinIO
// with a bucket for each test.
//
//	func TestMain(m *testing.M) { os.Exit(servicetest.Main(m)) }
//
//	func TestX(t *testing.T) { db := servicetest.DB(t) }
//
// A whole run (.ci/test) has one server of each kind: the program serve in this
// folder starts them, and environment variables lead the test binaries to them.
// Where these are not set (`go test ./storage/run`), a test binary starts a server
// when the first of its tests needs it, and Main ends it.
//
// The servers keep nothing safe: no fsync, and the data are removed at the end.
// What a killed test binary leaves in them goes with them. A test that empties
// or stops a whole server starts one for itself (RedisServer, or localservice).
//
// A missing program fails the test with the line that installs it; nothing is
// skipped.
package servicetest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
)

// The variables that name the servers of a whole run. They have no SLIPWAY_ in
// front: the program refuses variables of that prefix that it does not know, and
// inherits these from the tests that start it.
const (
	postgresVariable = "TEST_POSTGRES_URL" // as a role that may create databases
	redisVariable    = "TEST_REDIS_URL"
	minioVariable    = "TEST_MINIO_URL" // without a bucket
)

// startTimeout bounds the start and the end of servers.
const startTimeout = 5 * time.Minute

// binary holds the servers of this test binary.
var binary struct {
	postgres, redis, minio server

	mu     sync.Mutex
	folder *localservice.Folder // of the servers that this binary started
	dir    string
}

// server is one of the run, or is started when it is first needed.
type server struct {
	once sync.Once
	url  string
	err  error
}

// starter starts a server in a folder and prepares it for tests.
type starter func(context.Context, *localservice.Folder) (*localservice.Server, error)

func (s *server) address(variable string, start starter) (string, error) {
	s.once.Do(func() {
		if s.url = os.Getenv(variable); s.url != "" {
			return
		}
		var folder *localservice.Folder
		if folder, s.err = ownFolder(); s.err != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		var started *localservice.Server
		if started, s.err = start(ctx, folder); s.err == nil {
			s.url = started.URL()
		}
	})
	return s.url, s.err
}

// ownFolder returns the folder of the servers that this binary starts.
func ownFolder() (*localservice.Folder, error) {
	binary.mu.Lock()
	defer binary.mu.Unlock()
	if binary.folder != nil {
		return binary.folder, nil
	}
	dir, err := MakeFolder()
	if err != nil {
		return nil, err
	}
	binary.dir = dir
	binary.folder, err = localservice.Open(dir)
	return binary.folder, err
}

// Main runs the tests of a package and then ends the servers that they started.
// It returns the exit code.
func Main(m *testing.M) int {
	code := m.Run()
	if binary.folder != nil {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		if err := binary.folder.Close(ctx); err != nil {
			fmt.Fprintln(os.Stderr, "end test services:", err)
		}
	}
	if binary.dir != "" {
		_ = os.RemoveAll(binary.dir)
	}
	return code
}

// Start starts the servers of a whole run and returns them with the variables
// ("NAME=value") that lead test binaries to them. Closing the folder ends them.
func Start(ctx context.Context, folder *localservice.Folder) (servers []*localservice.Server, variables []string, err error) {
	for _, kind := range []struct {
		variable string
		start    starter
	}{
		{postgresVariable, startPostgres},
		{redisVariable, startRedis},
		{minioVariable, startMinio},
	} {
		s, err := kind.start(ctx, folder)
		if err != nil {
			return nil, nil, err
		}
		servers, variables = append(servers, s), append(variables, kind.variable+"="+s.URL())
	}
	return servers, variables, nil
}

// uniqueName returns a name that no other test of the run has: binaries run side
// by side, and the number of a process returns.
func uniqueName() string { return strings.ToLower(rand.Text()) }

// withPath replaces the path of a server's URL: its database or bucket.
func withPath(raw, path string) string {
	u, _ := url.Parse(raw) // written by localservice
	u.Path = "/" + path
	return u.String()
}
