package localservice

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// smallFileLimit bounds files that are read as a whole, in bytes. This package
// or PostgreSQL writes them, and they have some hundred bytes.
const smallFileLimit = 64 << 10

// readSmallFile reads a file of at most smallFileLimit bytes.
func readSmallFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, smallFileLimit+1))
	if err != nil {
		return nil, err
	}
	if len(data) > smallFileLimit {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, smallFileLimit)
	}
	return data, nil
}

// ReplaceFile writes a file so that a crash at any moment leaves either the
// former content or the new one: temporary file, fsync, rename, fsync of the
// folder.
func ReplaceFile(path string, data []byte, mode os.FileMode) error {
	temporary, err := writeTemporary(path, data, mode)
	if err != nil {
		return fmt.Errorf("localservice: write %s: %w", path, err)
	}
	if err := os.Rename(temporary, path); err != nil {
		os.Remove(temporary)
		return fmt.Errorf("localservice: write %s: %w", path, err)
	}
	return syncFolder(filepath.Dir(path))
}

// writeTemporary writes a synced file beside path and returns its name.
func writeTemporary(path string, data []byte, mode os.FileMode) (name string, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			os.Remove(file.Name())
		}
	}()
	if err := file.Chmod(mode); err != nil {
		return "", err
	}
	if _, err := file.Write(data); err != nil {
		return "", err
	}
	return file.Name(), file.Sync()
}

// syncFolder flushes the entries of a folder to disk.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("localservice: %w", err)
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil {
		return fmt.Errorf("localservice: sync %s: %w", path, err)
	}
	return nil
}

// tail returns the last bytes, at most limit, that were written to a file after
// offset. It returns "" when the file cannot be read.
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
