// Package engine reads what the crash handlers of game engines leave behind: the archive that Unreal
// Engine's CrashReportClient sends (.uecrash), and the folder of Unity's crash handler, or one of
// Unreal's, as a zip. The result is a dump.Dump.
//
// All of them hold a minidump, mostly, and texts beside it: Unreal's CrashContext.runtime-xml with the
// stack of each thread in modules and offsets, the log, Unity's error.log and Player.log with the
// stack. The minidump is read by package minidump, and its stack is walked. Where there is none, or
// none that can be read, the stack is that of the texts. What else they say becomes attributes and
// annotations.
//
// No file here was written by an engine. The formats are those of the engine's documentation and of
// public readers: github.com/getsentry/symbolic (symbolic-unreal) for the archive.
//
// Archives are hostile: what they unpack to is bounded in bytes, in files, and for each file; texts
// are read once, from front to back. One with neither a minidump nor a stack is a
// *symbol.InvalidError. A part that cannot be read is a warning.
//
// The package is a leaf.
package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
	"github.com/slipway-qa/slipway/worker/symbols/minidump"
)

// The formats, as in dump.Dump.
const (
	Unreal = "unreal"
	Unity  = "unity"
)

// Bounds of what is read. Real archives have half a dozen files and some megabytes.
const (
	maxFiles    = 200
	maxUnpacked = 512 << 20
	// maxMinidump is held in memory, of which a child has 768 MiB.
	maxMinidump = 128 << 20
	maxContext  = 4 << 20
	// maxCrashLog is read of a log from its end, where the crash stands; maxTail is kept of it.
	maxCrashLog = 2 << 20
	maxTail     = 32 << 10
	maxThreads  = 1 << 10
	maxFrames   = 1 << 10 // of a thread
	maxTotal    = 20_000  // of all threads
	maxModules  = 8 << 10
	maxText     = 16 << 10
	maxWarnings = 100
)

// parts are the files of an archive that are of use.
type parts struct {
	minidump, context []byte
	logs              []log // at most maxLogs
	warnings          []string
	files             int
}

// log is a log, up to its end.
type log struct {
	name string
	tail []byte
}

// maxLogs are kept: an engine writes one or two.
const maxLogs = 4

func (p *parts) warn(format string, args ...any) {
	if len(p.warnings) < maxWarnings {
		p.warnings = append(p.warnings, plain(fmt.Sprintf(format, args...), 500))
	}
}

// Read reads an archive of size bytes. An error is a *symbol.InvalidError, or comes from r.
func Read(r io.ReaderAt, size int64) (*dump.Dump, error) {
	p := &parts{}
	head := make([]byte, min(max(size, 0), 4))
	if n, err := r.ReadAt(head, 0); n < len(head) {
		return nil, fmt.Errorf("read crash archive: %w", err)
	}
	var err error
	switch {
	case bytes.HasPrefix(head, []byte("PK")):
		err = p.unzip(r, size)
	case isUnreal(head):
		err = p.unreal(io.NewSectionReader(r, 0, size))
	default:
		err = symbol.Invalid(symbol.Malformed, "neither a crash archive of Unreal Engine (zlib, CR1) nor a zip of a crash folder")
	}
	if err != nil {
		return nil, err
	}
	return p.dump()
}

// unzip reads a folder that was zipped.
func (p *parts) unzip(r io.ReaderAt, size int64) error {
	a, err := archive.Open(r, size)
	if err != nil {
		return symbol.Invalid(symbol.Malformed, "the zip cannot be read: %v", err)
	}
	left := int64(maxUnpacked)
	for _, e := range a.Entries() {
		if strings.HasSuffix(e.Name, "/") || !useful(e.Name) {
			continue
		}
		if p.files++; p.files > maxFiles {
			p.warn("more than %d files; the others are not read", maxFiles)
			return nil
		}
		read, err := p.member(a, e, left)
		if left -= read; errors.Is(err, archive.ErrTooLarge) || left <= 0 {
			return symbol.Invalid(symbol.TooLarge, "the zip unpacks to more than %d MiB", maxUnpacked>>20)
		}
		if err != nil {
			p.warn("%s cannot be read: %v", e.Name, err)
		}
	}
	return nil
}

// member takes a file of a zip, and returns how many bytes of it were read: at most those left.
func (p *parts) member(a *archive.Archive, e archive.Entry, left int64) (int64, error) {
	content, err := a.Open(e, left)
	if err != nil {
		return 0, err
	}
	counted := &counter{r: content}
	err = p.take(e.Name, counted, -1)
	return counted.n, err
}

// counter counts what was read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n += int64(n)
	return n, err
}

// useful reports whether a file of a folder is read.
func useful(name string) bool {
	name = strings.ToLower(base(name))
	return !strings.HasPrefix(name, "._") && (name == contextName || strings.HasSuffix(name, ".dmp") ||
		strings.HasSuffix(name, ".mdmp") || isLog(name))
}

func isLog(name string) bool {
	name = strings.ToLower(base(name))
	return strings.HasSuffix(name, ".log") || name == "output_log.txt" || name == "diagnostics.txt"
}

// contextName is the file that says what Unreal knows of the crash.
const contextName = "crashcontext.runtime-xml"

// base is the last part of a path of any system.
func base(name string) string { return name[strings.LastIndexAny(name, `/\`)+1:] }

// take reads a file of the archive up to its end; size is -1 where the archive does not say it.
func (p *parts) take(name string, content io.Reader, size int64) error {
	lower := strings.ToLower(base(name))
	switch {
	case lower == contextName && p.context == nil:
		return p.keep(name, content, maxContext, &p.context)
	case (strings.HasSuffix(lower, ".dmp") || strings.HasSuffix(lower, ".mdmp")) && p.minidump == nil:
		if size > maxMinidump {
			p.warn("%s has %d bytes; %d are read at most", name, size, maxMinidump)
			break
		}
		return p.keep(name, content, maxMinidump, &p.minidump)
	case isLog(lower) && len(p.logs) < maxLogs:
		tail, err := readTail(content, maxCrashLog)
		if err != nil {
			return err
		}
		p.logs = append(p.logs, log{name: plain(base(name), 255), tail: tail})
		return nil
	}
	_, err := io.Copy(io.Discard, content)
	return err
}

// keep reads a file; one that is too long is left out.
func (p *parts) keep(name string, content io.Reader, most int64, to *[]byte) error {
	b, err := io.ReadAll(io.LimitReader(content, most+1))
	if err != nil {
		return err
	}
	if int64(len(b)) > most {
		p.warn("%s has more than %d bytes and is not read", name, most)
		_, err = io.Copy(io.Discard, content)
		return err
	}
	*to = b
	return nil
}

// readTail reads to the end and returns the last bytes.
func readTail(r io.Reader, most int) ([]byte, error) {
	var b []byte
	piece := make([]byte, 64<<10)
	for {
		n, err := r.Read(piece)
		b = append(b, piece[:n]...)
		if len(b) > 2*most {
			b = append(b[:0], b[len(b)-most:]...)
		}
		if errors.Is(err, io.EOF) {
			return b[max(0, len(b)-most):], nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// dump makes one dump of the parts.
func (p *parts) dump() (*dump.Dump, error) {
	d, wrong := p.readMinidump()
	if wrong != nil {
		p.warn("the minidump cannot be read: %v", wrong)
	}
	if d == nil {
		d = &dump.Dump{Main: -1}
	}
	if d.Annotations == nil {
		d.Annotations = map[string]any{}
	}
	if p.context != nil {
		d.Format = Unreal
		p.applyContext(d)
	} else {
		d.Format = Unity
		p.applyLogs(d)
	}
	if len(d.Threads) == 0 {
		return nil, symbol.Invalid(symbol.Malformed, "the crash archive has neither a minidump nor a stack that can be read%s", p.reasons())
	}
	for _, l := range p.logs {
		if text := tailText(l.tail); text != "" {
			d.Annotations["Log "+l.name] = text
		}
	}
	d.Warnings = append(d.Warnings, p.warnings...)
	return d, nil
}

// reasons appends the first warning to an error.
func (p *parts) reasons() string {
	if len(p.warnings) == 0 {
		return ""
	}
	return " (" + p.warnings[0] + ")"
}

func (p *parts) readMinidump() (*dump.Dump, error) {
	if len(p.minidump) == 0 {
		return nil, nil
	}
	d, err := minidump.Read(bytes.NewReader(p.minidump), int64(len(p.minidump)))
	if err != nil {
		return nil, err
	}
	return d, nil
}

// commandLine begins, in a log of Unreal Engine, what the program was called with: launchers sign in
// by it.
var commandLine = []byte("Command Line:")

// tailText is the end of a log, from the beginning of a line, without the command line.
func tailText(b []byte) string {
	if len(b) > maxTail {
		b = b[len(b)-maxTail:]
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			b = b[i+1:]
		}
	}
	var kept []byte
	for line := range bytes.Lines(b) {
		if !bytes.Contains(line, commandLine) {
			kept = append(kept, line...)
		}
	}
	return plain(string(kept), maxTail)
}

// plain bounds a text and makes it one that reports take.
func plain(text string, most int) string {
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
}
