package upload

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"runtime/debug"
	"strconv"

	"github.com/google/uuid"

	"github.com/slipway-qa/slipway/storage/distribution"
	"github.com/slipway-qa/slipway/storage/object"
)

// stored is a file part in the object store.
type stored struct {
	distribution.NewFile
	name string
}

// content is a file part as the object store reads it. It ends when the whole
// form has, so that the store cannot commit a file that is refused yet.
type content struct {
	in    *reception
	limit int64
	over  error // beyond limit
	// ended is asked at the end of the part, and reads the rest of the form.
	ended func(*content) error
	hash  hash.Hash
	size  int64
	err   error
}

func (s *content) Read(p []byte) (n int, err error) {
	if s.err != nil {
		return 0, s.err
	}
	// A panic must not pass the store, which would leave its upload unfinished
	// and a buffer lost.
	defer func() {
		if x := recover(); x != nil {
			s.err = fmt.Errorf("panic: %v\n%s", x, debug.Stack())
			n, err = 0, s.err
		}
	}()
	n, err = s.in.form.Read(p)
	s.hash.Write(p[:n])
	s.size += int64(n)
	switch {
	case err == io.EOF:
		if err = s.ended(s); err == nil {
			err = io.EOF
		}
	case err != nil:
		err = arrival(err)
	case s.size > s.limit:
		err = s.over
	default:
		err = s.in.pass.reach(s.in.ctx(), s.in.body.n)
	}
	s.err = err
	return n, err
}

// file is what was read, once the part has ended.
func (s *content) file(key, name string) *stored {
	return &stored{NewFile: distribution.NewFile{Key: key, Size: s.size, ContentType: "application/octet-stream",
		SHA256: hex.EncodeToString(s.hash.Sum(nil))}, name: name}
}

// put stores a part and, inside it, reads the rest of the form. The error is
// s.err, or the store's when that failed by itself; in the end the form was read
// exactly when s.err is io.EOF.
func (in *reception) put(key string, s *content) error {
	s.in, s.hash = in, sha256.New()
	_, err := object.Put(in.ctx(), in.h.cfg.Objects, key, s, -1, object.WriteOptions{})
	switch {
	case err == nil:
		in.made = append(in.made, key)
		return nil
	case s.err != nil && s.err != io.EOF:
		return s.err // the store only repeats it
	}
	in.dropped = append(in.dropped, key) // whether the store has it is not sure
	return err
}

func newKey() (string, error) {
	id, err := uuid.NewV7()
	return distribution.Prefix + id.String(), err
}

// takeFile stores the build's file.
func (in *reception) takeFile(p *part) error {
	switch {
	case !p.isFile:
		return problemFile()
	case in.file != nil:
		return invalid(fieldFile, "is given twice")
	}
	if err := in.enter(); err != nil {
		return err
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	limit := in.h.cfg.MaxBytes
	if in.symbolsOnly {
		limit = in.h.cfg.MaxSymbols
	}
	return in.put(key, &content{
		limit: limit, over: problemTooLarge("the file is longer than " + strconv.FormatInt(limit, 10) + " bytes"),
		ended: func(s *content) error {
			if s.size == 0 && p.fileName == "" {
				return problemFile() // an empty field of a page
			}
			in.file = s.file(key, p.fileName)
			if err := in.rest(); err != nil {
				return err
			}
			if s.size == 0 {
				return problemEmpty()
			}
			return nil
		},
	})
}

// errLeftOut ends a symbols file that is not kept; the form goes on.
var errLeftOut = errors.New("the symbols file is left out")

// takeSymbols stores the symbols file, best effort. done says that the form has
// been read to its end, or cannot be.
func (in *reception) takeSymbols(p *part) (done bool, err error) {
	switch {
	case !p.isFile:
		b, err := io.ReadAll(io.LimitReader(in.form, 1))
		if err != nil {
			return true, arrival(err)
		}
		if len(b) > 0 {
			in.warn("symbols_file was ignored: it is not a file part")
		}
		return false, nil
	case in.symbols != nil:
		in.warn("symbols_file was ignored: it is given twice")
		return false, nil
	}
	if err := in.enter(); err != nil {
		return true, err
	}
	key, err := newKey()
	if err != nil {
		return true, err
	}
	s := &content{limit: in.h.cfg.MaxSymbols, over: errLeftOut, ended: func(s *content) error {
		if s.size == 0 {
			return errLeftOut
		}
		in.symbols = s.file(key, p.fileName)
		return in.rest()
	}}
	err = in.put(key, s)
	switch {
	case err == nil:
		return true, nil
	case err == errLeftOut:
		if s.size > 0 {
			in.warn("symbols_file was ignored: it is longer than " + strconv.FormatInt(s.limit, 10) + " bytes")
		}
		return false, nil
	case s.err != nil && s.err != io.EOF:
		return true, err
	}
	in.symbols = nil
	in.h.cfg.Log.WarnContext(in.ctx(), "symbols of an upload could not be stored", "error", err)
	in.warn("symbols_file could not be stored")
	return s.err == io.EOF, nil
}

func (in *reception) warn(text string) { in.warnings = append(in.warnings, text) }
