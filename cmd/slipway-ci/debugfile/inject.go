package debugfile

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/filetype"
)

// Injected is a script that got a debug id, and its map.
type Injected struct{ Script, Map, ID string }

// Inject writes the same debug id into each script and the map that it names: the comment
// //# debugId= before the one that names the map, and the member debugId. The id is made from
// both contents, so that the same assets have the same one again. One that a bundler wrote
// stays, and is written into the other; of two that differ nothing is changed and odd says so.
// Scripts whose map is not beside them are left as they are.
//
// A file is replaced whole or not at all.
func Inject(files []File) (done []Injected, odd []string, err error) {
	maps := map[string]bool{}
	for _, f := range files {
		if f.Format == filetype.Format(symbol.SourceMap) {
			maps[filepath.Clean(f.Path)] = true
		}
	}
	for _, f := range files {
		if f.Format != filetype.Format(symbol.Source) {
			continue
		}
		tail, err := tailOf(f.Path)
		if err != nil {
			return done, odd, err
		}
		address := commentOf(tail, "sourceMappingURL")
		name, err := url.PathUnescape(address)
		if address == "" || err != nil || strings.Contains(address, ":") || filepath.IsAbs(name) {
			continue
		}
		beside := filepath.Join(filepath.Dir(f.Path), filepath.FromSlash(name))
		if !maps[beside] {
			continue
		}
		in, problem, err := inject(f.Path, beside, commentOf(tail, "debugId"))
		if err != nil {
			return done, odd, err
		}
		if problem != "" {
			odd = append(odd, problem)
		}
		if in != nil {
			done = append(done, *in)
		}
	}
	return done, odd, nil
}

// inject writes the id into those of the two that lack it; nil when both have it.
func inject(script, mapPath, inScript string) (_ *Injected, problem string, err error) {
	inMap, err := debugIDOf(mapPath)
	if err != nil {
		return nil, "", err
	}
	one, two := scriptID(inScript), scriptID(inMap)
	var id string
	switch {
	case len(one) > 0 && len(two) > 0 && one[0] != two[0]:
		return nil, fmt.Sprintf("%s has the debug id %s, its map %s: build them anew", script, one[0].Value, two[0].Value), nil
	case len(one) > 0 && len(two) > 0:
		return nil, "", nil
	case len(one) > 0:
		id = one[0].Value
	case len(two) > 0:
		id = two[0].Value
	default:
		if id, err = madeID(script, mapPath); err != nil {
			return nil, "", err
		}
	}
	if len(one) == 0 {
		if err := writeScript(script, id); err != nil {
			return nil, "", err
		}
	}
	if len(two) == 0 {
		if err := writeMap(mapPath, id); err != nil {
			return nil, "", err
		}
	}
	return &Injected{Script: script, Map: mapPath, ID: id}, "", nil
}

func debugIDOf(mapPath string) (string, error) {
	in, err := os.Open(mapPath)
	if err != nil {
		return "", err
	}
	defer in.Close()
	id, err := mapDebugID(in)
	if err != nil {
		return "", fmt.Errorf("%s: %w", mapPath, err)
	}
	return id, nil
}

// madeID is a UUID of version 8 (RFC 9562) from the contents.
func madeID(paths ...string) (string, error) {
	h := sha256.New()
	for _, path := range paths {
		in, err := os.Open(path)
		if err != nil {
			return "", err
		}
		n, err := io.Copy(h, in)
		in.Close()
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "\x00%d\x00", n)
	}
	u := h.Sum(nil)[:16]
	u[6], u[8] = u[6]&0x0f|0x80, u[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:]), nil
}

// writeScript puts the comment before the line that names the map: what stands before it keeps
// its place, so that the map stays right.
func writeScript(path, id string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin := max(0, len(text)-tailSize)
	at, _ := lastComment(text[begin:], "sourceMappingURL")
	if at < 0 {
		return fmt.Errorf("%s was changed meanwhile", path)
	}
	at += begin
	return replace(path, func(w io.Writer) error {
		for _, part := range [][]byte{text[:at], []byte("//# debugId=" + id + "\n"), text[at:]} {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeMap puts the member at the beginning of the map, and leaves all else as it is.
func writeMap(path, id string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	buffered := bufio.NewReaderSize(in, 64<<10)
	skipped, err := skipGuard(buffered)
	if err != nil {
		return err
	}
	head, err := buffered.ReadString('{')
	if err != nil {
		return fmt.Errorf("%s: there is no { in it", path)
	}
	offset := int64(skipped + len(head))
	member, err := json.Marshal(id)
	if err != nil {
		return err
	}
	comma := []byte(",")
	rest, _ := buffered.Peek(buffered.Buffered())
	if bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte("}")) {
		comma = nil
	}
	return replace(path, func(w io.Writer) error {
		if _, err := io.Copy(w, io.NewSectionReader(in, 0, offset)); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, `"debugId":%s%s`, member, comma); err != nil {
			return err
		}
		info, err := in.Stat()
		if err != nil {
			return err
		}
		_, err = io.Copy(w, io.NewSectionReader(in, offset, info.Size()-offset))
		return err
	})
}

// replace writes a file anew beside the old one and puts it in its place.
func replace(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(path), ".slipway-*")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // gone when all is well
	if err := write(out); err != nil {
		out.Close()
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := out.Chmod(info.Mode().Perm()); err != nil {
		out.Close()
		return err
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(out.Name(), path)
}
