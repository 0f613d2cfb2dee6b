package pdb

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/slipway-qa/slipway/storage/symbol/native"
)

const (
	fpoSize   = 16
	frameSize = 32
	// maxFrames bounds the frame data, which is held in memory (128 MiB).
	maxFrames = 4 << 20
)

// frames reports the frame data of x86 as STACK WIN records say it: programs (type 4) where
// the linker wrote them, and what the old format knew (type 0).
func (d *database) frames() error {
	p, err := d.extraStream(streamOfFrames, frameSize, maxFrames)
	if err != nil {
		return d.skip(err)
	}
	for ; len(p) >= frameSize; p = p[frameSize:] {
		u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(p[at:]) }
		program, err := d.names.at(u32(20), d.caches.files)
		if err != nil {
			return err
		}
		rest := "0 0"
		if program != "" {
			rest = "1 " + program
		}
		// type prologue epilogue parameters saved locals maximum
		text := fmt.Sprintf("4 %x 0 %x %x %x %x %s", binary.LittleEndian.Uint16(p[24:]), u32(12),
			binary.LittleEndian.Uint16(p[26:]), u32(8), u32(16), rest)
		if err := d.reportFrame(u32(0), u32(4), text); err != nil {
			return err
		}
	}
	if p, err = d.extraStream(streamOfFPO, fpoSize, maxFrames); err != nil {
		return d.skip(err)
	}
	for ; len(p) >= fpoSize; p = p[fpoSize:] {
		bits := binary.LittleEndian.Uint16(p[14:])
		text := fmt.Sprintf("0 %x 0 %x %x %x 0 0 %d", bits&0xff, 4*uint32(binary.LittleEndian.Uint16(p[12:])), 4*(bits>>8&7),
			4*uint64(binary.LittleEndian.Uint32(p[8:])), bits>>12&1)
		if err := d.reportFrame(binary.LittleEndian.Uint32(p), binary.LittleEndian.Uint32(p[4:]), text); err != nil {
			return err
		}
	}
	return nil
}

func (d *database) reportFrame(start, size uint32, text string) error {
	end := uint64(start) + uint64(size)
	if size == 0 {
		return nil
	}
	d.summary.Unwinds++
	return d.sink.Unwind(native.Unwind{Start: uint64(start), End: end, Windows: text})
}

var _ io.ReaderAt = (*stream)(nil)
