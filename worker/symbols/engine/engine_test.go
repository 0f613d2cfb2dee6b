package engine

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/worker/symbols/dump"
	"github.com/slipway-qa/slipway/worker/symbols/minidump/minidumptest"
	"github.com/slipway-qa/slipway/worker/symbols/walk"
)

const submission = `{"uuid":"0b1c2d3e-4f50-4162-8374-95a6b7c8d9e0","timestamp":1700000000,"lang":"native","langVersion":"unknown",` +
	`"agent":"unreal",
	"agentVersion":"unknown","symbolication":"minidump","threads":{"0":{}},"mainThread":"0","attributes":{}}`

const contextText = "\xef\xbb\xbf" + `<?xml version="1.0" encoding="UTF-8"?>
<FGenericCrashContext>
<RuntimeProperties>
<CrashGUID>UECC-Windows-0123_0000</CrashGUID><ProcessId>4242</ProcessId><CrashType>Assert</CrashType>` +
	`<SecondsSinceStart>81</SecondsSinceStart>
<GameName>UE-Shop</GameName><ExecutableName>Shop-Win64-Shipping</ExecutableName><PlatformName>WindowsNoEditor</PlatformName>
<EngineVersion>5.3.2-29314046+++UE5+Release-5.3</EngineVersion><BuildVersion>shop-1.4.2</BuildVersion>` +
	`<CommandLine>-AUTH_PASSWORD=hunter2</CommandLine>
<RestartCommandLine>-AUTH_PASSWORD=hunter2</RestartCommandLine><UserName>ann</UserName>
<LoginId>9f86d081884c7d65</LoginId><ErrorMessage>Assertion failed: Price &gt; 0 [File:D:\shop\cart.cpp] [Line: 42]</ErrorMessage>
<UserDescription>I paid twice</UserDescription>
<CallStack>Shop_Win64_Shipping!ACart::Pay() [D:\shop\cart.cpp:42]
Shop_Win64_Shipping!UnknownFunction
kernel32</CallStack>
<PCallStack>
Shop-Win64-Shipping 0x00007ff6a0000000 + 5bdbf1
Shop-Win64-Shipping 0x00007ff6a0000000 + 1000
kernel32 0x00007ffb00000000 + 17374
</PCallStack>
<Threads>
<Thread><CallStack>ntdll 0x00007ffc00000000 + 9d974</CallStack><IsCrashed>false</IsCrashed><ThreadID>7</ThreadID>` +
	`<ThreadName>Render</ThreadName></Thread>
<Thread><CallStack>Shop-Win64-Shipping 0x00007ff6a0000000 + 5bdbf1    Shop-Win64-Shipping 0x00007ff6a0000000 + 1000
kernel32 0x00007ffb00000000 + 17374</CallStack><IsCrashed>true</IsCrashed><ThreadID>8</ThreadID><ThreadName>GameThread</ThreadName></Thread>
</Threads>
</RuntimeProperties>
<PlatformProperties><PlatformIsRunningWindows>1</PlatformIsRunningWindows></PlatformProperties>
<GameData><Level>Checkout</Level><UserName>ann</UserName><CommandLine>-AUTH_PASSWORD=hunter2</CommandLine></GameData>
</FGenericCrashContext>`

const unityText = `Mono path[0] = 'C:/shop/Shop_Data/Managed'
Initialize engine version: 2022.3.35f1 (011206c7a712)
UnityPlayer.dll caused an Access Violation (0xc0000005)
C:\shop\UnityPlayer.dll:UnityPlayer.dll (00007FFB3B000000), size: 30056448 (result: 0), SymType: '-deferred-', PDB: '', ` +
	`fileVersion: 2022.3.35.1

========== OUTPUTTING STACK TRACE ==================

0x00007FFB3BEC7265 (UnityPlayer) [D:\shop\cart.cpp:529] Cart::Pay
  ERROR: SymGetSymFromAddr64, GetLastError: 'Success.' (Address: 00007FFB3B51DF8A)
0x00007FFB3B51DF8A (UnityPlayer) (function-name not available)
0x0000000011F88AAD (Mono JIT Code) Shop.Cart:Pay ()

========== END OF STACKTRACE ===========
`

type file struct {
	name    string
	content []byte
}

func name260(name string) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 260)
	return append(append(b, name...), make([]byte, 260-len(name))...)
}

// unrealArchive writes an archive as the engine does; older is the form before 4.26.
func unrealArchive(older bool, files ...file) []byte {
	header := func(count int) []byte {
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(append(name260("UECC-Windows-0123_0000"),
			name260("x.uecrash")...), 0), uint32(count))
	}
	b := append([]byte(marker), header(len(files))...)
	if older {
		b = header(0)
	}
	for i, f := range files {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(i)), name260(f.name)...)
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(f.content))), f.content...)
	}
	if older {
		b = append(b, header(len(files))...)
	}
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

func zipped(files ...file) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		e, _ := w.Create("Crash_2026-09-02_045033156/" + f.name)
		_, _ = e.Write(f.content)
	}
	_ = w.Close()
	return out.Bytes()
}

func minidumpFile() []byte {
	d := &dump.Dump{System: dump.System{OS: dump.Windows, Arch: dump.X86_64, Version: "10.0.19045"},
		Threads: []dump.Thread{{ID: 8, Name: "GameThread", StackStart: 0x8000, StackEnd: 0x8040,
			Registers: map[string]uint64{"rip": 0x1010, "rsp": 0x8000}}},
		Modules: []dump.Module{{Start: 0x1000, Size: 0x4000, CodeFile: `D:\shop\Shop.exe`, DebugID: "C1A2B3C4D5E6F708192A3B4C5D6E7F800"}},
		Memory:  []dump.Region{{Start: 0x8000, Data: make([]byte, 64)}}}
	return minidumptest.Write(binary.LittleEndian, d, &minidumptest.Exception{Code: 0x4000})
}

func read(b []byte) (*dump.Dump, error) { return Read(bytes.NewReader(b), int64(len(b))) }

// reported returns the report of a dump, with its stacks walked.
func reported(t *testing.T, d *dump.Dump) map[string]any {
	t.Helper()
	require.NoError(t, walk.Walk(context.Background(), d, nil))
	doc, err := d.Report([]byte(submission))
	require.NoError(t, err)
	_, err = report.Check(doc, report.Limits{})
	require.NoError(t, err)
	var out map[string]any
	require.NoError(t, json.Unmarshal(doc, &out))
	return out
}

func TestUnrealWithoutMinidump(t *testing.T) {
	t.Parallel()
	log := file{"Shop.log", []byte("LogInit: Command Line: -AUTH_PASSWORD=s3cret\r\n[2026.09.02-04.50.33:156] LogCart: paid\n")}
	for name, b := range map[string][]byte{
		"archive": unrealArchive(false, file{"CrashContext.runtime-xml", []byte(contextText)}, log),
		"before 4.26": unrealArchive(true, file{"CrashReportClient.ini", []byte("[x]")},
			file{"CrashContext.runtime-xml", []byte(contextText)}, log),
		"zip of the folder": zipped(file{"CrashContext.runtime-xml", []byte(contextText)}, log),
		"a minidump that is none": unrealArchive(false, file{"UEMinidump.dmp", []byte("x")}, log,
			file{"CrashContext.runtime-xml", []byte(contextText)}),
	} {
		d, err := read(b)
		require.NoError(t, err, name)
		require.Equal(t, Unreal, d.Format)
		require.Len(t, d.Threads, 2)
		require.Equal(t, "GameThread", d.Threads[d.Main].Name)
		require.Equal(t, []string{"ACart::Pay", "", ""}, []string{d.Threads[1].Frames[0].Symbol, d.Threads[1].Frames[1].Symbol,
			d.Threads[1].Frames[2].Symbol})
		out := reported(t, d)
		attributes := out["attributes"].(map[string]any)
		require.Equal(t, "shop-1.4.2", attributes["application.version"])
		require.Equal(t, `Assert: Assertion failed: Price > 0 [File:D:\shop\cart.cpp] [Line: 42]`, attributes["error.message"])
		require.Equal(t, "9f86d081884c7d65", attributes["guid"])
		require.EqualValues(t, 81, attributes["process.age"])
		require.Equal(t, "I paid twice", attributes["user.description"])
		require.Equal(t, []any{"Assert"}, out["classifiers"])
		text := fmt.Sprint(out)
		require.NotContains(t, text, "hunter2", "a command line holds what signs in")
		require.NotContains(t, text, "UserName", "nor who it was, in whatever section")
		require.Contains(t, text, "LogCart: paid")
		require.NotContains(t, text, "s3cret")
		require.Contains(t, text, "GameData.Level:Checkout")
		stack := out["threads"].(map[string]any)["8"].(map[string]any)["stack"].([]any)
		require.Equal(t, "Shop-Win64-Shipping", stack[0].(map[string]any)["library"])
		require.Equal(t, "0x7ff6a05bdbf1", stack[0].(map[string]any)["address"])
	}
}

func TestUnrealMinidump(t *testing.T) {
	t.Parallel()
	d, err := read(unrealArchive(false, file{"UEMinidump.dmp", minidumpFile()}, file{"CrashContext.runtime-xml", []byte(contextText)}))
	require.NoError(t, err)
	require.Empty(t, d.Warnings)
	require.Len(t, d.Threads, 1, "those of the minidump")
	require.Equal(t, "C1A2B3C4D5E6F708192A3B4C5D6E7F800", d.Modules[0].DebugID)
	require.Equal(t, "Assert", d.Reason.Name, "the engine raises an exception of its own for an assertion")
	reported(t, d)

	// What the engine reports and goes on after is no crash.
	d, err = read(unrealArchive(false, file{"CrashContext.runtime-xml",
		[]byte(strings.Replace(contextText, "<CrashType>Assert", "<CrashType>Ensure", 1))}))
	require.NoError(t, err)
	require.Equal(t, "handled", reported(t, d)["attributes"].(map[string]any)["severity"])
}

func TestUnity(t *testing.T) {
	t.Parallel()
	d, err := read(zipped(file{"error.log", []byte("x\n")}, file{"Player.log", []byte(unityText)}))
	require.NoError(t, err)
	require.Equal(t, Unity, d.Format)
	out := reported(t, d)
	require.Equal(t, []any{"Access Violation"}, out["classifiers"])
	require.Equal(t, "2022.3.35f1", out["attributes"].(map[string]any)["unity.version"])
	stack := out["threads"].(map[string]any)["0"].(map[string]any)["stack"].([]any)
	require.Len(t, stack, 3)
	require.Equal(t, "Cart::Pay", stack[0].(map[string]any)["funcName"])
	require.Equal(t, "UnityPlayer.dll", stack[1].(map[string]any)["library"])
	require.Equal(t, "Shop.Cart:Pay ()", stack[2].(map[string]any)["funcName"])

	d, err = read(zipped(file{"crash.dmp", minidumpFile()},
		file{"Player.log", []byte(strings.ReplaceAll(unityText, "OUTPUTTING", "OUTPUTING"))}))
	require.NoError(t, err)
	require.Len(t, d.Modules, 1, "those of the minidump")
	require.Contains(t, d.Annotations["CallStack"], "Shop.Cart:Pay ()", "the minidump does not know managed code")
	reported(t, d)
}

func TestBadArchives(t *testing.T) {
	t.Parallel()
	whole := unrealArchive(false, file{"CrashContext.runtime-xml", []byte(contextText)},
		file{"Shop.log", bytes.Repeat([]byte("line of a log\n"), 4000)})
	var big bytes.Buffer
	w := zlib.NewWriter(&big)
	_, _ = w.Write(append([]byte(marker), 0xff, 0xff, 0xff, 0xff))
	_ = w.Close()
	many := append([]byte(marker), append(name260("a"), name260("b")...)...)
	for reason, b := range map[string][]byte{
		"neither a crash archive": []byte("MDMP"), "zip cannot be read": []byte("PK\x03\x04"), "ends before its first files": whole[:100],
		"a name in the crash archive has": big.Bytes(), "neither a minidump nor a stack": zipped(file{"Player.log", []byte("hello\n")}),
		"says that it has 4294967295": nil, "does not unpack": append(bytes.Clone(whole[:2]), bytes.Repeat([]byte{0xff}, 60)...),
	} {
		if b == nil {
			b = append(many, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff)
		}
		_, err := read(b)
		var wrong *symbol.InvalidError
		require.ErrorAs(t, err, &wrong, reason)
		require.ErrorContains(t, err, reason)
	}
	d, err := read(whole[:len(whole)-20])
	require.NoError(t, err, "the context has arrived")
	require.NotEmpty(t, d.Warnings)

	// Elements without end, a stack without end, many threads.
	deep := "<a>" + strings.Repeat("<b>", 1<<20)
	_, err = read(unrealArchive(false, file{"CrashContext.runtime-xml", []byte(deep)}))
	require.ErrorContains(t, err, "nested too deep")
	long := "<F><RuntimeProperties><PCallStack>" + strings.Repeat("Shop 0x1000 + 10\n", 100_000)[:1<<20] +
		"</PCallStack></RuntimeProperties></F>"
	d, err = read(unrealArchive(false, file{"CrashContext.runtime-xml", []byte(long)}))
	require.NoError(t, err)
	require.LessOrEqual(t, len(d.Threads[0].Frames), maxFrames)
}

// TestZeros unpacks a file of a thousand times its size.
func TestZeros(t *testing.T) {
	t.Parallel()
	b := unrealArchive(false, file{"CrashContext.runtime-xml", []byte(contextText)}, file{"UEMinidump.dmp", make([]byte, maxMinidump+1)})
	d, err := read(b)
	require.NoError(t, err)
	require.Contains(t, strings.Join(d.Warnings, "\n"), "are read at most")
}

func FuzzArchive(f *testing.F) {
	f.Add(unrealArchive(false, file{"CrashContext.runtime-xml", []byte(contextText)}, file{"a.log", []byte("x")}), false)
	f.Add(unrealArchive(true, file{"UEMinidump.dmp", minidumpFile()}, file{"CrashContext.runtime-xml", []byte(contextText)}), false)
	f.Add(zipped(file{"crash.dmp", minidumpFile()}, file{"Player.log", []byte(unityText)}), false)
	f.Add([]byte(contextText), true)
	f.Add([]byte(unityText), true)
	f.Fuzz(func(t *testing.T, b []byte, text bool) {
		archives := [][]byte{b}
		if text {
			archives = [][]byte{unrealArchive(false, file{"CrashContext.runtime-xml", b}), zipped(file{"Player.log", b})}
		}
		for _, a := range archives {
			d, err := read(a)
			if err != nil {
				continue
			}
			if err := walk.Walk(context.Background(), d, nil); err != nil {
				t.Fatal(err)
			}
			doc, err := d.Report([]byte(submission))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := report.Check(doc, report.Limits{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
