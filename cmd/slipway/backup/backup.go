// Package backup is slipway backup and slipway restore: one state of the database and the
// objects that it names in a folder, and back into an empty installation.
//
// The dump comes first, then the objects of its snapshot, whose deletion is held up meanwhile; so
// the product runs on. The manifest is written last: a folder without it is no backup, and the next
// call goes on with what is there. A restore brings the objects first and then the database in one
// transaction: one that was interrupted has left an empty database, and can be called again.
//
// A restore refuses a backup of a newer program, a database that is in use or not empty, a folder of
// objects with others in it, and keys with which the secrets cannot be read. Keys are copied only
// when that is asked for: whoever has such a backup can read all secrets.
package backup

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/cmd/slipway/managed"
	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/cmd/slipway/version"
	"github.com/slipway-qa/slipway/storage"
	"github.com/slipway-qa/slipway/storage/backup"
	"github.com/slipway-qa/slipway/storage/object"
	"github.com/slipway-qa/slipway/storage/signing"
)

// Command is slipway backup.
type Command struct {
	Create create `cmd:"" default:"withargs" help:"Copy database and objects to a folder: what slipway backup does alone."`
	Verify verify `cmd:"" help:"Read a backup, and compare all of it with its manifest."`
}

type create struct {
	dataFolder
	Dir      string `arg:"" type:"path" help:"Folder for the backup: new, or of a backup that was interrupted."`
	WithKeys bool   `help:"Copy the signing keys too, and bootstrap.json of slipway up. Whoever has such a backup can read all secrets."`
}

// keysList has the keys of the objects while a backup is made.
const keysList = "objects.keys"

// Run makes a backup. The dump comes first, then the objects that it names: their
// deletion is held up until the end.
func (c *create) Run(ctx context.Context, set *setting.Settings) (err error) {
	if err := c.prepare(); err != nil {
		return err
	}
	t, err := c.open(ctx, set)
	if err != nil {
		return err
	}
	defer t.close()
	if t.folder != nil {
		if err := managed.Complete(t.folder, set); err != nil {
			return err
		}
	}
	db, err := storage.Open(storage.Config{URL: set.DirectURL(), MaxConns: 2, ApplicationName: "slipway-backup", StatementTimeout: time.Hour})
	if err != nil {
		return err
	}
	defer db.Close()
	if err := storage.CheckSchema(ctx, db); err != nil {
		return err
	}
	objects, err := object.Open(ctx, set.Objects(false))
	if err != nil {
		return err
	}
	defer objects.Close()
	m := &manifest{Format: manifestFormat, CreatedAt: time.Now().UTC(), Program: version.Short(), Region: set.Region, Keys: []string{}}
	session, err := c.dump(ctx, db, set.DirectURL(), m)
	if err != nil {
		return err
	}
	defer session.Close()
	if err := c.copyObjects(ctx, objects, m); err != nil {
		return err
	}
	keys, err := signing.Keys(ctx, db)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k.RetiredAt == nil {
			m.Keys = append(m.Keys, k.Fingerprint)
		}
	}
	return c.finish(t, m)
}

// prepare makes the folder, and refuses one with anything else in it.
func (c *create) prepare() error {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == manifestFile {
			return fmt.Errorf("%s holds a complete backup already", c.Dir)
		}
		if !slices.Contains([]string{"objects", "tmp", dumpFile, objectsFile, keysFile, keysList}, e.Name()) {
			return fmt.Errorf("%s is not empty: it has %s", c.Dir, e.Name())
		}
	}
	return nil
}

// dump writes the dump and the keys of the objects that it names, both of one snapshot.
func (c *create) dump(ctx context.Context, db *storage.DB, database string, m *manifest) (_ *backup.Session, err error) {
	session, err := backup.Begin(ctx, db)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			session.Close()
		}
	}()
	facts, err := session.Facts(ctx)
	if err != nil {
		return nil, err
	}
	m.setFacts(facts)
	program, err := findClient(ctx, "pg_dump", facts.Server)
	if err != nil {
		return nil, err
	}
	m.PgDump = program.major
	// The folder may be open to others; pg_dump keeps the mode of a file that is there.
	if err := localservice.ReplaceFile(filepath.Join(c.Dir, dumpFile), nil, 0o600); err != nil {
		return nil, err
	}
	fmt.Fprintln(os.Stderr, "dumping the database")
	if err := program.run(ctx, database, "--format=custom", "--snapshot="+session.Snapshot, "--file="+
		filepath.Join(c.Dir, dumpFile)); err != nil {
		return nil, err
	}
	if err := c.writeKeys(ctx, session); err != nil {
		return nil, err
	}
	return session, session.EndSnapshot(ctx)
}

func (c *create) writeKeys(ctx context.Context, session *backup.Session) error {
	file, err := os.OpenFile(filepath.Join(c.Dir, keysList), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(file)
	err = session.Keys(ctx, func(key string) error {
		_, err := w.WriteString(key + "\n")
		return err
	})
	return errors.Join(err, w.Flush(), file.Close())
}

func (c *create) copyObjects(ctx context.Context, objects object.Store, m *manifest) error {
	to, err := openBackup(ctx, c.Dir)
	if err != nil {
		return err
	}
	defer to.Close()
	m.Counts["objects"], m.Bytes, err = copyOut(ctx, objects, to, filepath.Join(c.Dir, keysList), filepath.Join(c.Dir, objectsFile))
	return err
}

// finish writes the keys, if they are wanted, and the manifest.
func (c *create) finish(t *target, m *manifest) error {
	if err := os.Remove(filepath.Join(c.Dir, keysList)); err != nil {
		return err
	}
	names := []string{dumpFile, objectsFile}
	if c.WithKeys {
		doc := keysDocument{SigningKey: string(t.set.SigningKey), SigningKeysOld: string(t.set.SigningKeysOld)}
		if t.dir != "" {
			raw, err := os.ReadFile(filepath.Join(t.dir, "bootstrap.json"))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
			doc.Bootstrap = raw
		}
		raw, err := json.MarshalIndent(doc, "", "  ")
		if err != nil {
			return err
		}
		if err := localservice.ReplaceFile(filepath.Join(c.Dir, keysFile), raw, 0o600); err != nil {
			return err
		}
		names = append(names, keysFile)
	}
	for _, name := range names {
		if err := m.addFile(c.Dir, name); err != nil {
			return err
		}
	}
	if err := m.write(c.Dir); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "the backup is complete:", strconv.FormatInt(m.Counts["objects"], 10), "objects, schema", m.Schema)
	return nil
}

type verify struct {
	Dir string `arg:"" type:"path" help:"Folder of the backup."`
}

// Run reads all of a backup.
func (c *verify) Run(ctx context.Context) error {
	_, err := verifyBackup(ctx, c.Dir)
	if err == nil {
		fmt.Fprintln(os.Stderr, "the backup is as its manifest says")
	}
	return err
}

// verifyBackup compares all files and objects with the manifest.
func verifyBackup(ctx context.Context, dir string) (*manifest, error) {
	m, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	if err := m.checkFiles(dir); err != nil {
		return nil, err
	}
	store, err := openBackup(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	return m, verifyObjects(ctx, dir, store, m)
}
