package dump

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/report"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	d := &Dump{Memory: []Region{{0x2000, []byte("second")}, {0x1000, []byte("first region")}, {0x1004, []byte("t region and more")},
		{0x1002, []byte("in")}, {^uint64(0) - 2, []byte("at the end of all memory")}}}
	d.SortMemory()
	require.Equal(t, "first region", string(d.Bytes(0x1000, 100)))
	require.Equal(t, "nd mo", string(d.Bytes(0x100e, 5)), "what overlaps was cut off")
	require.Equal(t, "more", string(d.Bytes(0x1011, 100)))
	require.Equal(t, "nd", string(d.Bytes(0x2004, 9)))
	require.Empty(t, d.Bytes(0x2006, 1))
	require.Empty(t, d.Bytes(0xfff, 1))
	v, ok := d.Pointer(0x2000, 4)
	require.True(t, ok)
	require.EqualValues(t, 0x6f636573, v)
	_, ok = d.Pointer(0x2000, 8)
	require.False(t, ok)
}

func TestModuleAt(t *testing.T) {
	t.Parallel()
	d := &Dump{Modules: []Module{{Start: 0x3000, Size: 0x100}, {Start: 0x1000, Size: 0x1000, CodeFile: "a"},
		{Start: 0x1000, Size: 5, CodeFile: "b"}}}
	d.SortModules()
	require.Len(t, d.Modules, 2)
	for address, want := range map[uint64]int{0xfff: -1, 0x1000: 0, 0x1fff: 0, 0x2000: -1, 0x3000: 1, 0x30ff: 1, 0x3100: -1, ^uint64(0): -1} {
		require.Equal(t, want, d.ModuleAt(address), "%x", address)
	}
}

func TestMayExecute(t *testing.T) {
	t.Parallel()
	d := &Dump{}
	require.True(t, d.MayExecute(5), "nothing is known")
	d.Executable = []Range{{0x3000, 0x4000}, {0x1000, 0x2000}, {0x2000, 0x2800}}
	d.SortExecutable()
	require.Equal(t, []Range{{0x1000, 0x2800}, {0x3000, 0x4000}}, d.Executable)
	require.True(t, d.MayExecute(0x27ff))
	require.False(t, d.MayExecute(0x2800))
	require.False(t, d.MayExecute(0xfff))
}

// crashed is a dump with two threads, the second of which crashed.
func crashed() *Dump {
	return &Dump{
		Format: "minidump", Time: 1_700_000_100, Main: 1,
		System:  System{OS: Linux, Version: "6.1.0", Build: "Linux 6.1.0 #1 SMP", Arch: X86_64, CPUs: 4, CPUInfo: "family 6"},
		Process: Process{ID: 77, Started: 1_700_000_000, Name: "app", Path: "/opt/app"},
		Reason:  &Reason{Name: "SIGSEGV / SEGV_MAPERR", Address: 0x18, HasAddress: true},
		Modules: []Module{{Start: 0x400000, Size: 0x1000, CodeFile: "/opt/app", DebugFile: "app.debug",
			DebugID: "C1A2B3C4D5E6F708192A3B4C5D6E7F800", CodeID: "c1a2"}},
		Threads: []Thread{
			{ID: 7, Name: "main", Frames: []Frame{{Address: 0x7fff0000, Module: -1, Trust: TrustContext, Registers: map[string]uint64{"rip": 1}}}},
			{ID: 9, Name: "worker <1>", Frames: []Frame{
				{Address: 0x400010, Trust: TrustContext, Registers: map[string]uint64{"rip": 0x400010, "rsp": 1 << 63}},
				{Address: 0x400020, Trust: TrustScan, Registers: map[string]uint64{"rip": 0x400020}},
				{Address: 0x400030, Trust: TrustCFI}}},
		},
		Memory:     []Region{{0x7000, []byte("hunter2 hunter2")}},
		Attributes: []Attribute{{"ver", "1.2"}, {"api_token", "s3cret"}, {"ver", "later"}},
		Annotations: map[string]any{"Environment Variables": map[string]string{"HOME": "/root", "DB_PASSWORD": "hunter2"},
			"Command Line": "app --password hunter2 -v"},
		Unloaded: []Module{{Start: 0x10, Size: 0x10, CodeFile: "gone.dll"}},
		Warnings: []string{"a stream is cut off"},
	}
}

const submitted = `{"uuid":"0b1c2d3e-4f50-4162-8374-95a6b7c8d9e0","timestamp":1700000200,"lang":"native","langVersion":"unknown",` +
	`"agent":"minidump","agentVersion":"unknown","symbolication":"minidump","threads":{"0":{}},"mainThread":"0",` +
	`"attributes":{"ver":"of the form","application":"Shop"},"annotations":{"note":"kept"}}`

func TestReport(t *testing.T) {
	t.Parallel()
	b, err := crashed().Report([]byte(submitted))
	require.NoError(t, err)
	head, err := report.Check(b, report.Limits{})
	require.NoError(t, err)
	require.Empty(t, head.Secrets, "they are masked already")
	require.NotContains(t, string(b), "hunter2")
	require.NotContains(t, string(b), "s3cret")
	r, err := report.Parse(b)
	require.NoError(t, err)

	require.Equal(t, "9", r.MainThread)
	require.EqualValues(t, 1_700_000_200, r.Timestamp)
	require.Equal(t, "minidump", r.Symbolication)
	require.Equal(t, []string{"SIGSEGV / SEGV_MAPERR"}, r.Classifiers)
	main := r.FaultThread()
	require.Equal(t, "worker <1>", main.Name)
	require.True(t, main.Fault)
	require.Equal(t, report.Frame{Address: "0x400010", Library: "app", DebugIdentifier: "C1A2B3C4D5E6F708192A3B4C5D6E7F800",
		Faulted: true}, main.Frames[0])
	require.Equal(t, []bool{false, true, false}, []bool{main.Frames[0].Guessed, main.Frames[1].Guessed, main.Frames[2].Guessed})
	require.Equal(t, []report.Module{{Start: "0x400000", Size: "4096", CodeFile: "/opt/app", DebugFile: "app.debug",
		DebugIdentifier: "C1A2B3C4D5E6F708192A3B4C5D6E7F800"}}, r.Modules)
	for key, want := range map[string]string{
		"error.message": "SIGSEGV / SEGV_MAPERR at 0x18", "fault.address": "0x18", "uname.sysname": "Linux", "uname.release": "6.1.0",
		"uname.machine": "x86_64", "cpu.count": "4", "process.id": "77", "process.age": "100", "application": "Shop", "ver": "of the form",
		"process.name": "app", "api_token": "[scrubbed]", "thread.name": "worker <1>", "crash.reason": "SIGSEGV / SEGV_MAPERR",
	} {
		require.Equal(t, want, r.Attribute(key), key)
	}
	var doc struct {
		Annotations map[string]json.RawMessage
		Arch        struct{ Registers map[string]string }
		Threads     map[string]struct {
			Stack []struct {
				Registers     map[string]any
				Trust         string
				ReturnAddress bool `json:"return_address"`
			}
		}
	}
	require.NoError(t, json.Unmarshal(b, &doc))
	require.JSONEq(t, `"kept"`, string(doc.Annotations["note"]))
	require.JSONEq(t, `"app --password [scrubbed] -v"`, string(doc.Annotations["Command Line"]))
	require.JSONEq(t, `{"format":"minidump","warnings":["a stream is cut off"],"unloaded_modules":["0x10 0x20 gone.dll"]}`,
		string(doc.Annotations["Dump"]))
	require.Equal(t, map[string]string{"rip": "u64", "rsp": "u64"}, doc.Arch.Registers)
	stack := doc.Threads["9"].Stack
	require.Equal(t, map[string]any{"rip": "4194320", "rsp": "9223372036854775808"}, stack[0].Registers)
	require.False(t, stack[0].ReturnAddress)
	require.True(t, stack[1].ReturnAddress)
	require.Equal(t, "scan", stack[1].Trust)
	require.Nil(t, stack[1].Registers)
}

// A dump through JSON is the same dump: it is read in one process and walked in another.
func TestJSON(t *testing.T) {
	t.Parallel()
	d := crashed()
	want, err := d.Report([]byte(submitted))
	require.NoError(t, err)
	b, err := json.Marshal(d)
	require.NoError(t, err)
	var again Dump
	require.NoError(t, json.Unmarshal(b, &again))
	got, err := again.Report([]byte(submitted))
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got))
}

// A dump without a crash, without threads, and with two threads of one id.
func TestReportShapes(t *testing.T) {
	t.Parallel()
	d := crashed()
	d.Reason = nil
	d.Threads[0].ID = 9
	b, err := d.Report([]byte(submitted))
	require.NoError(t, err)
	r, err := report.Parse(b)
	require.NoError(t, err)
	require.Equal(t, []string{"9", "9-2"}, []string{r.Threads[0].ID, r.Threads[1].ID})
	require.False(t, r.Threads[0].Fault)
	require.Empty(t, r.Classifiers)
	require.Empty(t, r.Attribute("error.message"))

	empty := &Dump{Main: -1}
	b, err = empty.Report([]byte(submitted))
	require.NoError(t, err)
	_, err = report.Parse(b)
	require.NoError(t, err)

	_, err = d.Report([]byte("no document"))
	require.ErrorContains(t, err, "document of the submission")
}

// Texts with more secrets than a report may have are left out; the frames stay.
func TestTooManySecrets(t *testing.T) {
	t.Parallel()
	d := crashed()
	variables := map[string]string{}
	for i := range 12_000 {
		variables[fmt.Sprintf("PASSWORD_%d", i)] = "x"
	}
	d.Annotations["Environment Variables"] = variables
	b, err := d.Report([]byte(submitted))
	require.NoError(t, err)
	require.Contains(t, string(b), "more secrets than a report may")
	require.Contains(t, string(b), `"api_token":"[scrubbed]"`)

	d.Attributes = append(d.Attributes, Attribute{"text", strings.Repeat("token=a&", 2_000)})
	for i := range 10 {
		d.Attributes = append(d.Attributes, Attribute{fmt.Sprintf("text%d", i), strings.Repeat("token=a&", 2_000)})
	}
	b, err = d.Report([]byte(submitted))
	require.NoError(t, err)
	r, err := report.Parse(b)
	require.NoError(t, err)
	require.Len(t, r.FaultThread().Frames, 3)
	require.Empty(t, r.Attribute("api_token"))
}

// More attributes than a report may have do not make it unreadable.
func TestManyAttributes(t *testing.T) {
	t.Parallel()
	d := crashed()
	long := strings.Repeat("ä", maxValue)
	for i := range 6_000 {
		d.Attributes = append(d.Attributes, Attribute{fmt.Sprintf("key%d", i), long[:2+i%100*2]})
	}
	d.Attributes = append(d.Attributes, Attribute{"long", long})
	_, err := d.Report([]byte(submitted))
	require.NoError(t, err)
	require.Len(t, shorten(strings.Repeat("ä", maxValue)), maxValue)
	require.Len(t, shorten("a"+strings.Repeat("ä", maxValue)), maxValue-1)
}
