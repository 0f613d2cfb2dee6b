package up

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/slipway/managed"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/cmd/slipway/version"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// consoleLinkLife is how long the link to the console works.
const consoleLinkLife = 15 * time.Minute

// consoleLink returns an address that opens the console as the owner, once, from this
// machine alone; that of its sign-in where others reach the installation.
func consoleLink(ctx context.Context, db *storage.DB, boot *account.Bootstrap, listen net.Addr) (string, error) {
	if !setting.Loopback(listen) || !setting.LoopbackURL(boot.BaseURL) {
		return boot.BaseURL + frame.Base, nil
	}
	digest, path, err := frame.NewLink(rand.Reader)
	if err != nil {
		return "", err
	}
	err = account.CreateConsoleLink(ctx, db, digest, boot.Organization.ID, boot.Owner.ID, time.Now().Add(consoleLinkLife))
	return boot.BaseURL + path, err
}

// started is what slipway up says when all runs. It has no secret but the link, which ends
// by its first use.
type started struct {
	boot      *account.Bootstrap
	dir       string
	managed   []*localservice.Server
	addresses setting.AddressRule
	link      string
	took      time.Duration
}

// print prints it; people get it short.
func (s started) print(people bool) error {
	if !people {
		_, err := fmt.Print(s.long())
		return err
	}
	if err := os.WriteFile(s.crashScript(), []byte("# Sends a crash to "+s.boot.BaseURL+".\n"+sampleCrash(s.boot, s.dir)+"\n"),
		0o600); err != nil {
		return err
	}
	_, err := fmt.Print(s.short())
	return err
}

// crashScript is the file whose run sends a first crash.
func (s started) crashScript() string { return filepath.Join(s.dir, "send-crash.sh") }

// once says how long the link works, where it is one that does so once.
func (s started) once() string {
	if !strings.Contains(s.link, frame.Base+"/open/") {
		return ""
	}
	return fmt.Sprintf("(signs in the owner; once, within %d minutes, on this machine)", int(consoleLinkLife.Minutes()))
}

// short is for people at a terminal: what runs, the link, and three things to try.
func (s started) short() string {
	running := []string{"api", "worker", "scheduler"}
	for _, server := range s.managed {
		name, _, _ := strings.Cut(server.String(), " ")
		running = append(running, name)
	}
	console := s.boot.BaseURL + frame.Base
	return fmt.Sprintf(`
Slipway is up after %.1f s: %s.

  Open the console   %s
                     %s
Three things to try:

  1. Write a test    say in a sentence what it does: %s/tests/generate
  2. Share a build   drop an .apk or .ipa: %s/builds/upload
  3. Read a crash    send one by: sh %s
                     and read it: %s/crashes

  Data in %s, keys in %s. ctrl-C stops all.

`, s.took.Seconds(), strings.Join(running, ", "), s.link, s.once(), console, console, managed.ShellQuote(s.crashScript()), console,
		s.dir, filepath.Join(s.dir, "bootstrap.json"))
}

// long is for logs and scripts: the addresses, and how to upload a build and send a first
// crash.
func (s started) long() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nSlipway %s is up after %s\n\n  console    %s\n", version.Short(), s.took.Round(10*time.Millisecond), s.link)
	if once := s.once(); once != "" {
		fmt.Fprintf(&b, "             %s\n", once)
	}
	fmt.Fprintf(&b, "  api        %s\n", s.boot.BaseURL)
	for _, server := range s.managed {
		fmt.Fprintf(&b, "  %-10s %s\n", "managed", server)
	}
	fmt.Fprintf(&b, "  %-10s private networks and this machine are %s\n", "addresses", s.addresses)
	fmt.Fprintf(&b, "  data       %s\n  keys       %s\n  queues     %s%s/operate/queues (operator's credentials)\n\nUpload a build:\n\n%s\n\nSend a crash:\n\n%s\n\nRead it back:\n\n%s\n\n",
		s.dir, filepath.Join(s.dir, "bootstrap.json"), s.boot.BaseURL, frame.Base, sampleUpload(s.boot, s.dir),
		sampleCrash(s.boot, s.dir), sampleRead(s.boot, s.dir))
	return b.String()
}

func sampleCrash(boot *account.Bootstrap, dir string) string {
	return fmt.Sprintf(`  TOKEN=%s
  curl -s %s"$TOKEN" -H 'Content-Type: application/json' -d '{
    "uuid": "'$(cat /proc/sys/kernel/random/uuid)'", "timestamp": '$(date +%%s)',
    "lang": "python", "langVersion": "3.11", "agent": "curl", "agentVersion": "1",
    "mainThread": "main", "classifiers": ["ZeroDivisionError"],
    "attributes": {"error.message": "division by zero", "hostname": "'$(hostname)'"},
    "threads": {"main": {"fault": true, "stack": [
      {"funcName": "average", "library": "stats.py", "line": 12},
      {"funcName": "report", "library": "stats.py", "line": 40}]}}}'`,
		fromBootstrap(dir, "token"), managed.ShellQuote(boot.BaseURL+"/post?format=json&token="))
}

func sampleUpload(boot *account.Bootstrap, dir string) string {
	return fmt.Sprintf(`  API_KEY=%s
  curl -s %s -F file=@app.apk -F api_key="$API_KEY"`, fromBootstrap(dir, "api_key"), managed.ShellQuote(boot.BaseURL+"/api/upload"))
}

func sampleRead(boot *account.Bootstrap, dir string) string {
	return fmt.Sprintf(`  API_KEY=%s
  curl -s %s -H "X-API-Key: $API_KEY"`, fromBootstrap(dir, "api_key"), managed.ShellQuote(boot.BaseURL+"/api/v3/crash-groups"))
}

// fromBootstrap returns shell text that reads a member of the bootstrap file. The
// member itself is not printed: output ends up in logs and screenshots.
func fromBootstrap(dir, member string) string {
	return fmt.Sprintf(`$(sed -n 's/.*"%s": "\(.*\)".*/\1/p' %s)`, member, managed.ShellQuote(filepath.Join(dir, "bootstrap.json")))
}
