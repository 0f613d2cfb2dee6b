package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/account"
)

type upCommand struct {
	DataDir string `default:"data" env:"SLIPWAY_DATA_DIR" type:"path" help:"Folder for everything that up keeps."`
}

// startTimeout bounds the start of everything; a first start makes a database.
const startTimeout = 2 * time.Minute

// Run starts private servers where no URL is set, then all three tiers, and
// stops them in reverse order.
func (c *upCommand) Run(ctx context.Context, s *settings, log *slog.Logger) (err error) {
	start := time.Now()
	if err := s.bounds(); err != nil {
		return err
	}
	folder, err := localservice.Open(c.DataDir)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		err = errors.Join(err, folder.Close(ctx))
	}()
	starting, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	own, err := startPrivate(starting, folder, s)
	if err != nil {
		return err
	}
	driver, err := startBrowser(starting, folder, s, log)
	if err != nil {
		return err
	}
	if driver != nil {
		defer loop(func(ctx context.Context) { keepBrowser(ctx, folder, driver, log) })()
	}
	listener, err := net.Listen("tcp", s.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	defer listener.Close()
	if s.PublicURL == "" {
		s.PublicURL = "http://" + reachable(listener.Addr())
	}
	if s.AllowPrivateAddresses == nil {
		here := loopback(listener.Addr())
		s.AllowPrivateAddresses = &here
	}
	if err := writeEnvironment(folder.Dir(), s); err != nil {
		return err
	}
	p, err := openParts(starting, s, log, "slipway-up")
	if err != nil {
		return err
	}
	defer p.close()
	if _, err := migrate(starting, s); err != nil {
		return err
	}
	boot, err := bootstrap(starting, p.db, folder.Dir(), s)
	if err != nil {
		return err
	}
	stop, err := p.startAll(listener)
	if err != nil {
		return err
	}
	defer stop()
	shown := own
	if driver != nil {
		shown = append(slices.Clone(own), driver)
	}
	printStarted(boot, folder.Dir(), shown, time.Since(start))

	select {
	case <-ctx.Done():
		fmt.Fprintln(os.Stderr, "stopping: requests and tasks under way come to their end (ctrl-C again ends at once)")
		return nil
	case server := <-anyDone(own):
		return fmt.Errorf("%s ended by itself: %w", server, server.Err())
	case err := <-p.failed:
		return err
	}
}

// startPrivate starts what has no URL and sets the URLs.
func startPrivate(ctx context.Context, folder *localservice.Folder, s *settings) ([]*localservice.Server, error) {
	var own []*localservice.Server
	if s.DatabaseURL == "" {
		pg, err := folder.Postgres(ctx, localservice.PostgresConfig{})
		if err != nil {
			return nil, err
		}
		own = append(own, pg)
		s.DatabaseURL = secret(pg.URL())
	}
	if s.RedisURL == "" {
		redis, err := folder.Redis(ctx, localservice.RedisConfig{})
		if err != nil {
			return nil, err
		}
		own = append(own, redis)
		s.RedisURL = secret(redis.URL())
	}
	if s.ObjectsURL == "" {
		s.ObjectsURL = secret("file://" + (&url.URL{Path: filepath.Join(folder.Dir(), "objects")}).EscapedPath())
	}
	if s.SigningKey == "" {
		key, err := folder.Secret("signing-key")
		if err != nil {
			return nil, err
		}
		s.SigningKey = secret(key)
	}
	return own, nil
}

// anyDone gives the first private server that ends.
func anyDone(servers []*localservice.Server) <-chan *localservice.Server {
	ended := make(chan *localservice.Server, len(servers))
	for _, s := range servers {
		go func() {
			<-s.Done()
			ended <- s
		}()
	}
	return ended
}

// loopback reports whether only this machine reaches the address.
func loopback(addr net.Addr) bool {
	at, err := netip.ParseAddrPort(addr.String())
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// reachable turns an address to listen at into one to call.
func reachable(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// writeEnvironment keeps the addresses of this run as shell variables, so that
// `slipway admin`, or one more worker, can be run beside it.
func writeEnvironment(dir string, s *settings) error {
	var b strings.Builder
	for _, v := range []struct{ name, value string }{
		{"SLIPWAY_DATABASE_URL", string(s.DatabaseURL)}, {"SLIPWAY_REDIS_URL", string(s.RedisURL)},
		{"SLIPWAY_OBJECTS_URL", string(s.ObjectsURL)}, {"SLIPWAY_SIGNING_KEY", string(s.SigningKey)},
		{"SLIPWAY_PUBLIC_URL", s.PublicURL}, {"SLIPWAY_REGION", s.Region},
	} {
		fmt.Fprintf(&b, "%s=%s\n", v.name, shellQuote(v.value))
	}
	return localservice.ReplaceFile(filepath.Join(dir, "environment"), []byte(b.String()), 0o600)
}

// bootstrap makes the first organization and its keys. The file is written and
// synced before the rows, so that no key exists that nobody knows; a start that
// was cut short is completed by the next one.
func bootstrap(ctx context.Context, db *storage.DB, dir string, s *settings) (*account.Bootstrap, error) {
	path := filepath.Join(dir, "bootstrap.json")
	var boot *account.Bootstrap
	raw, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		keys, err := account.NewIssuer(s.Region, nil)
		if err != nil {
			return nil, err
		}
		if boot, err = account.NewBootstrap(keys, s.PublicURL); err != nil {
			return nil, err
		}
		if err := writeBootstrap(path, boot); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, fmt.Errorf("read bootstrap file: %w", err)
	default:
		if err := json.Unmarshal(raw, &boot); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := boot.Check(s.Region); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	if err := db.InTx(ctx, func(tx *storage.Tx) error { return boot.Apply(ctx, tx, s.Region) }); err != nil {
		return nil, err
	}
	boot.BaseURL = s.PublicURL
	return boot, writeBootstrap(path, boot)
}

func writeBootstrap(path string, boot *account.Bootstrap) error {
	doc, err := json.MarshalIndent(boot, "", "  ")
	if err != nil {
		return fmt.Errorf("bootstrap file: %w", err)
	}
	return localservice.ReplaceFile(path, append(doc, '\n'), 0o600)
}

// printStarted says what runs, and how to upload a build and send a first crash. It prints no secret.
func printStarted(boot *account.Bootstrap, dir string, own []*localservice.Server, took time.Duration) {
	fmt.Printf("\nSlipway %s is up after %s\n\n  api        %s\n", version(), took.Round(10*time.Millisecond), boot.BaseURL)
	for _, s := range own {
		fmt.Printf("  %-10s %s\n", "private", s)
	}
	fmt.Printf("  data       %s\n  keys       %s\n  queues     %s/ops/queues (operator's credentials)\n\nUpload a build:\n\n%s\n\nSend a crash:\n\n%s\n\nRead it back:\n\n%s\n\n",
		dir, filepath.Join(dir, "bootstrap.json"), boot.BaseURL, sampleUpload(boot, dir), sampleCrash(boot, dir), sampleRead(boot, dir))
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

// fromBootstrap reads a member of the bootstrap file in the shell of whoever
// copies the line: what is printed ends up in logs and screenshots.
func fromBootstrap(dir, member string) string {
	return fmt.Sprintf(`$(sed -n 's/.*"%s": "\(.*\)".*/\1/p' %s)`, member, shellQuote(filepath.Join(dir, "bootstrap.json")))
}

// shellQuote makes one word of a text for any POSIX shell.
func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
