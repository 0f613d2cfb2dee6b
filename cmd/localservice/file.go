package localservice

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// smallFile bounds the files that are read whole: all of them are written by
// this package or by PostgreSQL and stay below some hundred bytes.
const smallFile = 64 << 10

// readSmall reads a file of at most smallFile bytes.
func readSmall(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, smallFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > smallFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, smallFile)
	}
	return data, nil
}

// ReplaceFile writes a file so that a crash at any moment leaves the former
// content or the new one: temporary file, fsync, rename, fsync of the folder.
func ReplaceFile(path string, data []byte, mode os.FileMode) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("private: %w", err)
	}
	err = file.Chmod(mode)
	if err == nil {
		_, err = file.Write(data)
	}
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		os.Remove(file.Name())
		return fmt.Errorf("private: write %s: %w", path, err)
	}
	return syncFolder(filepath.Dir(path))
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("private: %w", err)
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil {
		return fmt.Errorf("private: sync %s: %w", path, err)
	}
	return nil
}

// tail returns the last bytes (at most limit) that were written to a file
// after offset, for the text of an error. It returns "" when it cannot read.
func tail(path string, offset, limit int64) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	offset = max(offset, info.Size()-limit)
	data, err := io.ReadAll(io.NewSectionReader(file, offset, limit))
	if err != nil {
		return ""
	}
	return string(data)
}
