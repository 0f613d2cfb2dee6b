package localservice

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"
)

// PostgresConfig configures the managed PostgreSQL.
type PostgresConfig struct {
	// Database is created when it is missing. Its owner is the role "slipway" of
	// the URL, which may create more databases but is not a superuser. Default
	// "slipway".
	Database string
	// SharedBuffersMB is the cache of PostgreSQL, in MiB, at least 16. Default
	// 256: enough for the indexes of a small team, little on a laptop.
	SharedBuffersMB int
	// Ephemeral trades all safety against a crash of the machine for speed: for
	// data that may be lost, such as those of tests.
	Ephemeral bool
}

func (c PostgresConfig) withDefaults() (PostgresConfig, error) {
	if c.Database == "" {
		c.Database = "slipway"
	}
	if c.SharedBuffersMB == 0 {
		c.SharedBuffersMB = 256
	}
	if c.SharedBuffersMB < 16 || c.SharedBuffersMB > 1<<20 {
		return c, fmt.Errorf("localservice: SharedBuffersMB is %d, must be 16 to 1048576", c.SharedBuffersMB)
	}
	// 63 bytes is PostgreSQL's limit for a name; longer ones are cut silently.
	if len(c.Database) > 63 || strings.ContainsRune(c.Database, 0) {
		return c, fmt.Errorf("localservice: Database %q is no name for a database", c.Database)
	}
	return c, nil
}

// VersionError reports that the data were created by a major version of
// PostgreSQL that is not installed.
type VersionError struct {
	Data      int   // major version of the data
	Installed []int // major versions found
	Dir       string
}

func (e *VersionError) Error() string {
	var found []string
	for _, major := range e.Installed {
		found = append(found, strconv.Itoa(major))
	}
	return fmt.Sprintf("the data in %s were made by PostgreSQL %d, but only PostgreSQL %s is installed: install version %d, or move the "+
		"data with pg_upgrade",
		e.Dir, e.Data, strings.Join(found, ", "), e.Data)
}

// ForeignError reports that a PostgreSQL that Slipway did not start uses the
// data.
type ForeignError struct {
	Dir string
	PID int
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("a PostgreSQL that Slipway did not start (process %d) serves %s: stop it first", e.PID, e.Dir)
}

// Roles of the server. The superuser is used only here, to create the other.
const (
	postgresSuperuser = "postgres"
	postgresRole      = "slipway"
)

// Postgres starts the managed PostgreSQL on the folder's data, which it creates
// when there are none, and returns when the server has answered a query. The
// first start takes about a second, later ones about 0.1 s, recovery after a
// crash longer; two minutes at most.
//
// Errors: *MissingError, *VersionError, *BlockedError, *ForeignError,
// *StartError.
func (f *Folder) Postgres(ctx context.Context, config PostgresConfig) (*Server, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	ctx, cancel, err := f.beginStart(ctx, "postgres")
	if err != nil {
		return nil, err
	}
	defer cancel()
	server, err := f.postgres(ctx, config)
	f.finishStart("postgres", server)
	return server, err
}

func (f *Folder) postgres(ctx context.Context, config PostgresConfig) (*Server, error) {
	data := filepath.Join(f.dir, "postgres")
	binary, err := postgresFor(data)
	if err != nil {
		return nil, err
	}
	as, err := f.postgresIdentity(ctx, binary)
	if err != nil {
		return nil, err
	}
	// The superuser's password is written into the data when they are created. A
	// new password does not fit old data: preparePostgres reports that.
	admin, err := f.secret("postgres-superuser")
	if err != nil {
		return nil, err
	}
	password, err := f.secret("postgres")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(data); errors.Is(err, fs.ErrNotExist) {
		if err := f.initdb(ctx, binary, as, admin, config); err != nil {
			return nil, err
		}
	}
	if err := removeStalePostmaster(data, binary); err != nil {
		return nil, err
	}
	if err := writePostgresConfig(data, config); err != nil {
		return nil, err
	}
	if err := changeOwner(data, as); err != nil {
		return nil, err
	}
	return f.serveAfterLeftovers(ctx, serverSpec{
		command: command{name: "postgres", program: binary.Path, folder: data, as: as},
		args: func(port int) ([]string, error) {
			return []string{"-D", data, "-c", "listen_addresses=127.0.0.1", "-c", "port=" + strconv.Itoa(port),
				"-c", "unix_socket_directories=", "-c", "logging_collector=off", "-c", "log_destination=stderr"}, nil
		},
		url: func(port int) url.URL {
			return postgresURL(port, postgresRole, password, config.Database)
		},
		ready: func(ctx context.Context, address url.URL) error {
			port, _ := strconv.Atoi(address.Port())
			return preparePostgres(ctx, postgresURL(port, postgresSuperuser, admin, "postgres"), password, config.Database)
		},
	})
}

const (
	// leftoverMemory is in PostgreSQL's error while processes of a killed server
	// are still attached to its shared memory. They notice that the server has
	// ended and end too: within seconds on a busy machine, later on one that is overloaded.
	leftoverMemory = "pre-existing shared memory block"
	leftoverWait   = time.Minute
	leftoverPause  = 200 * time.Millisecond
)

// serveAfterLeftovers starts a server, and waits for the last processes of one
// that was killed.
func (f *Folder) serveAfterLeftovers(ctx context.Context, r serverSpec) (*Server, error) {
	until := time.Now().Add(leftoverWait)
	for {
		server, err := f.serve(ctx, r)
		var failed *StartError
		if !errors.As(err, &failed) || !strings.Contains(failed.Tail, leftoverMemory) || time.Now().After(until) {
			return server, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(leftoverPause):
		}
	}
}

func postgresURL(port int, user, password, database string) url.URL {
	return url.URL{Scheme: "postgres", User: url.UserPassword(user, password), Host: hostPort(port),
		Path: "/" + database, RawQuery: "sslmode=disable"}
}

// preparePostgres is the readiness query: as superuser it creates role and
// database when they are missing, and sets the role's password. So the next
// start repairs one that was interrupted anywhere, and a lost password file.
func preparePostgres(ctx context.Context, admin url.URL, password, database string) error {
	db, err := sql.Open("postgres", admin.String())
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	var role, exists bool
	err = db.QueryRowContext(ctx, `select exists (select from pg_roles where rolname = $1),
		exists (select from pg_database where datname = $2)`, postgresRole, database).Scan(&role, &exists)
	var refusal *pq.Error
	if errors.As(err, &refusal) && refusal.Code == "28P01" { // invalid_password
		return &rejectedError{fmt.Errorf("the password in secrets/postgres-superuser is not that of the data: %w", err)}
	}
	if err != nil {
		return err
	}
	verb := "create"
	if role {
		verb = "alter"
	}
	if _, err := db.ExecContext(ctx, verb+" role "+postgresRole+" login createdb password "+pq.QuoteLiteral(password)); err != nil {
		return err
	}
	if exists {
		return nil
	}
	_, err = db.ExecContext(ctx, "create database "+pq.QuoteIdentifier(database)+" owner "+postgresRole)
	return err
}

// postgresFor returns the newest PostgreSQL, or the one that created the data.
func postgresFor(data string) (Binary, error) {
	found := findAll(PostgreSQL, hostSearchPaths())
	if len(found) == 0 {
		return Binary{}, &MissingError{Program: PostgreSQL, Install: installLine(PostgreSQL, hostSearchPaths())}
	}
	text, err := readSmallFile(filepath.Join(data, "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return found[0], nil
	}
	if err != nil {
		return Binary{}, fmt.Errorf("localservice: %w", err)
	}
	wanted, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return Binary{}, fmt.Errorf("localservice: version of the data in %s: %w", data, err)
	}
	return matchMajor(found, wanted, data)
}

// matchMajor returns the first program of the wanted major version, or a
// *VersionError.
func matchMajor(found []Binary, wanted int, data string) (Binary, error) {
	var installed []int
	var last error
	for _, binary := range found {
		if err := binary.detectMajor(); err != nil {
			last = err
			continue
		}
		if binary.Major == wanted {
			return binary, nil
		}
		installed = append(installed, binary.Major)
	}
	if len(installed) == 0 {
		return Binary{}, fmt.Errorf("localservice: %w", last)
	}
	slices.Sort(installed)
	return Binary{}, &VersionError{Data: wanted, Installed: slices.Compact(installed), Dir: data}
}

// initdb creates the data in a temporary folder and renames it at the end: a
// start that was killed leaves nothing that looks like data.
func (f *Folder) initdb(ctx context.Context, server Binary, as identity, password string, config PostgresConfig) error {
	fresh, passwordFile := filepath.Join(f.dir, "postgres.new"), filepath.Join(f.dir, "postgres.password")
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("localservice: %w", err)
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return fmt.Errorf("localservice: %w", err)
	}
	defer os.Remove(passwordFile)
	if err := ReplaceFile(passwordFile, []byte(password), 0o600); err != nil {
		return err
	}
	if as.drop {
		err := errors.Join(os.Chown(fresh, as.uid, as.gid), os.Chown(passwordFile, as.uid, as.gid))
		if err != nil {
			return fmt.Errorf("localservice: %w", err)
		}
	}
	logs := filepath.Join(f.dir, "log")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return fmt.Errorf("localservice: %w", err)
	}
	c := command{name: "initdb", program: filepath.Join(filepath.Dir(server.Path), "initdb"),
		args: initdbArgs(fresh, passwordFile, config), folder: fresh, log: filepath.Join(logs, "initdb.log"), as: as}
	p, err := f.start(c)
	if err != nil {
		return err
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
		_, err := p.end(ctx)
		return errors.Join(fmt.Errorf("localservice: initdb: %w", ctx.Err()), err)
	}
	if p.err != nil {
		return p.startError(c, p.err)
	}
	if err := os.Rename(fresh, filepath.Join(f.dir, "postgres")); err != nil {
		return fmt.Errorf("localservice: %w", err)
	}
	return syncFolder(f.dir)
}

// removeStalePostmaster removes the postmaster.pid of a server that was killed.
// PostgreSQL refuses to start while any process has the pid in it, which happens
// soon in a container, where pids are small. It returns a *ForeignError when that
// process is a PostgreSQL on these data.
func removeStalePostmaster(data string, server Binary) error {
	path := filepath.Join(data, "postmaster.pid")
	text, err := readSmallFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("localservice: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid <= 1 {
		return nil // PostgreSQL reports what is wrong with the file
	}
	if _, running := processStart(pid); running {
		works, known := hasWorkingFolder(pid, data)
		if !known {
			return nil
		}
		if works {
			return &ForeignError{Dir: data, PID: pid}
		}
		// The pid belongs to another program now. The sessions of the dead
		// server must end before the file, which names their memory, is removed.
	}
	program, err := filepath.EvalSymlinks(server.Path)
	if err != nil {
		return fmt.Errorf("localservice: %w", err)
	}
	killLeftovers(program, data)
	if _, running := processStart(pid); !running {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("localservice: %w", err)
	}
	return nil
}
