package localservice

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// initdbArgs are the arguments that make a data folder.
//
// Sorting and comparing are by bytes (collation C): fast, and no upgrade of
// the system's locales can turn indexes wrong. Letters are those of UTF-8, so
// that lower() and regular expressions know more than ASCII. Checksums find
// damage by disks at no cost that pgbench shows; an ephemeral server does
// without.
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

// includeLine at the end of postgresql.conf brings in Slipway's settings.
// What an operator adds below it, or sets with ALTER SYSTEM, has the last word.
const includeLine = "include 'slipway.conf'"

// writePostgresConfig writes slipway.conf, at each start, and sees that
// postgresql.conf includes it.
func writePostgresConfig(data string, config PostgresConfig) error {
	if err := ReplaceFile(filepath.Join(data, "slipway.conf"), []byte(postgresSettings(config)), 0o600); err != nil {
		return err
	}
	// The file has the owner of the folder, also when root writes it.
	if err := ownLike(data, filepath.Join(data, "slipway.conf")); err != nil {
		return err
	}
	path := filepath.Join(data, "postgresql.conf")
	main, err := readSmall(path)
	if err != nil {
		return fmt.Errorf("private: %w", err)
	}
	for line := range strings.Lines(string(main)) {
		if strings.TrimSpace(line) == includeLine {
			return nil
		}
	}
	if err := ReplaceFile(path, append(main, "\n"+includeLine+"\n"...), fs.FileMode(0o600)); err != nil {
		return err
	}
	return ownLike(data, path)
}

// postgresSettings is the text of slipway.conf.
func postgresSettings(config PostgresConfig) string {
	var b strings.Builder
	set := func(name, value string) { fmt.Fprintf(&b, "%s = '%s'\n", name, value) }
	b.WriteString("# Written by Slipway at each start. Settings of your own: below the include\n# in postgresql.conf, or ALTER SYSTEM.\n")

	durable := "on"
	if config.Ephemeral {
		durable = "off"
	}
	set("fsync", durable)
	set("synchronous_commit", durable)
	set("full_page_writes", durable)

	// No standby and no archive read the log: it holds what recovery needs.
	// Backups are made with pg_dump.
	set("wal_level", "minimal")
	set("max_wal_senders", "0")
	// Rare checkpoints: each makes the next change of every page a full page
	// in the log.
	set("max_wal_size", "4GB")
	set("checkpoint_timeout", "15min")
	set("wal_buffers", "64MB")
	set("shared_buffers", fmt.Sprintf("%dMB", config.SharedBuffersMB))
	set("max_connections", "200")
	set("jit", "off") // compiling costs more than these queries take
	set("timezone", "UTC")

	// The ledger's rows change several times each: vacuum often, in small bits.
	set("autovacuum_naptime", "10s")
	set("autovacuum_vacuum_scale_factor", "0.05")
	set("autovacuum_analyze_scale_factor", "0.02")
	set("autovacuum_vacuum_cost_limit", "2000")

	// A client that forgot its transaction would hold locks, and back vacuum,
	// for ever.
	set("idle_in_transaction_session_timeout", "60s")

	// Neither statements nor values in the log: they hold users' data. The
	// caller has the full error.
	set("log_timezone", "UTC")
	set("log_line_prefix", "%m [%p] ")
	set("log_min_error_statement", "panic")
	set("log_error_verbosity", "terse")
	set("log_checkpoints", "off")
	set("password_encryption", "scram-sha-256")
	return b.String()
}

// ownLike gives a file written by root the owner of its folder.
func ownLike(folder, path string) error {
	info, err := os.Stat(folder)
	if err != nil {
		return fmt.Errorf("private: %w", err)
	}
	if uid, gid, ok := ownerOf(info); ok && os.Getuid() == 0 {
		if err := os.Lchown(path, uid, gid); err != nil {
			return fmt.Errorf("private: %w", err)
		}
	}
	return nil
}
