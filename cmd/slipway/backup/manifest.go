package backup

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/slipway-qa/slipway/cmd/localservice"
	"github.com/slipway-qa/slipway/storage/backup"
)

// The files of a backup's folder. The objects are an object store of their own, below
// objects/ (storage/object, Folder).
const (
	manifestFile = "manifest.json"
	dumpFile     = "database.dump" // pg_dump's custom format
	objectsFile  = "objects.jsonl" // an objectEntry a line, sorted by key
	keysFile     = "keys.json"     // with --with-keys
)

// manifestFormat is the version of this layout.
const manifestFormat = 1

// manifest says what a backup holds. It is written last: a folder without one is of a
// backup that did not end.
type manifest struct {
	Format    int       `json:"format"`
	CreatedAt time.Time `json:"created_at"`
	Program   string    `json:"program"`
	Region    string    `json:"region"`
	// Schema is the newest migration of the database.
	Schema int64 `json:"schema"`
	// Postgres and PgDump are major versions.
	Postgres int `json:"postgres"`
	PgDump   int `json:"pg_dump"`
	// Keys are the fingerprints of the signing keys in use, without which secrets cannot
	// be read.
	Keys   []string         `json:"signing_keys"`
	Counts map[string]int64 `json:"counts"`
	// Bytes are those of the objects.
	Bytes int64          `json:"object_bytes"`
	Files []manifestPart `json:"files"`
}

// manifestPart is a file of the folder.
type manifestPart struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// objectEntry is a line of objectsFile.
type objectEntry struct {
	Key         string `json:"key"`
	Size        int64  `json:"size"`
	ContentType string `json:"content_type"`
	SHA256      string `json:"sha256"`
}

// keysDocument is keysFile: what an installation needs to read its secrets, and under
// slipway up the keys of the first organization.
type keysDocument struct {
	SigningKey     string          `json:"signing_key"`
	SigningKeysOld string          `json:"signing_keys_old,omitempty"`
	Bootstrap      json.RawMessage `json:"bootstrap,omitempty"`
}

// setFacts takes what is known of the database.
func (m *manifest) setFacts(f backup.Facts) {
	m.Schema, m.Postgres = f.Schema, f.Server
	m.Counts = map[string]int64{"organizations": f.Organizations, "users": f.Users, "builds": f.Builds,
		"crashes": f.Crashes, "test_cases": f.TestCases, "tasks": f.Tasks}
}

// addFile hashes a file of the folder.
func (m *manifest) addFile(dir, name string) error {
	size, sum, err := hashFile(filepath.Join(dir, name))
	m.Files = append(m.Files, manifestPart{Name: name, Size: size, SHA256: sum})
	return err
}

func (m *manifest) write(dir string) error {
	doc, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return localservice.ReplaceFile(filepath.Join(dir, manifestFile), append(doc, '\n'), 0o600)
}

func readManifest(dir string) (*manifest, error) {
	raw, err := os.ReadFile(filepath.Join(dir, manifestFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s holds no complete backup: it has no %s", dir, manifestFile)
	}
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestFile, err)
	}
	if m.Format != manifestFormat {
		return nil, fmt.Errorf("the backup has format %d, and this program knows %d", m.Format, manifestFormat)
	}
	return &m, nil
}

// checkFiles compares the files with the manifest.
func (m *manifest) checkFiles(dir string) error {
	named := map[string]bool{}
	for _, f := range m.Files {
		named[f.Name] = true
		if f.Name != filepath.Base(f.Name) {
			return fmt.Errorf("the manifest names a file outside of the folder: %q", f.Name)
		}
		size, sum, err := hashFile(filepath.Join(dir, f.Name))
		if err != nil {
			return err
		}
		if size != f.Size || sum != f.SHA256 {
			return fmt.Errorf("%s is damaged: it has %d bytes with SHA-256 %s, the manifest says %d and %s", f.Name, size, sum, f.Size, f.SHA256)
		}
	}
	if !named[dumpFile] || !named[objectsFile] {
		return fmt.Errorf("the manifest lacks %s or %s", dumpFile, objectsFile)
	}
	return nil
}

func hashFile(path string) (int64, string, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer file.Close()
	return hashReader(file)
}

func hashReader(r io.Reader) (int64, string, error) {
	digest := sha256.New()
	n, err := io.Copy(digest, r)
	return n, hex.EncodeToString(digest.Sum(nil)), err
}

// maxEntry bounds a line of objectsFile: a key has at most 1 KiB.
const maxEntry = 64 << 10

// eachObject calls each with the objects of a backup.
func eachObject(dir string, each func(objectEntry) error) error {
	file, err := os.Open(filepath.Join(dir, objectsFile))
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxEntry)
	for lines.Scan() {
		var e objectEntry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("%s: %w", objectsFile, err)
		}
		if err := each(e); err != nil {
			return err
		}
	}
	return lines.Err()
}
