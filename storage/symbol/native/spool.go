package native

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/slipway-qa/slipway/storage/symbol"
)

const (
	// spoolMemory is how much of a spool stays in memory before it becomes a file: most
	// indexes never need one.
	spoolMemory = 4 << 20
	// maxSpool bounds each temporary file: an index of 1 GB of DWARF needs less than 1 GiB.
	maxSpool = 8 << 30
)

// spool takes bytes and returns them later: in memory, then in a temporary file that
// has no name any more, so that nothing stays behind when the process is killed.
type spool struct {
	folder string
	memory []byte
	file   *os.File
	size   int64
}

func (s *spool) Write(p []byte) (int, error) {
	if s.size+int64(len(p)) > maxSpool {
		return 0, symbol.Invalid(symbol.TooLarge, "the index needs more than %d GiB of temporary space", maxSpool>>30)
	}
	s.memory = append(s.memory, p...)
	s.size += int64(len(p))
	if len(s.memory) < spoolMemory {
		return len(p), nil
	}
	return len(p), s.flush()
}

func (s *spool) flush() error {
	if s.file == nil {
		file, err := os.CreateTemp(s.folder, "slipway-index-")
		if err != nil {
			return fmt.Errorf("temporary file of an index: %w", err)
		}
		s.file = file
		if err := os.Remove(file.Name()); err != nil {
			return fmt.Errorf("temporary file of an index: %w", err)
		}
	}
	if _, err := s.file.Write(s.memory); err != nil {
		return fmt.Errorf("temporary file of an index: %w", err)
	}
	s.memory = s.memory[:0]
	return nil
}

// section returns a reader of n bytes from an offset; nothing is written afterwards.
func (s *spool) section(offset, n int64) (io.Reader, error) {
	if s.file == nil {
		return bytes.NewReader(s.memory[offset : offset+n]), nil
	}
	if len(s.memory) > 0 {
		if err := s.flush(); err != nil {
			return nil, err
		}
	}
	return io.NewSectionReader(s.file, offset, n), nil
}

// copyTo writes all that the spool took.
func (s *spool) copyTo(w io.Writer) error {
	r, err := s.section(0, s.size)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		return fmt.Errorf("copy part of an index: %w", err)
	}
	return nil
}

func (s *spool) close() {
	if s.file != nil {
		_ = s.file.Close() // it has no name: closing frees it
	}
	s.memory, s.file = nil, nil
}
