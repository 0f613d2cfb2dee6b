package apple

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/slipway-qa/slipway/storage/artifact/archive"
)

// Magic numbers, as the first four bytes read high first.
const (
	magic32     = 0xfeedface
	magic64     = 0xfeedfacf
	magic32Back = 0xcefaedfe
	magic64Back = 0xcffaedfe
	magicFat    = 0xcafebabe
	magicFat64  = 0xcafebabf
)

const (
	// maxArchitectures is above that of every real file (6). It also rules out Java
	// classes, which have the same magic number: their next field is a version of
	// 45 at least.
	maxArchitectures = 16
	// maxCommands bounds the bytes of load commands; big apps have 20 KiB.
	maxCommands = 512 << 10
	commandUUID = 0x1b
)

var (
	errNoMachO = errors.New("it is no Mach-O file")
	errReach   = errors.New("it lies too deep in the file")
)

// slice is one architecture of a Mach-O file. uuid is "" when it has none, err
// is why it is unknown.
type slice struct {
	arch string
	uuid string
	err  error
}

// readMachO reads a thin or fat file: the headers and load commands only.
func readMachO(t *forwardReader) ([]slice, error) {
	head, err := t.read(0, 8)
	if errors.Is(err, errReach) {
		return nil, err
	}
	if err != nil {
		return nil, errNoMachO
	}
	magic := binary.BigEndian.Uint32(head)
	if magic != magicFat && magic != magicFat64 {
		s, err := readThin(t, 0, head)
		if err != nil {
			return nil, err
		}
		return []slice{s}, nil
	}
	count := binary.BigEndian.Uint32(head[4:])
	if count == 0 || count > maxArchitectures {
		return nil, errNoMachO
	}
	size := 20
	if magic == magicFat64 {
		size = 32
	}
	table, err := t.read(8, int(count)*size)
	if err != nil {
		return nil, errNoMachO
	}
	return readFat(t, table, size), nil
}

// readFat reads the architectures in the order in which they lie in the file, so
// that a stream need not go back.
func readFat(t *forwardReader, table []byte, size int) []slice {
	type section struct {
		arch string
		at   int64
	}
	var sections []section
	for ; len(table) > 0; table = table[size:] {
		at := int64(binary.BigEndian.Uint32(table[8:]))
		if size == 32 {
			at = int64(binary.BigEndian.Uint64(table[8:]) & (1<<62 - 1))
		}
		sections = append(sections, section{architecture(binary.BigEndian.Uint32(table), binary.BigEndian.Uint32(table[4:])), at})
	}
	slices.SortStableFunc(sections, func(a, b section) int { return int(min(max(a.at-b.at, -1), 1)) })
	var list []slice
	for _, p := range sections {
		uuid, err := readUUID(t, p.at)
		list = append(list, slice{arch: p.arch, uuid: uuid, err: err})
	}
	return list
}

// readUUID returns the UUID of the architecture at an offset.
func readUUID(t *forwardReader, at int64) (string, error) {
	head, err := t.read(at, 8)
	if err != nil {
		return "", err
	}
	s, err := readThin(t, at, head)
	return s.uuid, err
}

// readThin reads one architecture, of which the first eight bytes are read.
func readThin(t *forwardReader, at int64, head []byte) (slice, error) {
	var order binary.ByteOrder = binary.LittleEndian
	rest := 20 // bytes of the header after the first eight
	switch binary.BigEndian.Uint32(head) {
	case magic64Back:
		rest = 24
	case magic32Back:
	case magic64:
		order, rest = binary.BigEndian, 24
	case magic32:
		order = binary.BigEndian
	default:
		return slice{}, errNoMachO
	}
	body, err := t.read(at+8, rest)
	if err != nil {
		return slice{}, err
	}
	s := slice{arch: architecture(order.Uint32(head[4:]), order.Uint32(body))}
	count, size := order.Uint32(body[8:]), order.Uint32(body[12:])
	if size > maxCommands {
		s.err = errors.New("it has too many load commands")
		return s, nil
	}
	commands, err := t.read(at+8+int64(rest), int(size))
	s.uuid = findUUID(commands, count, order)
	if s.uuid == "" {
		s.err = err
	}
	return s, nil
}

// findUUID looks for the UUID among load commands.
func findUUID(commands []byte, count uint32, order binary.ByteOrder) string {
	for ; count > 0 && len(commands) >= 8; count-- {
		size := order.Uint32(commands[4:])
		if size < 8 || uint64(size) > uint64(len(commands)) {
			return ""
		}
		if order.Uint32(commands) == commandUUID && size >= 24 {
			return formatUUID(commands[8:24])
		}
		commands = commands[size:]
	}
	return ""
}

func formatUUID(b []byte) string {
	return strings.ToUpper(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
}

// architecture returns the name of a processor in Apple's tools (<mach/machine.h>).
func architecture(cpu, sub uint32) string {
	sub &= 0x00ffffff // the rest are capabilities
	switch cpu {
	case 7:
		return "i386"
	case 0x01000007:
		if sub == 8 {
			return "x86_64h"
		}
		return "x86_64"
	case 12:
		if name := map[uint32]string{6: "armv6", 9: "armv7", 11: "armv7s", 12: "armv7k"}[sub]; name != "" {
			return name
		}
		return "arm"
	case 0x0100000c:
		if sub == 2 {
			return "arm64e"
		}
		return "arm64"
	case 0x0200000c:
		return "arm64_32"
	case 18:
		return "ppc"
	case 0x01000012:
		return "ppc64"
	}
	return fmt.Sprintf("cpu-%x", cpu)
}

// maxEntry is the length that an entry may claim: the reach bounds what is read
// of it.
const maxEntry = 1 << 40

// forwardReader reads parts of an entry in ascending order: of a stored one
// directly, of a compressed one by inflating what precedes them, up to reach
// bytes.
type forwardReader struct {
	at       io.ReaderAt // nil: compressed
	stream   io.Reader
	position int64
	reach    int64
	failure  error
}

// openForward opens an entry; an error is returned by the first read.
func openForward(a *archive.Archive, e archive.Entry, reach int64) *forwardReader {
	if r, ok := a.ReaderAt(e); ok {
		return &forwardReader{at: r, reach: 1<<63 - 1}
	}
	r, err := a.Open(e, maxEntry)
	return &forwardReader{stream: r, reach: reach, failure: err}
}

// read returns n bytes from an offset on; fewer together with an error.
func (t *forwardReader) read(from int64, n int) ([]byte, error) {
	switch {
	case t.failure != nil:
		return nil, t.failure
	case from < t.position && t.at == nil:
		return nil, errors.New("it overlaps another part of the file")
	case int64(n) > t.reach-from:
		return nil, errReach
	}
	buf := make([]byte, n)
	if t.at != nil {
		got, err := t.at.ReadAt(buf, from)
		if got == n {
			err = nil
		}
		return buf[:got], err
	}
	skipped, err := io.CopyN(io.Discard, t.stream, from-t.position)
	t.position += skipped
	if err != nil {
		t.failure = err
		return nil, err
	}
	got, err := io.ReadFull(t.stream, buf)
	t.position += int64(got)
	t.failure = err
	return buf[:got], err
}
