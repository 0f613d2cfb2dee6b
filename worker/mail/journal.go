package mail

import (
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"
)

// Journal is a folder of files that note which mails are being handed over. A process
// appends to a file of its own; when it is killed, the file keeps what it wrote, for
// the kernel has it. The workers of one machine read all of them.
//
// A record is the id of a mail in 16 bytes, the time in 8, and one byte: what was noted.
// The last record of a mail counts, by that time.
//
// A journal that cannot be written is logged and otherwise passed over: mail is more
// important than the rare copy.
type Journal struct {
	folder string
	log    *slog.Logger

	mu      sync.Mutex
	file    *os.File
	written int64
}

const (
	recordSize = 25
	noteEnding = 'E' // the line that ends the message is written next
	noteFailed = 'F' // the server did not take it
	// journalFile bounds a file: some 160,000 mails.
	journalFile = 4 << 20
	// journalAge is how long files are kept: longer than a task is tried.
	journalAge = 48 * time.Hour
	pattern    = "*.journal"
)

// OpenJournal opens the journal in a folder, which is made if it is missing, and
// removes old files. A folder that everybody may write to is refused: who writes a
// record keeps a mail from being sent.
func OpenJournal(folder string, log *slog.Logger) (*Journal, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("journal of mail: %w", err)
	}
	info, err := os.Stat(folder)
	if err != nil {
		return nil, fmt.Errorf("journal of mail: %w", err)
	}
	if info.Mode().Perm()&0o002 != 0 {
		return nil, fmt.Errorf("journal of mail: everybody may write to %s", folder)
	}
	j := &Journal{folder: folder, log: log}
	j.removeOld(time.Now().Add(-journalAge))
	return j, j.rotate()
}

// rotate begins a new file.
func (j *Journal) rotate() error {
	file, err := os.CreateTemp(j.folder, pattern)
	if err != nil {
		return fmt.Errorf("journal of mail: %w", err)
	}
	if j.file != nil {
		_ = j.file.Close()
	}
	j.file, j.written = file, 0
	return nil
}

func (j *Journal) removeOld(before time.Time) {
	names, _ := filepath.Glob(filepath.Join(j.folder, pattern))
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.ModTime().Before(before) {
			_ = os.Remove(name)
		}
	}
}

// Note records that a message is about to be ended.
func (j *Journal) Note(id uuid.UUID) { j.append(id, noteEnding) }

// Retract records that the server did not take a message, as far as is known.
func (j *Journal) Retract(id uuid.UUID) { j.append(id, noteFailed) }

func (j *Journal) append(id uuid.UUID, note byte) {
	var record [recordSize]byte
	copy(record[:], id[:])
	binary.BigEndian.PutUint64(record[16:], uint64(time.Now().UnixNano()))
	record[recordSize-1] = note
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.written >= journalFile {
		if err := j.rotate(); err != nil {
			j.log.Warn("journal of mail cannot be written", "error", err)
		}
		j.removeOld(time.Now().Add(-journalAge))
	}
	n, err := j.file.Write(record[:])
	j.written += int64(n)
	if err != nil {
		j.log.Warn("journal of mail cannot be written", "error", err)
	}
}

// Ended returns those of the mails that a worker of this machine has handed over, as
// far as is known.
func (j *Journal) Ended(ids []uuid.UUID) map[uuid.UUID]bool {
	wanted := make(map[uuid.UUID]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	last := map[uuid.UUID]entry{}
	names, _ := filepath.Glob(filepath.Join(j.folder, pattern))
	for _, name := range names {
		if err := readJournal(name, wanted, last); err != nil {
			j.log.Warn("journal of mail cannot be read", "error", err)
		}
	}
	ended := map[uuid.UUID]bool{}
	for id, e := range last {
		ended[id] = e.note == noteEnding
	}
	return ended
}

// entry is the last record of a mail.
type entry struct {
	at   uint64
	note byte
}

// readJournal adds what a file says of the mails that are wanted. A record that was
// cut off by a full disk ends it.
func readJournal(name string, wanted map[uuid.UUID]bool, last map[uuid.UUID]entry) error {
	file, err := os.Open(name)
	if os.IsNotExist(err) {
		return nil // removed meanwhile
	}
	if err != nil {
		return err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, 2*journalFile))
	if err != nil {
		return err
	}
	for ; len(content) >= recordSize; content = content[recordSize:] {
		id := uuid.UUID(content[:16])
		e := entry{binary.BigEndian.Uint64(content[16:]), content[recordSize-1]}
		if wanted[id] && e.at >= last[id].at {
			last[id] = e
		}
	}
	return nil
}

// Close closes the file.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.file.Close()
}
