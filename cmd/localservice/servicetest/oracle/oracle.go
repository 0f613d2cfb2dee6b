// Package oracle keeps what other programs answered to the questions of tests: a JVM or a
// symbolizer takes seconds for what it has said before.
//
//	out, err := oracle.Output([]oracle.Part{oracle.Program(java), oracle.File("Oracle.java"), {"package", data}}, ask)
//
// The parts of a question are all that the answer depends on: the programs, their
// arguments, and what they read. The answer is kept in the user's cache under the digest of
// the parts, with a digest of its own; one that is damaged is asked for again. Errors are
// not kept.
package oracle

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
)

// Part is one of the things that an answer depends on.
type Part struct {
	Name    string
	Content []byte
}

// Program is a program in one version: its file, as it was installed. Where it cannot be
// read its name alone counts, and asking it fails.
func Program(path string) Part {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Part{Name: "program " + path}
	}
	info, err := os.Stat(resolved)
	if err != nil {
		return Part{Name: "program " + path}
	}
	return Part{Name: "program " + path, Content: fmt.Appendf(nil, "%s %d %d", resolved, info.Size(), info.ModTime().UnixNano())}
}

// File is a file that a program reads, by its content.
func File(path string) Part {
	content, err := os.ReadFile(path)
	if err != nil {
		return Part{Name: "no file " + path}
	}
	return Part{Name: "file " + filepath.Base(path), Content: content}
}

// Output returns what ask returned when it was called for the same parts, or calls it.
func Output(parts []Part, ask func() ([]byte, error)) ([]byte, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ask()
	}
	return output(filepath.Join(cache, "slipway", "oracle"), parts, ask)
}

func output(folder string, parts []Part, ask func() ([]byte, error)) ([]byte, error) {
	sum := sha256.New()
	for _, p := range parts {
		for _, b := range [][]byte{[]byte(p.Name), p.Content} {
			_ = binary.Write(sum, binary.BigEndian, int64(len(b))) // a digest takes everything
			sum.Write(b)
		}
	}
	path := filepath.Join(folder, fmt.Sprintf("%x", sum.Sum(nil)))
	if kept, err := os.ReadFile(path); err == nil && len(kept) >= sha256.Size {
		digest := sha256.Sum256(kept[sha256.Size:])
		if bytes.Equal(digest[:], kept[:sha256.Size]) {
			return kept[sha256.Size:], nil
		}
	}
	out, err := ask()
	if err != nil {
		return nil, err
	}
	keep(path, out)
	return out, nil
}

// keep stores an answer whole or not at all. Without it the next test asks again.
func keep(path string, out []byte) {
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	file, err := os.CreateTemp(filepath.Dir(path), "new-")
	if err != nil {
		return
	}
	digest := sha256.Sum256(out)
	_, err = file.Write(append(digest[:], out...))
	if closed := file.Close(); err == nil && closed == nil && os.Rename(file.Name(), path) == nil {
		return
	}
	_ = os.Remove(file.Name())
}
