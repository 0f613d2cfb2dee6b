package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"
	"time"
)

// Folder is a Store in a directory, for one machine:
//
//	objects/   one file for each object, in shard folders (see objectPath)
//	tmp/       writes under way
//	parts/     objects that are written in parts
//
// A write goes to tmp, is synced, and is renamed to its place; then the folders
// above are synced. All access goes through an os.Root, so that neither a key
// nor a symbolic link leads out of the directory.
type Folder struct {
	root     *os.Root
	baseURL  *url.URL // nil: there are no links
	linkKeys [][]byte // the first signs, all are valid
	now      func() time.Time
}

var _ Store = (*Folder)(nil)

const (
	objectsDir = "objects"
	tmpDir     = "tmp"
	// staleAge is how long a temporary file without a lock may go without a write
	// before Open takes its writer for dead.
	staleAge = time.Hour
)

// folderOpener opens the folder dir.
func folderOpener(cfg Config, dir string) (opener, error) {
	links := Folder{now: cfg.Now}
	if cfg.PublicURL != "" {
		base, err := parseBase(cfg.PublicURL)
		if err != nil {
			return nil, fmt.Errorf("object store: %w", err)
		}
		if len(cfg.SigningKey) < 32 {
			return nil, errors.New("object store: the signing key of a folder must have 32 bytes or more")
		}
		links.baseURL, links.linkKeys = base, [][]byte{deriveLinkKey(cfg.SigningKey)}
		for _, key := range cfg.OldSigningKeys {
			links.linkKeys = append(links.linkKeys, deriveLinkKey([]byte(key)))
		}
	}
	return func(ctx context.Context) (Store, error) { return stored(openFolder(ctx, links, dir)) }, nil
}

func openFolder(ctx context.Context, f Folder, dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f.root = root
	for _, dir := range []string{objectsDir, tmpDir} {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			root.Close()
			return nil, err
		}
	}
	// What a sweep cannot remove now, on a read-only disk for example, the
	// periodic one will.
	_, _ = f.Sweep(ctx, staleAge)
	return &f, nil
}

// Close releases the directory.
func (f *Folder) Close() error { return f.root.Close() }

// Check writes, syncs and removes a small file: a full or read-only disk shows.
func (f *Folder) Check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name, file, err := f.createTemp()
	if err != nil {
		return fmt.Errorf("write to folder: %w", err)
	}
	_, err = file.WriteString("ready")
	err = errors.Join(err, file.Sync(), file.Close(), f.root.Remove(name))
	if err != nil {
		return fmt.Errorf("write to folder: %w", err)
	}
	return nil
}

// shardLength characters name a shard folder. With time-ordered ids (UUIDv7)
// one shard takes the ids of three days, with random ones a millionth of all.
const shardLength = 5

const (
	shardMark  = "="  // ends the name of a shard folder
	objectMark = "=o" // ends the name of an object's file
)

// objectPath maps a key to its file. Folders follow the key's segments; a
// segment of five characters or more stands in a shard folder named by its
// first five, so that no folder grows without bound and a listing reads only
// the shards that it needs. "=" occurs in no key, so a key's folder, a shard and
// a file never share a name.
func objectPath(key string) string {
	var b strings.Builder
	b.WriteString(objectsDir)
	for segment := range strings.SplitSeq(key, "/") {
		b.WriteByte('/')
		if len(segment) >= shardLength {
			b.WriteString(segment[:shardLength] + shardMark + "/")
		}
		b.WriteString(segment)
	}
	b.WriteString(objectMark)
	return b.String()
}

// openObject opens the file of a key; its bytes are the first Info.Size ones.
func (f *Folder) openObject(key string) (*os.File, Info, error) {
	if err := checkKey(key); err != nil {
		return nil, Info{}, err
	}
	file, err := f.root.Open(objectPath(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Info{}, ErrNotFound
	}
	if err != nil {
		return nil, Info{}, err
	}
	info, err := describe(file, key)
	if err != nil {
		file.Close()
		return nil, Info{}, err
	}
	return file, info, nil
}

func describe(file *os.File, key string) (Info, error) {
	stat, err := file.Stat()
	if err != nil {
		return Info{}, err
	}
	foot, size, err := readFooter(file, stat.Size())
	if err != nil {
		return Info{}, err
	}
	return Info{Key: key, Size: size, ContentType: foot.ContentType, ETag: foot.SHA256, ModTime: stat.ModTime().UTC()}, nil
}

// Stat reads the footer of the object's file.
func (f *Folder) Stat(ctx context.Context, key string) (Info, error) {
	if err := ctx.Err(); err != nil {
		return Info{}, err
	}
	file, info, err := f.openObject(key)
	if err != nil {
		return Info{}, fmt.Errorf("stat object: %w", err)
	}
	return info, file.Close()
}

// Open reads from the file; a later write or Delete does not disturb it.
func (f *Folder) Open(ctx context.Context, key string, offset, length int64) (io.ReadCloser, Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, Info{}, err
	}
	if offset < 0 || length < -1 {
		return nil, Info{}, ErrRange
	}
	file, info, err := f.openObject(key)
	if err != nil {
		return nil, Info{}, fmt.Errorf("read object: %w", err)
	}
	if offset > info.Size {
		file.Close()
		return nil, Info{}, ErrRange
	}
	if rest := info.Size - offset; length < 0 || length > rest {
		length = rest
	}
	return &fileReader{ctx: ctx, part: io.NewSectionReader(file, offset, length), file: file}, info, nil
}

// fileReader ends with its context, as a reader of S3 does.
type fileReader struct {
	ctx  context.Context
	part *io.SectionReader
	file *os.File
}

func (r *fileReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.part.Read(p)
}

func (r *fileReader) Close() error { return r.file.Close() }

// Delete removes files and the folders that become empty.
func (f *Folder) Delete(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		if err := checkKey(key); err != nil {
			return err
		}
	}
	var failed []error
	for _, key := range keys {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(failed, err)...)
		}
		name := objectPath(key)
		if err := ignoreNotExist(f.root.Remove(name)); err != nil {
			failed = append(failed, fmt.Errorf("delete object: %w", err))
			continue
		}
		f.prune(path.Dir(name))
	}
	return errors.Join(failed...)
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
