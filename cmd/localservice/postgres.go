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

// PostgresConfig says how the private PostgreSQL runs.
type PostgresConfig struct {
	// Database is created when it is missing, and owned by the role
	// "slipway" of the URL, which may create more databases but is not a
	// superuser. Default "slipway".
	Database string
	// SharedBuffersMB is PostgreSQL's own cache, in MiB, at least 16.
	// Default 256: enough for the indexes of a small team, little on a laptop.
	SharedBuffersMB int
	// Ephemeral gives up all safety against a crash of the machine for speed.
	// For data that can be lost, such as a test's.
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
		return c, fmt.Errorf("private: SharedBuffersMB is %d, must be 16 to 1048576", c.SharedBuffersMB)
	}
	// 63 bytes is PostgreSQL's limit for a name; longer ones are cut silently.
	if len(c.Database) > 63 || strings.ContainsRune(c.Database, 0) {
		return c, fmt.Errorf("private: Database %q is no name for a database", c.Database)
	}
	return c, nil
}

// VersionError says that the data were made by a major version of PostgreSQL
// that is not installed.
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
	return fmt.Sprintf("the data in %s were made by PostgreSQL %d, but only PostgreSQL %s is installed: install version %d, or move the data with pg_upgrade",
		e.Dir, e.Data, strings.Join(found, ", "), e.Data)
}

// ForeignError says that a PostgreSQL that Slipway did not start serves the
// private data.
type ForeignError struct {
	Dir string
	PID int
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("a PostgreSQL that Slipway did not start (process %d) serves %s: stop it first", e.PID, e.Dir)
}

// Roles of the server. The superuser is used only here, to make the other.
const (
	postgresSuperuser = "postgres"
	postgresRole      = "slipway"
)

// Postgres starts the private PostgreSQL on the folder's data, which it makes
// when there are none, and returns when it has answered a query. The first
// start takes about a second, later ones about 0.1 s, recovery after a crash
// longer; two minutes at most.
//
// Errors: *MissingError, *VersionError, *BlockedError, *ForeignError,
// *StartError.
func (f *Folder) Postgres(ctx context.Context, config PostgresConfig) (*Server, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	ctx, cancel, err := f.begin(ctx, "postgres")
	if err != nil {
		return nil, err
	}
	defer cancel()
	server, err := f.postgres(ctx, config)
	f.finish("postgres", server)
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
	// The superuser's password goes into the data when they are made. A new
	// one would not open old data: see the hint in readiness.
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
	if err := clearPostmaster(data, binary); err != nil {
		return nil, err
	}
	if err := writePostgresConfig(data, config); err != nil {
		return nil, err
	}
	if err := giveFolder(data, as); err != nil {
		return nil, err
	}
	return f.retryHeld(ctx, recipe{
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
	// heldMemory is what PostgreSQL says when processes of a killed server are
	// still attached to its shared memory. They notice that it is gone and end,
	// within seconds on a busy machine.
	heldMemory = "pre-existing shared memory block"
	heldWait   = 15 * time.Second
	heldPause  = 200 * time.Millisecond
)

// retryHeld serves, and waits for the last processes of a server that was killed.
func (f *Folder) retryHeld(ctx context.Context, r recipe) (*Server, error) {
	until := time.Now().Add(heldWait)
	for {
		server, err := f.serve(ctx, r)
		var failed *StartError
		if !errors.As(err, &failed) || !strings.Contains(failed.Tail, heldMemory) || time.Now().After(until) {
			return server, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(heldPause):
		}
	}
}

func postgresURL(port int, user, password, database string) url.URL {
	return url.URL{Scheme: "postgres", User: url.UserPassword(user, password), Host: hostPort(port),
		Path: "/" + database, RawQuery: "sslmode=disable"}
}

// preparePostgres is the readiness query: as superuser it makes role and
// database when they are missing, and sets the role's password, so that a
// start broken off anywhere, or a lost password file, is healed by the next.
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
		return &refusedError{fmt.Errorf("the password in secrets/postgres-superuser is not that of the data: %w", err)}
	}
	if err != nil {
		return err
	}
	verb := "create"
	if role {
		verb = "alter"
	}
	_, err = db.ExecContext(ctx, verb+" role "+postgresRole+" login createdb password "+pq.QuoteLiteral(password))
	if err == nil && !exists {
		_, err = db.ExecContext(ctx, "create database "+pq.QuoteIdentifier(database)+" owner "+postgresRole)
	}
	return err
}

// postgresFor chooses the newest PostgreSQL, or the one that made the data.
func postgresFor(data string) (Binary, error) {
	found := findAll(PostgreSQL, hostPlaces())
	if len(found) == 0 {
		return Binary{}, &MissingError{Program: PostgreSQL, Install: installLine(PostgreSQL, hostPlaces())}
	}
	text, err := readSmall(filepath.Join(data, "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return found[0], nil
	}
	if err != nil {
		return Binary{}, fmt.Errorf("private: %w", err)
	}
	wanted, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return Binary{}, fmt.Errorf("private: version of the data in %s: %w", data, err)
	}
	return matchMajor(found, wanted, data)
}

func matchMajor(found []Binary, wanted int, data string) (Binary, error) {
	var installed []int
	var last error
	for _, binary := range found {
		if err := binary.askMajor(); err != nil {
			last = err
			continue
		}
		if binary.Major == wanted {
			return binary, nil
		}
		installed = append(installed, binary.Major)
	}
	if len(installed) == 0 {
		return Binary{}, fmt.Errorf("private: %w", last)
	}
	slices.Sort(installed)
	return Binary{}, &VersionError{Data: wanted, Installed: slices.Compact(installed), Dir: data}
}

// initdb makes the data in a folder beside, which gets its name when all is
// done: a start that was killed leaves nothing that looks like data.
func (f *Folder) initdb(ctx context.Context, server Binary, as identity, password string, config PostgresConfig) error {
	fresh, passwordFile := filepath.Join(f.dir, "postgres.new"), filepath.Join(f.dir, "postgres.password")
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("private: %w", err)
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return fmt.Errorf("private: %w", err)
	}
	defer os.Remove(passwordFile)
	if err := ReplaceFile(passwordFile, []byte(password), 0o600); err != nil {
		return err
	}
	if as.drop {
		err := errors.Join(os.Chown(fresh, as.uid, as.gid), os.Chown(passwordFile, as.uid, as.gid))
		if err != nil {
			return fmt.Errorf("private: %w", err)
		}
	}
	logs := filepath.Join(f.dir, "log")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return fmt.Errorf("private: %w", err)
	}
	c := command{name: "initdb", program: filepath.Join(filepath.Dir(server.Path), "initdb"),
		args: initdbArgs(fresh, passwordFile, config), folder: fresh, log: filepath.Join(logs, "initdb.log"), as: as}
	p, err := f.start(c)
	if err != nil {
		return err
	}
	select {
	case <-p.gone:
	case <-ctx.Done():
		_, err := p.end(ctx)
		return errors.Join(fmt.Errorf("private: initdb: %w", ctx.Err()), err)
	}
	if p.err != nil {
		return p.startError(c, p.err)
	}
	if err := os.Rename(fresh, filepath.Join(f.dir, "postgres")); err != nil {
		return fmt.Errorf("private: %w", err)
	}
	return syncFolder(f.dir)
}

// clearPostmaster deals with the postmaster.pid of a server that was killed.
// PostgreSQL itself refuses to start while any process bears the pid in it,
// which in a container, where pids are small, is soon the case.
func clearPostmaster(data string, server Binary) error {
	path := filepath.Join(data, "postmaster.pid")
	text, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("private: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || pid <= 1 {
		return nil // PostgreSQL says what is wrong with it
	}
	if _, running := processStart(pid); running {
		works, known := worksIn(pid, data)
		if !known {
			return nil
		}
		if works {
			return &ForeignError{Dir: data, PID: pid}
		}
		// The pid belongs to another program now. The sessions of the dead
		// server, whose memory the file leads to, must be gone before it is.
	}
	program, err := filepath.EvalSymlinks(server.Path)
	if err != nil {
		return fmt.Errorf("private: %w", err)
	}
	endLeftovers(program, data)
	if _, running := processStart(pid); !running {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("private: %w", err)
	}
	return nil
}
