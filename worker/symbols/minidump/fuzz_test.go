package minidump_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
	"github.com/slipway-qa/slipway/worker/symbols/minidump"
	"github.com/slipway-qa/slipway/worker/symbols/minidump/minidumptest"
	"github.com/slipway-qa/slipway/worker/symbols/walk"
)

const base = `{"uuid":"0b1c2d3e-4f50-4162-8374-95a6b7c8d9e0","timestamp":1700000000,"lang":"native","langVersion":"unknown",` +
	`"agent":"minidump","agentVersion":"unknown","symbolication":"minidump","threads":{"0":{}},"mainThread":"0","attributes":{"ver":"1"}}`

// anySymbols has a rule for every address, by the address.
type anySymbols struct{}

func (anySymbols) Unwind(module int, address uint64) (native.Unwind, bool, error) {
	switch address % 4 {
	case 0:
		return native.Unwind{Rules: ".cfa: $rsp 16 + .ra: .cfa 8 - ^ $rbp: .cfa 16 - ^"}, true, nil
	case 1:
		return native.Unwind{Windows: "4 1 0 8 4 0 0 1 $T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + ="}, true, nil
	case 2:
		return native.Unwind{Rules: ".cfa: sp 16 + .ra: x30 x29: .cfa ^"}, true, nil
	}
	return native.Unwind{}, false, nil
}

func (anySymbols) Covers(module int, address uint64) (covered, known bool) {
	return address%2 == 0, module%2 == 0
}

func FuzzMinidump(f *testing.F) {
	for _, order := range []minidumptest.Order{binary.LittleEndian, binary.BigEndian} {
		for arch, os := range map[string]string{dump.X86: dump.Windows, dump.X86_64: dump.Linux, dump.ARM: dump.Android, dump.ARM64: dump.MacOS} {
			d := &dump.Dump{System: dump.System{OS: os, Arch: arch, Version: "1.2.3"},
				Threads: []dump.Thread{{ID: 1, Name: "main", StackStart: 0x8000, StackEnd: 0x8040,
					Registers: map[string]uint64{"rip": 0x1010, "eip": 0x1010, "pc": 0x1010, "rsp": 0x8000, "esp": 0x8000,
						"sp": 0x8000, "fp": 0x8010, "ebp": 0x8010}}},
				Modules: []dump.Module{{Start: 0x1000, Size: 0x4000, CodeFile: "app", CodeID: "c4b3a2c1e6d508f7192a3b4c5d6e7f80",
					DebugID: "C1A2B3C4D5E6F708192A3B4C5D6E7F800"}},
				Memory:     []dump.Region{{Start: 0x8000, Data: bytes.Repeat([]byte{0x24, 0x10, 0, 0, 0, 0, 0, 0}, 8)}},
				Attributes: []dump.Attribute{{Key: "a", Value: "b"}, {Key: "c", Value: "d"}}}
			f.Add(minidumptest.Write(order, d, &minidumptest.Exception{Code: 11, Flags: 1, Parameters: []uint64{1, 2, 3}}))
		}
		w := minidumptest.New(order)
		w.Stream(3, w.Numbers(0))
		w.Stream(9, w.Numbers(uint64(1), uint64(32), uint64(0x1000), uint64(8)))
		w.Stream(14, w.Numbers(12, 24, 1, uint64(0x1000), 16, 0, 0, w.Text16("gone.dll")))
		w.Stream(16, w.Numbers(16, 48, uint64(1), uint64(0x1000), uint64(0), 0, 0, uint64(0x1000), 0x1000, 0x20, 0, 0))
		w.Stream(17, w.Numbers(12, 64, 1, make([]byte, 64)))
		w.Stream(0x47670002, make([]byte, 776))
		w.Stream(0x47670009, []byte("1000-2000 r-xp 0 0 0 /bin/app\n"))
		w.Stream(0x47670007, []byte("A=b\x00"))
		f.Add(w.Bytes(7))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := minidump.Read(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		// It goes from one process to another as JSON.
		text, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		d = &dump.Dump{}
		if err := json.Unmarshal(text, d); err != nil {
			t.Fatal(err)
		}
		if err := walk.Walk(context.Background(), d, anySymbols{}); err != nil {
			t.Fatal(err)
		}
		doc, err := d.Report([]byte(base))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := report.Check(doc, report.Limits{}); err != nil {
			t.Fatal(err)
		}
	})
}
