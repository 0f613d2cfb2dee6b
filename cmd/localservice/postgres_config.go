package localservice

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// initdbArgs returns the arguments of initdb.
//
// Text is sorted and compared by bytes (collation C): that is fast, and no
// upgrade of the system's locales can break an index. Letters are those of UTF-8,
// so that lower() and regular expressions know more than ASCII. Checksums find
// damage by disks, at no cost that pgbench shows; an ephemeral server has none.
func initdbArgs(data, passwordFile string, config PostgresConfig) []string {
	letters := "C.UTF-8"
	if runtime.GOOS == "darwin" {
		letters = "en_US.UTF-8" // there is no C.UTF-8
	}
	args := []string{"--pgdata=" + data, "--username=" + postgresSuperuser, "--pwfile=" + passwordFile,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--lc-ctype=" + letters, "--no-instructions"}
	if config.Ephemeral {
		return append(args, "--no-sync")
	}
	return append(args, "--data-checksums")
}

// includeLine at the end of postgresql.conf includes Slipway's settings. Settings
// below it, or set with ALTER SYSTEM, override them.
const includeLine = "include 'slipway.conf'"

// writePostgresConfig writes slipway.conf, at each start, and includes it in
// postgresql.conf.
func writePostgresConfig(data string, config PostgresConfig) error {
	if err := ReplaceFile(filepath.Join(data, "slipway.conf"), []byte(postgresSettings(config)), 0o600); err != nil {
		return err
	}
	// The file gets the owner of the folder, also when root writes it.
	if err := copyOwner(data, filepath.Join(data, "slipway.conf")); err != nil {
		return err
	}
	path := filepath.Join(data, "postgresql.conf")
	main, err := readSmallFile(path)
	if err != nil {
		return fmt.Errorf("localservice: %w", err)
	}
	for line := range strings.Lines(string(main)) {
		if strings.TrimSpace(line) == includeLine {
			return nil
		}
	}
	if err := ReplaceFile(path, append(main, "\n"+includeLine+"\n"...), fs.FileMode(0o600)); err != nil {
		return err
	}
	return copyOwner(data, path)
}

// postgresSettings returns the text of slipway.conf.
func postgresSettings(config PostgresConfig) string {
	var b strings.Builder
	set := func(name, value string) { fmt.Fprintf(&b, "%s = '%s'\n", name, value) }
	b.WriteString("# Written by Slipway at each start. Put your settings below the include in\n# postgresql.conf, or use ALTER SYSTEM.\n")

	durable := "on"
	if config.Ephemeral {
		durable = "off"
	}
	set("fsync", durable)
	set("synchronous_commit", durable)
	set("full_page_writes", durable)

	// No standby and no archive read the write-ahead log: recovery alone needs
	// it. Backups are made with pg_dump.
	set("wal_level", "minimal")
	set("max_wal_senders", "0")
	// Rare checkpoints: after each, the first change of a page writes the full
	// page to the log.
	if config.Ephemeral {
		set("max_wal_size", "512MB") // it may be in memory
	} else {
		set("max_wal_size", "4GB")
	}
	set("checkpoint_timeout", "15min")
	set("wal_buffers", "64MB")
	set("shared_buffers", fmt.Sprintf("%dMB", config.SharedBuffersMB))
	set("max_connections", "200")
	set("jit", "off") // compiling takes longer than these queries
	set("timezone", "UTC")

	// Each row of the ledger changes several times: vacuum often, in small steps.
	set("autovacuum_naptime", "10s")
	set("autovacuum_vacuum_scale_factor", "0.05")
	set("autovacuum_analyze_scale_factor", "0.02")
	set("autovacuum_vacuum_cost_limit", "2000")

	// A client that leaves a transaction open would keep its locks, and stop
	// vacuum, for ever.
	set("idle_in_transaction_session_timeout", "60s")

	// Neither statements nor values in the log: they contain users' data. The
	// caller gets the full error.
	set("log_timezone", "UTC")
	set("log_line_prefix", "%m [%p] ")
	set("log_min_error_statement", "panic")
	set("log_error_verbosity", "terse")
	set("log_checkpoints", "off")
	set("password_encryption", "scram-sha-256")
	return b.String()
}

// copyOwner sets the owner of a file to that of its folder; only root can.
func copyOwner(folder, path string) error {
	info, err := os.Stat(folder)
	if err != nil {
		return fmt.Errorf("localservice: %w", err)
	}
	if uid, gid, ok := ownerOf(info); ok && os.Getuid() == 0 {
		if err := os.Lchown(path, uid, gid); err != nil {
			return fmt.Errorf("localservice: %w", err)
		}
	}
	return nil
}
