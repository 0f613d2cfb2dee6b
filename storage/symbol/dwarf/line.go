package dwarf

import (
	"errors"
	"strings"

	"github.com/slipway-qa/slipway/storage/symbol"
)

// maxLineBytes bounds the part of .debug_line that belongs to one unit.
const maxLineBytes = 64 << 20

// lineTable is what the line program of a unit says: which files there are, and which
// line the code at an address comes from.
type lineTable struct {
	unit      *unit // with the sizes of the table's header
	compDir   string
	dirs      []value
	files     []sourceFile
	paths     []string // of the files, as they were asked for
	known     []bool
	rows      []row
	sequences []sequence // in the order of their starts

	minLength, maxOps, opcodeBase, lineRange byte
	lineBase                                 int8
	lengths                                  []byte // of the standard opcodes' operands
}

type sourceFile struct {
	name value
	dir  uint64
}

// lineTable returns the table of a unit. One that is wrong is empty, with a warning.
func (f *file) lineTable(u *unit) (*lineTable, error) {
	if !u.hasLines {
		return &lineTable{unit: u}, nil
	}
	if f.table != nil && f.tableAt == u.lineOffset && f.table.compDir == u.compDir {
		return f.table, nil
	}
	t := &lineTable{compDir: u.compDir, unit: &unit{file: f, version: u.version, root: &root{}}}
	if f.table != nil { // its buffers serve again
		t.rows, t.sequences = f.table.rows[:0], f.table.sequences[:0]
	}
	err := t.read(f, u)
	var invalid *symbol.InvalidError
	switch {
	case errors.Is(err, errBudget):
		return nil, err
	case errors.As(err, &invalid):
		f.reader.summary.Damaged++
		f.reader.summary.warn("the lines at %#x: %s", u.lineOffset, invalid.Reason)
	case err != nil:
		return nil, err
	}
	f.table, f.tableAt = t, u.lineOffset
	return t, nil
}

func (t *lineTable) read(f *file, u *unit) error {
	head, err := f.line.some(u.lineOffset, 12)
	if err != nil {
		return err
	}
	d := decoder{data: head, big: f.big}
	n, wide := d.length()
	begin := u.lineOffset + uint64(d.at)
	if d.bad || n > uint64(f.line.size)-begin {
		return symbol.Invalid(symbol.Truncated, "the length of the program is wrong")
	}
	if n > maxLineBytes {
		return symbol.Invalid(symbol.TooLarge, "the program has %d bytes, more than %d", n, maxLineBytes)
	}
	if err := f.reader.budget.spend(int(n)); err != nil {
		return err
	}
	data := make([]byte, n)
	if err := f.line.read(data, begin); err != nil {
		return err
	}
	d = decoder{data: data, big: f.big}
	t.unit = &unit{file: f, wide: wide, addressSize: u.addressSize, root: &root{strOffsetsBase: u.strOffsetsBase}}
	if err := t.header(&d); err != nil {
		return err
	}
	return t.run(&d)
}

// header reads all before the program; d is at its first opcode afterwards.
func (t *lineTable) header(d *decoder) error {
	u := t.unit
	if u.version = d.u16(); u.version < 2 || u.version > 5 {
		return symbol.Invalid(symbol.Unsupported, "version %d of line programs is not known", u.version)
	}
	if u.version >= 5 {
		u.addressSize = int(d.u8())
		d.u8() // the size of segment selectors, which no one uses
	}
	n := d.offset(u.wide)
	program := uint64(d.at) + n
	if d.bad || program > uint64(len(d.data)) {
		return symbol.Invalid(symbol.Truncated, "the header is cut off")
	}
	t.minLength, t.maxOps = d.u8(), 1
	if u.version >= 4 {
		t.maxOps = max(d.u8(), 1)
	}
	d.u8() // whether rows are statements at first
	t.lineBase, t.lineRange, t.opcodeBase = int8(d.u8()), d.u8(), d.u8()
	t.lengths = d.take(uint64(max(t.opcodeBase, 1) - 1))
	var err error
	if u.version >= 5 {
		err = t.newFiles(d)
	} else {
		t.oldFiles(d)
	}
	if err != nil {
		return err
	}
	if d.bad {
		return symbol.Invalid(symbol.Truncated, "the list of files is cut off")
	}
	d.at = int(program)
	return nil
}

func (t *lineTable) oldFiles(d *decoder) {
	for {
		name := d.text()
		if len(name) == 0 {
			break
		}
		t.dirs = append(t.dirs, value{form: formString, text: name})
	}
	for {
		name := d.text()
		if len(name) == 0 {
			break
		}
		t.define(d, name)
	}
}

// define reads what follows the name of a file.
func (t *lineTable) define(d *decoder, name []byte) {
	dir := d.uleb()
	d.skipLEB() // when it was changed
	d.skipLEB() // its size
	t.files = append(t.files, sourceFile{name: value{form: formString, text: name}, dir: dir})
}

func (t *lineTable) newFiles(d *decoder) error {
	err := t.entries(d, func(f sourceFile) { t.dirs = append(t.dirs, f.name) })
	if err != nil {
		return err
	}
	return t.entries(d, func(f sourceFile) { t.files = append(t.files, f) })
}

// entries reads a list of directories or files of version 5: what each entry holds stands
// before the list.
func (t *lineTable) entries(d *decoder, add func(sourceFile)) error {
	var formats [256]struct{ content, form uint64 }
	n := int(d.u8())
	for i := range n {
		formats[i].content, formats[i].form = d.uleb(), d.uleb()
	}
	count := d.uleb()
	if n == 0 && count > 0 {
		return symbol.Invalid(symbol.Malformed, "a list of %d files without contents", count)
	}
	for i := uint64(0); i < count && !d.bad; i++ {
		var f sourceFile
		for _, format := range formats[:n] {
			if format.form == formIndirect || format.form == formFlagPresent || format.form == formImplicitConst || format.form > 1<<31 {
				return symbol.Invalid(symbol.Malformed, "form %#x in a list of files", format.form)
			}
			v, err := t.unit.form(d, uint32(format.form), 0)
			if err != nil {
				return err
			}
			switch format.content {
			case lnctPath:
				f.name = v
			case lnctDirectoryIndex:
				f.dir = v.number
			}
		}
		add(f)
	}
	return nil
}

// file returns the path of a file by its number; "" if there is none.
func (t *lineTable) file(number uint64) (string, error) {
	if t.unit.version < 5 {
		number-- // 0, which is none, becomes the highest number
	}
	if number >= uint64(len(t.files)) {
		return "", nil
	}
	if len(t.known) <= int(number) {
		more := len(t.files) - len(t.known)
		t.known, t.paths = append(t.known, make([]bool, more)...), append(t.paths, make([]string, more)...)
	}
	if t.known[number] {
		return t.paths[number], nil
	}
	path, err := t.path(t.files[number])
	if err := t.unit.file.reader.damaged(err); err != nil {
		return "", err
	}
	t.known[number], t.paths[number] = true, path
	return path, nil
}

func (t *lineTable) path(f sourceFile) (string, error) {
	name, err := t.unit.text(f.name)
	if err != nil || absolute(name) {
		return name, err
	}
	number := f.dir
	if t.unit.version < 5 {
		number--
	}
	dir := ""
	if number < uint64(len(t.dirs)) {
		if dir, err = t.unit.text(t.dirs[number]); err != nil {
			return "", err
		}
	}
	if !absolute(dir) {
		dir = join(t.compDir, dir)
	}
	return join(dir, name), nil
}

// absolute reports whether a path of any system begins at a root. Dart's files are addresses: those of
// a package, of the SDK, and of a folder.
func absolute(path string) bool {
	if len(path) > 0 && (path[0] == '/' || path[0] == '\\') {
		return true
	}
	for _, scheme := range [...]string{"package:", "dart:", "org-dartlang-sdk:", "org-dartlang-app:", "file:///"} {
		if strings.HasPrefix(path, scheme) {
			return true
		}
	}
	return len(path) > 2 && path[1] == ':' && (path[2] == '/' || path[2] == '\\')
}

func join(dir, name string) string {
	if dir == "" || name == "" {
		return dir + name
	}
	last := dir[len(dir)-1]
	if last == '/' || last == '\\' {
		return dir + name
	}
	if separator := dir[min(2, len(dir)-1)]; separator == '\\' && len(dir) > 1 && dir[1] == ':' {
		return dir + "\\" + name
	}
	return dir + "/" + name
}
