package testsync

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-qa/slipway/storage/step/testfile"
)

const (
	// maxFiles bounds the files of a folder.
	maxFiles = 10_000
	// maxProblems bounds the files that are named when several cannot be read.
	maxProblems = 10
)

// Folder has the files of tests below a folder.
type Folder struct {
	Dir   string
	Files []*File

	show  func(string) string
	taken map[string]bool // names of files in Dir
}

// File is a file of a test.
type File struct {
	Path string // as it is opened
	Text []byte
	Case *testfile.Case
}

// ReadFolder reads all files of tests (*.yaml) below a folder; one that is not there has
// none. skip are files of another kind, by their path; show is how people name a path. A
// file that is no test is a *UsageError that names its line.
func ReadFolder(dir string, skip []string, show func(string) string) (*Folder, error) {
	f := &Folder{Dir: dir, show: show, taken: map[string]bool{}}
	var problems []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && path == dir && errors.Is(err, os.ErrNotExist):
			return filepath.SkipAll
		case err != nil:
			return err
		case entry.IsDir() && path != dir && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case filepath.Dir(path) == dir:
			f.taken[strings.ToLower(entry.Name())] = true
		}
		if !entry.Type().IsRegular() || filepath.Ext(path) != testfile.Extension || contains(skip, path) {
			return nil
		}
		if len(f.Files) == maxFiles {
			return misused("%s has more than %d tests", show(dir), maxFiles)
		}
		file, err := readFile(path)
		if err != nil {
			problems = append(problems, show(path)+": "+err.Error())
			return nil
		}
		f.Files = append(f.Files, file)
		return nil
	})
	if err != nil {
		return nil, err
	}
	ids := map[string]*File{}
	for _, file := range f.Files {
		if id := file.Case.ID; id != "" && ids[id] != nil {
			problems = append(problems, fmt.Sprintf("%s: has the id of %s: a copy must have none", show(file.Path), show(ids[id].Path)))
		}
		ids[file.Case.ID] = file
	}
	if len(problems) > maxProblems {
		problems = append(problems[:maxProblems], fmt.Sprintf("and %d more", len(problems)-maxProblems))
	}
	if len(problems) > 0 {
		return nil, misused("%s", strings.Join(problems, "\n"))
	}
	return f, nil
}

func contains(list []string, path string) bool {
	for _, one := range list {
		if one == path {
			return true
		}
	}
	return false
}

func readFile(path string) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > testfile.MaxSize {
		return nil, fmt.Errorf("has more than %d MiB", testfile.MaxSize>>20)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	c, err := testfile.Read(text)
	if err != nil {
		return nil, err
	}
	if c.Data != nil && c.Data.CSV != "" {
		if err := readCSV(path, c.Data); err != nil {
			return nil, err
		}
	}
	return &File{Path: path, Text: text, Case: c}, nil
}

// ByID returns the file of a case; nil when there is none.
func (f *Folder) ByID(id string) *File {
	for _, file := range f.Files {
		if file.Case.ID == id && id != "" {
			return file
		}
	}
	return nil
}

// byName returns the file of a test of the name; nil when there is none.
func (f *Folder) byName(name string) *File {
	for _, file := range f.Files {
		if file.Case.Name == name {
			return file
		}
	}
	return nil
}

// add returns a file for a case that has none yet.
func (f *Folder) add(c *testfile.Case) *File {
	file := &File{Path: filepath.Join(f.Dir, testfile.FileName(c.Name, f.taken))}
	f.Files = append(f.Files, file)
	return file
}

// write replaces the file by a case, in its one form.
func (file *File) write(c *testfile.Case) error {
	if was := file.Case; c.Data != nil && was != nil && was.Data != nil && was.Data.CSV != "" {
		c.Data.CSV = was.Data.CSV
		if !c.Data.Same(was.Data) {
			if err := writeCSV(file.Path, c.Data); err != nil {
				return err
			}
		}
	}
	text, err := c.Write()
	if err != nil {
		return err
	}
	return file.replace(text)
}

// replace writes the file, whole or not at all.
func (file *File) replace(text []byte) error {
	c, err := testfile.Read(text)
	if err != nil {
		return fmt.Errorf("%s would not be read again: %w", file.Path, err)
	}
	if c.Data != nil && c.Data.CSV != "" {
		if err := readCSV(file.Path, c.Data); err != nil {
			return err
		}
	}
	if err := WriteFile(file.Path, text); err != nil {
		return err
	}
	file.Text, file.Case = text, c
	return nil
}

// WriteFile writes a file, whole or not at all. One that is there keeps its mode. What is no
// file, such as /dev/stdout, is written into.
func WriteFile(path string, text []byte) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Lstat(path); err == nil {
		if !info.Mode().IsRegular() && !info.IsDir() {
			return writeInto(path, text)
		}
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(path), ".slipway-*")
	if err != nil {
		return err
	}
	if err := fill(out, text, mode, path); err != nil {
		_ = os.Remove(out.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// writeInto writes to a device, a pipe, or what a link leads to.
func writeInto(path string, text []byte) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	if err := errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// fill writes a file that is open, and gives it its name.
func fill(out *os.File, text []byte, mode fs.FileMode, path string) error {
	_, err := out.Write(text)
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	if err := os.Chmod(out.Name(), mode); err != nil {
		return err
	}
	return os.Rename(out.Name(), path)
}
