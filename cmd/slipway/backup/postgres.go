package backup

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/cmd/localservice"
)

// clientProgram is pg_dump or pg_restore, as it was found.
type clientProgram struct {
	path  string
	major int
}

// programVersion reads "pg_dump (PostgreSQL) 17.5 (Debian 17.5-1)".
var programVersion = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// findClient returns a program of PostgreSQL of at least that major version: an older
// pg_dump refuses a newer server, and an older pg_restore a newer dump.
func findClient(ctx context.Context, name string, least int) (clientProgram, error) {
	var paths []string
	if server, err := localservice.Find(localservice.PostgreSQL); err == nil {
		paths = append(paths, filepath.Join(filepath.Dir(server.Path), name))
	}
	if path, err := exec.LookPath(name); err == nil {
		paths = append(paths, path)
	}
	older := 0
	for _, path := range paths {
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		found := programVersion.FindSubmatch(out)
		if err != nil || found == nil {
			continue
		}
		major, _ := strconv.Atoi(string(found[1]))
		if major >= least {
			return clientProgram{path, major}, nil
		}
		older = max(older, major)
	}
	if older > 0 {
		return clientProgram{}, fmt.Errorf("%s is of version %d, and must be of version %d or newer: install postgresql-client-%[3]d",
			name, older, least)
	}
	return clientProgram{}, fmt.Errorf("%s is not installed: install postgresql-client-%d, or a newer one", name, least)
}

// run executes the program on a database. The address and the password are in its
// environment, never on the command line.
func (p clientProgram) run(ctx context.Context, database string, args ...string) error {
	environment, err := postgresEnvironment(database)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, p.path, append(args, "--no-password")...)
	cmd.Env = environment
	for _, keep := range []string{"PATH", "HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "SSL_CERT_FILE"} {
		if value, ok := os.LookupEnv(keep); ok {
			cmd.Env = append(cmd.Env, keep+"="+value)
		}
	}
	var text strings.Builder
	cmd.Stderr = &limitedText{to: &text, left: 16 << 10}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", filepath.Base(p.path), err, strings.TrimSpace(text.String()))
	}
	return nil
}

// limitedText keeps the beginning of what a program says.
type limitedText struct {
	to   *strings.Builder
	left int
}

// Write takes all and keeps what has room.
func (l *limitedText) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.to.Write(p[:n])
	l.left -= n
	return len(p), nil
}

// postgresEnvironment is a database URL as libpq's variables
// (postgresql.org/docs/current/libpq-envars.html).
func postgresEnvironment(raw string) ([]string, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("the database URL cannot be read")
	}
	host, port := u.Hostname(), cmp.Or(u.Port(), "5432")
	password, _ := u.User.Password()
	mode := u.Query().Get("sslmode")
	if ip, err := netip.ParseAddr(host); mode == "" && (host == "localhost" || err == nil && ip.IsLoopback()) {
		mode = "disable"
	}
	env := []string{"PGAPPNAME=slipway-backup", "PGHOST=" + host, "PGPORT=" + port, "PGDATABASE=" + strings.TrimPrefix(u.Path, "/"),
		"PGUSER=" + u.User.Username(), "PGPASSWORD=" + password, "PGSSLMODE=" + cmp.Or(mode, "require"), "PGCONNECT_TIMEOUT=10"}
	for parameter, variable := range map[string]string{"sslrootcert": "PGSSLROOTCERT", "sslcert": "PGSSLCERT", "sslkey": "PGSSLKEY"} {
		if value := u.Query().Get(parameter); value != "" {
			env = append(env, variable+"="+value)
		}
	}
	return env, nil
}

// databaseOf is the name of the database alone: pg_restore takes it from its arguments.
func databaseOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Path, "/")
}
