package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/api/console/frame"
	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

// consoleLinkLife is how long the link to the console works.
const consoleLinkLife = 15 * time.Minute

// consoleLink returns an address that opens the console as the owner, once, from this
// machine alone; that of its sign-in where others reach the installation.
func consoleLink(ctx context.Context, db *storage.DB, boot *account.Bootstrap, listen net.Addr) (string, error) {
	if !loopback(listen) || !loopbackURL(boot.BaseURL) {
		return boot.BaseURL + frame.Base, nil
	}
	digest, path, err := frame.NewLink(rand.Reader)
	if err != nil {
		return "", err
	}
	err = account.CreateConsoleLink(ctx, db, digest, boot.Organization.ID, boot.Owner.ID, time.Now().Add(consoleLinkLife))
	return boot.BaseURL + path, err
}

// printStarted prints what runs, where the console is, and how to upload a build and send a
// first crash. It prints no secret but the link, which ends by its first use.
func printStarted(boot *account.Bootstrap, dir string, managed []*localservice.Server, addresses addressRule, link string, took time.Duration) {
	fmt.Printf("\nSlipway %s is up after %s\n\n  console    %s\n", version(), took.Round(10*time.Millisecond), link)
	if strings.Contains(link, frame.Base+"/open/") {
		fmt.Printf("             (signs in the owner; once, within %d minutes, on this machine)\n", int(consoleLinkLife.Minutes()))
	}
	fmt.Printf("  api        %s\n", boot.BaseURL)
	for _, s := range managed {
		fmt.Printf("  %-10s %s\n", "managed", s)
	}
	fmt.Printf("  %-10s private networks and this machine are %s\n", "addresses", addresses)
	fmt.Printf("  data       %s\n  keys       %s\n  queues     %s%s/operate/queues (operator's credentials)\n\nUpload a build:\n\n%s\n\nSend a crash:\n\n%s\n\nRead it back:\n\n%s\n\n",
		dir, filepath.Join(dir, "bootstrap.json"), boot.BaseURL, frame.Base, sampleUpload(boot, dir), sampleCrash(boot, dir), sampleRead(boot, dir))
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
		fromBootstrap(dir, "token"), shellQuote(boot.BaseURL+"/post?format=json&token="))
}

func sampleUpload(boot *account.Bootstrap, dir string) string {
	return fmt.Sprintf(`  API_KEY=%s
  curl -s %s -F file=@app.apk -F api_key="$API_KEY"`, fromBootstrap(dir, "api_key"), shellQuote(boot.BaseURL+"/api/upload"))
}

func sampleRead(boot *account.Bootstrap, dir string) string {
	return fmt.Sprintf(`  API_KEY=%s
  curl -s %s -H "X-API-Key: $API_KEY"`, fromBootstrap(dir, "api_key"), shellQuote(boot.BaseURL+"/api/v3/crash-groups"))
}

// fromBootstrap returns shell text that reads a member of the bootstrap file. The
// member itself is not printed: output ends up in logs and screenshots.
func fromBootstrap(dir, member string) string {
	return fmt.Sprintf(`$(sed -n 's/.*"%s": "\(.*\)".*/\1/p' %s)`, member, shellQuote(filepath.Join(dir, "bootstrap.json")))
}
