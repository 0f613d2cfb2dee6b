package appium

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest"
)

// startWait is how long Appium may take to start: node reads some hundred files.
const startWait = 5 * time.Minute

// Server is Appium itself, with its fake driver (the npm packages appium and
// @appium/fake-driver): an app of it is a file of XML, its gestures are only recorded, and
// its screens never change.
type Server struct {
	URL string
	cmd *exec.Cmd
}

// Start starts Appium for a test, with the log in the test's folder.
func Start(t testing.TB) *Server {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(cache, "slipway", "appium")
	program := filepath.Join(home, "node_modules", "appium", "index.js")
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("the npm package appium is missing; install it with: make deps (%v)", err)
	}
	number, err := servicetest.QuietPort()
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(number)
	address := net.JoinHostPort("127.0.0.1", port)
	log, err := os.Create(filepath.Join(t.TempDir(), "appium.log"))
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{URL: "http://" + address, cmd: exec.Command("node", program, "server", "--address", "127.0.0.1",
		"--port", port, "--use-drivers", "fake", "--log-no-colors")}
	s.cmd.Env = append(os.Environ(), "APPIUM_HOME="+home)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Kill(); _ = log.Close() })
	for end := time.Now().Add(startWait); !s.ready(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			text, _ := os.ReadFile(log.Name())
			t.Fatalf("Appium does not start: %s", text)
		}
	}
	return s
}

func (s *Server) ready() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/status", nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// Kill ends the server at once, whatever it does.
func (s *Server) Kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait() // that it was killed
}
