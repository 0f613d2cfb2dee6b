package parse

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/binary"
	"github.com/slipway-qa/slipway/storage/symbol/dwarf"
)

// Companion is a file with a part of the debug information of others: a temporary file, and
// the links by which these name it.
type Companion struct {
	File     string        `json:"file"`
	Supplies []symbol.Link `json:"supplies"`
}

// maxLinks of a file are recorded: of split units the ones with the lowest ids. A package and
// its executable have the same ids, so that they have the lowest ones in common.
const maxLinks = 1024

// supplied returns the links by which other files name this one.
func supplied(f *binary.File, file io.ReaderAt, size int64) ([]symbol.Link, error) {
	if f.Kind != symbol.ELF || !f.HasDebug() {
		return nil, nil
	}
	if s, ok := f.Header(".debug_info.dwo"); ok && s.Size > 0 {
		ids, err := dwarf.SplitUnits(f, f.Order)
		return splitLinks(ids), err
	}
	code := false
	for _, s := range f.Sections() {
		code = code || s.Code && s.Size > 0
	}
	if f.BuildID != "" {
		if code {
			return nil, nil // crashes find it themselves
		}
		return []symbol.Link{{Type: symbol.Supplementary, Value: f.BuildID}}, nil
	}
	if f.Type != binary.Debug {
		return nil, nil
	}
	sum := crc32.NewIEEE()
	_, err := io.Copy(sum, bufio.NewReaderSize(io.NewSectionReader(file, 0, size), 1<<20))
	return []symbol.Link{debugFileLink(sum.Sum32())}, err
}

func debugFileLink(sum uint32) symbol.Link {
	return symbol.Link{Type: symbol.DebugFile, Value: fmt.Sprintf("%08x", sum)}
}

// splitLinks returns the links of rising ids.
func splitLinks(ids []uint64) (links []symbol.Link) {
	for _, id := range ids[:min(len(ids), maxLinks)] {
		links = append(links, symbol.Link{Type: symbol.SplitUnit, Value: fmt.Sprintf("%016x", id)})
	}
	return links
}

// companions opens the files that have the parts which one file lacks.
type companions struct {
	folder string
	list   []Companion
	split  map[uint64]int // the number of the companion by the ids in it
	opened []openCompanion
	lacked []symbol.Link
}

type openCompanion struct {
	number int
	file   *os.File
	binary *binary.File
}

// maxOpen bounds the companions that are open at once: a child has 256 files.
const maxOpen = 16

// readCompanions reads the list of companions.
func readCompanions(in input) (*companions, error) {
	c := &companions{folder: in.Folder}
	if in.Companions == "" {
		return c, nil
	}
	doc, err := os.ReadFile(in.Companions)
	if err != nil {
		return nil, err
	}
	return c, json.Unmarshal(doc, &c.list)
}

// WriteCompanions writes the list that IndexArgs name.
func WriteCompanions(path string, list []Companion) error {
	doc, err := json.Marshal(list)
	if err != nil {
		return err
	}
	return os.WriteFile(path, doc, 0o600)
}

// find returns the companion of a link; nil when there is none, which is noted.
func (c *companions) find(link symbol.Link) (*binary.File, error) {
	for n, one := range c.list {
		if len(one.Supplies) > 0 && one.Supplies[0] == link {
			return c.open(n)
		}
	}
	c.lacked = append(c.lacked, link)
	return nil, nil
}

// findSplit returns the .dwo or .dwp file that has a unit, as package dwarf asks for it.
func (c *companions) findSplit(_ string, id uint64) (dwarf.Sections, error) {
	if c.split == nil {
		if err := c.readSplit(); err != nil {
			return nil, err
		}
	}
	n, ok := c.split[id]
	if !ok {
		return nil, nil
	}
	f, err := c.open(n)
	if err != nil {
		return nil, err // not f, which would be no nil
	}
	return f, nil
}

// readSplit reads all ids of split units: the list has only some of a package.
func (c *companions) readSplit() error {
	c.split = map[uint64]int{}
	for n, one := range c.list {
		if len(one.Supplies) == 0 || one.Supplies[0].Type != symbol.SplitUnit {
			continue
		}
		f, err := c.open(n)
		if err != nil {
			return err
		}
		ids, err := dwarf.SplitUnits(f, f.Order)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if _, ok := c.split[id]; !ok {
				c.split[id] = n
			}
		}
	}
	return nil
}

// open opens a companion.
func (c *companions) open(n int) (*binary.File, error) {
	for _, o := range c.opened {
		if o.number == n {
			return o.binary, nil
		}
	}
	c.makeRoom()
	file, size, err := open(c.list[n].File)
	if err != nil {
		return nil, err
	}
	f, err := binary.Open(file, size)
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	temporary := temporaries(c.folder)
	f.Temporary = func() (binary.Temporary, error) { return temporary() }
	c.opened = append(c.opened, openCompanion{number: n, file: file, binary: f})
	return f, nil
}

// makeRoom closes the split file that was opened first when many are open: package dwarf
// uses one at a time, and the others, of which there are two at most, to the end.
func (c *companions) makeRoom() {
	if len(c.opened) < maxOpen {
		return
	}
	for i, o := range c.opened {
		if c.list[o.number].Supplies[0].Type == symbol.SplitUnit {
			o.close()
			c.opened = slices.Delete(c.opened, i, i+1)
			return
		}
	}
}

func (o openCompanion) close() {
	_ = o.binary.Close()
	_ = o.file.Close()
}

func (c *companions) close() {
	for _, o := range c.opened {
		o.close()
	}
}
