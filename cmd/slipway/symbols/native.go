package symbols

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/slipway-qa/slipway/cmd/slipway/setting"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
	"github.com/slipway-qa/slipway/worker/symbols/parse"
	"github.com/slipway-qa/slipway/worker/symbols/walk"
)

type lookup struct {
	Arch      string   `help:"Architecture, of a Mach-O with several."`
	File      string   `arg:"" help:"ELF, Mach-O, PE, PDB or Breakpad file."`
	Addresses []string `arg:"" optional:"" help:"Addresses from the base of the image, in hexadecimal; standard input, one a line, without any."`
}

// Run prints the functions at each address, the innermost first.
func (c *lookup) Run(ctx context.Context, s *setting.Settings, log *slog.Logger) error {
	l, err := newLocalSymbols(s, log)
	if err != nil {
		return err
	}
	defer l.close()
	found, err := l.open(ctx, c.File, "")
	if err != nil {
		return err
	}
	index, err := openNative(found, c.Arch)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	return eachArgument(c.Addresses, func(text string) error {
		address, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
		if err != nil {
			return fmt.Errorf("%q is no address in hexadecimal", text)
		}
		frames, err := index.Lookup(address)
		if err != nil {
			return err
		}
		fmt.Printf("%#x\n", address)
		for _, f := range frames {
			fmt.Println(" ", describe(f))
		}
		if len(frames) == 0 {
			fmt.Println("  ??")
		}
		return nil
	})
}

// openNative opens the index of the one file of native code, of an architecture if one is
// asked for.
func openNative(found []*localSymbol, arch string) (*native.Index, error) {
	for _, f := range found {
		switch {
		case f.err != nil && len(found) == 1:
			return nil, f.err
		case f.index != nil && f.indexed.Kind.Native() && (arch == "" || arch == f.indexed.Arch):
			return native.Open(f.index)
		}
	}
	return nil, fmt.Errorf("no symbols of native code are in it")
}

// describe returns a frame as text: function, file and line, and how it is known.
func describe(f native.Frame) string {
	text := orUnknown(f.Function)
	if f.File != "" {
		text += fmt.Sprintf(" at %s:%d", f.File, f.Line)
	}
	if f.Inlined {
		text += " (inlined)"
	}
	if f.Public {
		text += " (public symbol)"
	}
	return text
}

type stack struct {
	Format string   `default:"minidump" enum:"minidump,plcrash,unreal,unity" help:"What the dump is: minidump, plcrash, unreal or unity."`
	All    bool     `help:"Print all threads, not only the one that crashed."`
	Dump   string   `arg:"" help:"Crash dump."`
	Files  []string `arg:"" optional:"" help:"Symbol files of its modules, or archives of them."`
}

// Run walks the stacks, with the unwind information of the files, and prints them.
func (c *stack) Run(ctx context.Context, s *setting.Settings, log *slog.Logger) error {
	l, err := newLocalSymbols(s, log)
	if err != nil {
		return err
	}
	defer l.close()
	path, err := filepath.Abs(c.Dump)
	if err != nil {
		return fmt.Errorf("open %s: %w", c.Dump, err)
	}
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("open the dump: %w", err)
	}
	var d dump.Dump
	if err := l.children.Do(ctx, parse.Dump, parse.DumpArgs{Path: path, Format: c.Format}, &d); err != nil {
		return fmt.Errorf("%s: %w", c.Dump, err)
	}
	symbols := moduleIndexes{}
	for _, path := range c.Files {
		found, err := l.open(ctx, path, "")
		if err != nil {
			return err
		}
		if err := symbols.add(&d, found); err != nil {
			return err
		}
	}
	if err := walk.Walk(ctx, &d, symbols); err != nil {
		return err
	}
	return c.print(&d, symbols)
}

func (c *stack) print(d *dump.Dump, symbols moduleIndexes) error {
	fmt.Println(strings.TrimSpace(d.System.OS+" "+d.System.Version), d.System.Arch)
	if r := d.Reason; r != nil {
		fmt.Print(r.Name)
		if r.HasAddress {
			fmt.Printf(" at %#x", r.Address)
		}
		fmt.Println()
	}
	for n := range d.Threads {
		if n != d.Main && !c.All {
			continue
		}
		t := &d.Threads[n]
		fmt.Printf("thread %d %s\n", t.ID, t.Name)
		for i, f := range t.Frames {
			lines, err := symbols.frame(d, f, i > 0)
			if err != nil {
				return err
			}
			for _, line := range lines {
				fmt.Printf("  %2d  %s\n", i, line)
			}
		}
	}
	for _, w := range d.Warnings {
		fmt.Println("warning:", w)
	}
	return nil
}

// moduleIndexes are the symbols of the modules of a dump, by their number.
type moduleIndexes map[int][]*native.Index

// add finds the modules that the files are for, by their identifiers.
func (m moduleIndexes) add(d *dump.Dump, found []*localSymbol) error {
	for _, f := range found {
		if f.index == nil || !f.indexed.Kind.Native() {
			continue
		}
		index, err := native.Open(f.index)
		if err != nil {
			return err
		}
		for n := range d.Modules {
			if names(&d.Modules[n], f.indexed.Facts.Identifiers) {
				m[n] = append(m[n], index)
			}
		}
	}
	return nil
}

func names(m *dump.Module, ids []symbol.Identifier) bool {
	for _, id := range ids {
		if id.Value != "" && (id.Type == symbol.DebugID && id.Value == m.DebugID || id.Type != symbol.DebugID && id.Value == m.CodeID) {
			return true
		}
	}
	return false
}

// Unwind returns the rule of the first file that has one.
func (m moduleIndexes) Unwind(module int, address uint64) (native.Unwind, bool, error) {
	for _, index := range m[module] {
		if rule, ok, err := index.Unwind(address); ok || err != nil {
			return rule, ok, err
		}
	}
	return native.Unwind{}, false, nil
}

// Covers reports whether a function is at the address.
func (m moduleIndexes) Covers(module int, address uint64) (covered, known bool) {
	for _, index := range m[module] {
		if frames, err := index.Lookup(address); err == nil && len(frames) > 0 {
			return true, true
		}
	}
	return false, len(m[module]) > 0
}

// frame returns the lines of a frame: the functions at its address, else module and offset.
func (m moduleIndexes) frame(d *dump.Dump, f dump.Frame, returned bool) ([]string, error) {
	guessed := ""
	if f.Guessed() {
		guessed = " (guessed)"
	}
	if f.Module < 0 {
		return []string{fmt.Sprintf("%#x%s", f.Address, guessed)}, nil
	}
	module := &d.Modules[f.Module]
	at := f.Address - module.Start
	if returned {
		at--
	}
	name := module.CodeFile[strings.LastIndexAny(module.CodeFile, `/\`)+1:]
	for _, index := range m[f.Module] {
		frames, err := index.Lookup(at)
		if err != nil {
			return nil, err
		}
		var lines []string
		for _, found := range frames {
			lines = append(lines, name+"!"+describe(found)+guessed)
		}
		if len(lines) > 0 {
			return lines, nil
		}
	}
	return []string{fmt.Sprintf("%s + %#x%s %s", name, f.Address-module.Start, guessed, module.DebugID)}, nil
}
