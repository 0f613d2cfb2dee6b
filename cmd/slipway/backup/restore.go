package backup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/slipway/managed"
	"github.com/slipway-qa/slipway/cmd/slipway/migrate"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/backup"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/seal"
)

// RestoreCommand is slipway restore.
type RestoreCommand struct {
	dataFolder
	Dir     string `arg:"" type:"path" help:"Folder of the backup."`
	LostKey bool   `help:"Restore although a signing key of the backup is lost. Start with slipway admin rekey --lost then."`
}

// Run restores a backup. The objects come first, then the database in one transaction: a
// restore that was interrupted has left an empty database, and can be called again.
func (c *RestoreCommand) Run(ctx context.Context, set *setting.Settings) error {
	m, err := verifyBackup(ctx, c.Dir)
	if err != nil {
		return err
	}
	if err := checkKnown(m); err != nil {
		return err
	}
	t, err := c.open(ctx, set)
	if err != nil {
		return err
	}
	defer t.close()
	if t.dir != "" && t.folder == nil {
		return fmt.Errorf("slipway up runs in %s: stop it first", t.dir)
	}
	keys, err := c.takeKeys(t, m)
	if err != nil {
		return err
	}
	db, err := storage.Open(storage.Config{URL: set.DirectURL(), MaxConns: 2, ApplicationName: "slipway-restore"})
	if err != nil {
		return err
	}
	defer db.Close()
	program, err := checkTarget(ctx, db, m)
	if err != nil {
		return err
	}
	if err := c.restoreObjects(ctx, set); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "restoring the database")
	if err := program.run(ctx, set.DirectURL(), "--dbname="+databaseOf(set.DirectURL()), "--single-transaction", "--exit-on-error",
		"--no-owner", "--no-privileges", "--no-comments", filepath.Join(c.Dir, dumpFile)); err != nil {
		return err
	}
	if _, err := migrate.Apply(ctx, set); err != nil {
		return err
	}
	if err := t.writeBootstrap(keys); err != nil {
		return err
	}
	return checkCounts(ctx, db, m)
}

// checkKnown refuses a backup with a newer schema than this program's.
func checkKnown(m *manifest) error {
	newest, err := storage.NewestMigration()
	if err == nil && m.Schema > newest {
		return fmt.Errorf("the backup is of a newer program: its schema is %05d, and this program knows %05d", m.Schema, newest)
	}
	return err
}

// takeKeys sets the signing key from the backup, where the settings have none, and refuses
// keys with which the secrets cannot be read.
func (c *RestoreCommand) takeKeys(t *target, m *manifest) (*keysDocument, error) {
	doc, err := readKeys(c.Dir)
	if err != nil {
		return nil, err
	}
	set := t.set
	if set.SigningKey == "" && doc.SigningKey != "" {
		if t.folder != nil {
			if err := localservice.KeepSecret(t.folder, managed.SigningKey, doc.SigningKey); err != nil {
				return nil, fmt.Errorf("%w (or set SLIPWAY_SIGNING_KEY)", err)
			}
		}
		set.SigningKey, set.SigningKeysOld = setting.Secret(doc.SigningKey), setting.Secret(doc.SigningKeysOld)
	}
	if t.folder != nil {
		if err := managed.Complete(t.folder, set); err != nil {
			return nil, err
		}
	}
	ring, err := set.Ring()
	if err != nil {
		return nil, err
	}
	for _, f := range m.Keys {
		if !c.LostKey && !slices.Contains(ring.Fingerprints(), f) {
			return nil, fmt.Errorf("the backup needs the signing key %s, which neither SLIPWAY_SIGNING_KEY nor SLIPWAY_SIGNING_KEYS_OLD has, nor the backup (--lost-key restores without it)",
				seal.ShortFingerprint(f))
		}
	}
	return doc, nil
}

// readKeys reads the keys of a backup; an empty document when it has none.
func readKeys(dir string) (*keysDocument, error) {
	var doc keysDocument
	raw, err := os.ReadFile(filepath.Join(dir, keysFile))
	if errors.Is(err, os.ErrNotExist) {
		return &doc, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", keysFile, err)
	}
	return &doc, nil
}

// checkTarget refuses a database that is not empty, or in use, and returns pg_restore.
func checkTarget(ctx context.Context, db *storage.DB, m *manifest) (clientProgram, error) {
	running, err := backup.InUse(ctx, db)
	if err != nil {
		return clientProgram{}, err
	}
	if len(running) > 0 {
		return clientProgram{}, fmt.Errorf("the product runs on this database: stop %s first", strings.Join(running, ", "))
	}
	empty, err := backup.Empty(ctx, db)
	if err != nil {
		return clientProgram{}, err
	}
	if !empty {
		return clientProgram{}, errors.New("the database is not empty: a backup is restored into a new one only")
	}
	return findClient(ctx, "pg_restore", m.PgDump)
}

func (c *RestoreCommand) restoreObjects(ctx context.Context, set *setting.Settings) error {
	from, err := openBackup(ctx, c.Dir)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := object.Open(ctx, set.Objects(true))
	if err != nil {
		return err
	}
	defer to.Close()
	if err := checkForeign(ctx, c.Dir, to); err != nil {
		return err
	}
	return copyIn(ctx, c.Dir, from, to)
}

// writeBootstrap writes the keys of the first organization, so that slipway up creates no
// other.
func (t *target) writeBootstrap(keys *keysDocument) error {
	if t.folder == nil || len(keys.Bootstrap) == 0 {
		return nil
	}
	return localservice.ReplaceFile(filepath.Join(t.dir, "bootstrap.json"), keys.Bootstrap, 0o600)
}

// checkCounts compares the database with the manifest.
func checkCounts(ctx context.Context, db *storage.DB, m *manifest) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	facts, err := backup.FactsOf(ctx, db)
	if err != nil {
		return err
	}
	var got manifest
	got.setFacts(facts)
	for name, n := range got.Counts {
		if n != m.Counts[name] {
			return fmt.Errorf("the restored database has %d %s, and the manifest says %d", n, name, m.Counts[name])
		}
	}
	fmt.Fprintf(os.Stderr, "restored: %d organizations, %d builds, %d crashes, %d objects. Start the product with an empty Redis\n",
		m.Counts["organizations"], m.Counts["builds"], m.Counts["crashes"], m.Counts["objects"])
	return nil
}
