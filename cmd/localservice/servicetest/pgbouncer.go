package servicetest

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// PgBouncer starts a pooler with its default settings before a database, for this test
// alone, and returns the URL by which the database is reached through it. The mode is
// "session" or "transaction".
func PgBouncer(t testing.TB, database, mode string) string {
	t.Helper()
	target, err := url.Parse(database)
	if err != nil {
		t.Fatalf("test pgbouncer: %v", err)
	}
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		t.Fatalf("test pgbouncer: %v (.ci/deps tests installs it)", err)
	}
	password, _ := target.User.Password()
	port := freePort(t)
	text := fmt.Sprintf("[databases]\nslipway = host=%s port=%s dbname=%s user=%s password=%s\n"+
		"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nauth_type = any\nunix_socket_dir =\npool_mode = %s\ndefault_pool_size = 20\n",
		target.Hostname(), target.Port(), target.Path[1:], target.User.Username(), password, port, mode)
	if os.Getuid() == 0 {
		text += "user = nobody\n" // it refuses to run as root
	}
	file := filepath.Join(t.TempDir(), "pgbouncer.ini")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatalf("test pgbouncer: %v", err)
	}
	cmd := exec.Command(program, "-q", file)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatalf("test pgbouncer: %v", err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address := fmt.Sprintf("127.0.0.1:%d", port)
	dialer := net.Dialer{Timeout: time.Second}
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		conn, err := dialer.DialContext(t.Context(), "tcp", address)
		if err == nil {
			conn.Close()
			return (&url.URL{Scheme: "postgres", User: target.User, Host: address, Path: "/slipway"}).String()
		}
		if time.Since(began) > startTimeout {
			t.Fatalf("test pgbouncer: %v", err)
		}
	}
}
