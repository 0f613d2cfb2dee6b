package plcrash

import (
	"bytes"
	"context"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
	"github.com/slipway-qa/slipway/worker/symbols/walk"
)

// msg writes a message: pairs of a field's number and its value, which is a number, a
// text or a message.
func msg(pairs ...any) []byte {
	var b []byte
	for i := 0; i < len(pairs); i += 2 {
		number := protowire.Number(pairs[i].(int))
		switch v := pairs[i+1].(type) {
		case int:
			b = protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), uint64(v))
		case uint64:
			b = protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
		case string:
			b = protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), v)
		case []byte:
			b = protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), v)
		}
	}
	return b
}

func file(pairs ...any) []byte { return append([]byte("plcrash\x01"), msg(pairs...)...) }

func read(b []byte) (*dump.Dump, error) { return Read(bytes.NewReader(b), int64(len(b))) }

var uuid, _ = hex.DecodeString("c1a2b3c4d5e6f708192a3b4c5d6e7f80")

// parts are the parts of a crash of an iPhone app.
func parts() []any {
	return []any{
		1, msg(1, 1, 2, "17.2", 3, 6, 4, 1_700_000_000, 5, "21C62"),
		2, msg(1, "com.example.app", 2, "42", 3, "1.4"),
		3, msg(1, 0, 2, msg(3, 0x100004010, 6, msg(1, "-[App tap:]", 2, 0x100004000)), 2, msg(3, 0x180001234), 3, 0),
		3, msg(1, 1, 2, msg(3, 0x100004100), 2, msg(3, 0x100005000), 3, 1, 4, msg(1, "X0", 2, 7), 4, msg(1, "pc", 2, 0x100004100),
			4, msg(1, "sp", 2, uint64(1)<<63)),
		4, msg(1, 0x180000000, 2, 0x1000000, 3, "/usr/lib/libobjc.A.dylib"),
		4, msg(1, 0x100000000, 2, 0x10000, 3, "/var/App.app/App", 4, uuid, 5, msg(1, 1, 2, 0x0100000c, 3, 0)),
		6, msg(1, "SIGSEGV", 2, "SEGV_ACCERR", 3, 0x20, 4, msg(1, 1, 2, 1, 2, 0x20)),
		7, msg(1, "App", 2, 345, 3, "/var/App.app/App", 5, 1, 6, 1, 7, 1_699_999_990),
		8, msg(1, "iPhone14,2", 2, msg(1, 1, 2, 0x0100000c, 3, 2), 3, 6, 4, 6),
		9, msg(1, 0),
		10, "user=7",
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	d, err := read(file(parts()...))
	require.NoError(t, err)
	require.Equal(t, dump.System{OS: dump.IOS, Version: "17.2", Build: "21C62", Arch: dump.ARM64, CPUs: 6}, d.System)
	require.Equal(t, dump.Process{ID: 345, Started: 1_699_999_990, Name: "App", Path: "/var/App.app/App", Version: "1.4"}, d.Process)
	require.Equal(t, &dump.Reason{Name: "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS", Address: 0x20, HasAddress: true}, d.Reason)
	require.Equal(t, dump.Module{Start: 0x100000000, Size: 0x10000, CodeFile: "/var/App.app/App", DebugFile: "/var/App.app/App",
		DebugID: "C1A2B3C4D5E6F708192A3B4C5D6E7F800", CodeID: "c1a2b3c4d5e6f708192a3b4c5d6e7f80"}, d.Modules[0])
	require.Equal(t, 1, d.Main)
	require.Equal(t, map[string]uint64{"x0": 7, "pc": 0x100004100, "sp": 1 << 63}, d.Threads[1].Frames[0].Registers)
	require.Equal(t, dump.Frame{Address: 0x100004010, Module: 0, Symbol: "-[App tap:]", Trust: dump.TrustGiven}, d.Threads[0].Frames[0])
	require.Equal(t, 1, d.Threads[0].Frames[1].Module)
	require.Equal(t, "user=7", d.Annotations["Custom Data"])
	require.Subset(t, d.Attributes, []dump.Attribute{{Key: "device.model", Value: "iPhone14,2"},
		{Key: "application.identifier", Value: "com.example.app"}})

	// The client walked the stacks: nothing is walked again.
	require.NoError(t, walk.Walk(context.Background(), d, nil))
	require.Len(t, d.Threads[1].Frames, 2)
}

// The frames of an uncaught exception come first: the thread itself stands in abort.
func TestException(t *testing.T) {
	t.Parallel()
	d, err := read(file(append(parts(), 5, msg(1, "NSInvalidArgumentException", 2, "unrecognized selector", 3,
		msg(3, 0x100006000), 3, msg(3, 0x100007000)))...))
	require.NoError(t, err)
	require.Equal(t, &dump.Reason{Name: "NSInvalidArgumentException", Message: "unrecognized selector"}, d.Reason)
	require.Equal(t, "Last Exception Backtrace", d.Threads[d.Main].Name)
	require.Len(t, d.Threads[d.Main].Frames, 2)

	b, err := d.Report([]byte(base))
	require.NoError(t, err)
	r, err := report.Parse(b)
	require.NoError(t, err)
	require.Equal(t, "Last Exception Backtrace", r.FaultThread().Name)
	require.Equal(t, "NSInvalidArgumentException: unrecognized selector", r.Attribute("error.message"))
	require.Equal(t, []string{"NSInvalidArgumentException"}, r.Classifiers)
}

const base = `{"uuid":"0b1c2d3e-4f50-4162-8374-95a6b7c8d9e0","timestamp":1700000000,"lang":"native","langVersion":"unknown",` +
	`"agent":"plcrash","agentVersion":"unknown","threads":{"0":{}},"mainThread":"0","attributes":{}}`

func TestReport(t *testing.T) {
	t.Parallel()
	d, err := read(file(parts()...))
	require.NoError(t, err)
	b, err := d.Report([]byte(base))
	require.NoError(t, err)
	r, err := report.Parse(b)
	require.NoError(t, err)
	require.Equal(t, "1", r.MainThread)
	require.Equal(t, "0x100004100", r.FaultThread().Frames[0].Address)
	require.Equal(t, "App", r.FaultThread().Frames[0].Library)
	require.Equal(t, "C1A2B3C4D5E6F708192A3B4C5D6E7F800", r.FaultThread().Frames[0].DebugIdentifier)
	require.False(t, r.FaultThread().Frames[0].Guessed)
	require.Equal(t, "-[App tap:]", r.Threads[1].Frames[0].Function)
	require.Equal(t, "EXC_BAD_ACCESS / KERN_INVALID_ADDRESS at 0x20", r.Attribute("error.message"))
	require.Equal(t, "0x20", r.Attribute("fault.address"))
}

// A report that was asked for is no crash.
func TestRequested(t *testing.T) {
	t.Parallel()
	d, err := read(file(append(parts(), 9, msg(1, 1))...))
	require.NoError(t, err)
	require.Nil(t, d.Reason)
}

func TestSignalOnly(t *testing.T) {
	t.Parallel()
	d, err := read(file(3, msg(1, 0, 2, msg(3, 1), 3, 1), 6, msg(1, "SIGABRT", 2, "#0", 3, 0x1234)))
	require.NoError(t, err)
	require.Equal(t, "SIGABRT / #0", d.Reason.Name)
}

func TestRefused(t *testing.T) {
	t.Parallel()
	whole := file(parts()...)
	for _, c := range []struct {
		b            []byte
		code, reason string
	}{
		{nil, symbol.Malformed, "does not begin"},
		{[]byte("plcrash"), symbol.Malformed, "does not begin"},
		{[]byte("Incident Identifier: 7"), symbol.Malformed, "does not begin"},
		{[]byte("plcrash\x02"), symbol.Unsupported, "version 2"},
		{[]byte("plcrash\x01"), symbol.Malformed, "no threads"},
		{whole[:len(whole)-3], symbol.Truncated, "cut off"},
		{file(3, msg(2, "\xff\xff")), symbol.Truncated, "frame"},
	} {
		_, err := read(c.b)
		var invalid *symbol.InvalidError
		require.ErrorAs(t, err, &invalid, c.reason)
		require.Equal(t, c.code, invalid.Code, c.reason)
		require.Contains(t, invalid.Reason, c.reason)
	}
	_, err := Read(strings.NewReader(""), maxSize+1)
	require.ErrorContains(t, err, "more than")
}

func TestBounds(t *testing.T) {
	t.Parallel()
	var pairs []any
	thread := msg(1, 5, 2, msg(3, 1))
	for range maxThreads + 5 {
		pairs = append(pairs, 3, thread)
	}
	d, err := read(file(pairs...))
	require.NoError(t, err)
	require.Len(t, d.Threads, maxThreads)
	require.Contains(t, d.Warnings[0], "4101 threads")
	b, err := d.Report([]byte(base))
	require.NoError(t, err, "all have the same number")
	_, err = report.Parse(b)
	require.NoError(t, err)

	pairs = nil
	for range maxFrames + 5 {
		pairs = append(pairs, 2, msg(3, 1))
	}
	d, err = read(file(3, msg(pairs...)))
	require.NoError(t, err)
	require.Len(t, d.Threads[0].Frames, maxFrames)
	require.True(t, d.Threads[0].Cut)
}

func FuzzPLCrash(f *testing.F) {
	f.Add(file(parts()...))
	f.Add(file(append(parts(), 5, msg(1, "NSException", 2, "r", 3, msg(3, 1)))...))
	f.Add(file(3, msg(1, 0)))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := read(b)
		if err != nil {
			return
		}
		if err := walk.Walk(context.Background(), d, nil); err != nil {
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
