package symbols

import (
	"bufio"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

const (
	// The program that is looked up in: files, and functions of each.
	nativeFiles     = 12
	nativeFunctions = 300
	// nativeLookups are asked of the index and of each tool.
	nativeLookups = 300000
	nativeTarget  = 5
	// nativeDWARF is how much debug information is indexed for the memory.
	nativeDWARF      = 1 << 30
	nativeIndexMiB   = 512
	nativeServeMiB   = 64
	nativeGoal       = 100.0
	nativeLineGoal   = 99.9
	nativeGoMemLimit = "400MiB" // as for the process that indexes
)

// measureNative measures lookups in the index of a C program with inlined functions
// next to llvm-symbolizer and addr2line, each one process that has seen the addresses
// once, by the time of the processor that each takes; and the memory of indexing 1 GB of debug information, and of lookups in that index.
func measureNative(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := compileNative(ctx, dir)
	if errors.Is(err, exec.ErrNotFound) {
		measure.Row("native lookups", "not installed: gcc", "", true)
		return nil
	}
	if err != nil {
		return err
	}
	index := filepath.Join(dir, "program.index")
	if err := indexNative(program, index, 0); err != nil {
		return err
	}
	if err := compareNative(ctx, program, index); err != nil {
		return err
	}
	return measureNativeMemory(ctx, dir, program)
}

// compileNative writes and compiles a program of functions that call inlined ones.
func compileNative(ctx context.Context, dir string) (string, error) {
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		return "", err
	}
	objects := make([]string, nativeFiles)
	failed := make([]error, nativeFiles)
	var wait sync.WaitGroup
	places := make(chan struct{}, runtime.NumCPU())
	for i := range nativeFiles {
		name := filepath.Join(dir, fmt.Sprintf("part%d.c", i))
		if err := os.WriteFile(name, []byte(nativeSource(i)), 0o600); err != nil {
			return "", err
		}
		objects[i] = strings.TrimSuffix(name, ".c") + ".o"
		wait.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			out, err := exec.CommandContext(ctx, compiler, "-g", "-gdwarf-4", "-O1", "-finline-functions", "-fPIC",
				"-c", "-o", objects[i], name).CombinedOutput()
			if err != nil {
				failed[i] = fmt.Errorf("gcc: %w: %s", err, out)
			}
		})
	}
	wait.Wait()
	if err := errors.Join(failed...); err != nil {
		return "", err
	}
	program := filepath.Join(dir, "program.so")
	if out, err := exec.CommandContext(ctx, compiler, append([]string{"-shared", "-o", program}, objects...)...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("gcc: %w: %s", err, out)
	}
	return program, nil
}

func nativeSource(file int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "struct node%d { struct node%d *next; int value, weight; };\n", file, file)
	for i := range nativeFunctions {
		fmt.Fprintf(&b, "static inline int leaf%[1]d_%[2]d(struct node%[1]d *n, int v) {\n  if (n->value > v)\n    return n->weight * %[2]d;\n"+
			"  return v ^ n->value;\n}\n", file, i)
		fmt.Fprintf(&b, "static inline int middle%[1]d_%[2]d(struct node%[1]d *n, int v) {\n  int s = leaf%[1]d_%[2]d(n, v);\n  if (s & 1)\n"+
			"    s += leaf%[1]d_%[2]d(n->next, s);\n  return s;\n}\n", file, i)
		fmt.Fprintf(&b, "int entry%[1]d_%[2]d(struct node%[1]d *n, int v) {\n  int s = 0;\n  for (; n; n = n->next)\n"+
			"    s += middle%[1]d_%[2]d(n, v) + leaf%[1]d_%[2]d(n, s);\n  return s;\n}\n", file, i)
	}
	return b.String()
}

// openNative opens an index.
func openNative(index string) (*native.Index, io.Closer, error) {
	in, err := os.Open(index)
	if err != nil {
		return nil, nil, err
	}
	info, err := in.Stat()
	if err != nil {
		return nil, in, err
	}
	file, err := symbol.Open(in, info.Size())
	if err != nil {
		return nil, in, err
	}
	x, err := native.Open(file)
	return x, in, err
}

// compareNative asks the index and its peers.
func compareNative(ctx context.Context, program, index string) error {
	x, in, err := openNative(index)
	if in != nil {
		defer in.Close()
	}
	if err != nil {
		return err
	}
	addresses, base, err := textAddresses(program, nativeLookups)
	if err != nil {
		return err
	}
	var ours time.Duration
	mine := make([][]native.Frame, len(addresses))
	for range 2 { // the second is warm
		start := cpuTime(os.Getpid())
		for _, a := range addresses {
			if _, err = x.Lookup(a - base); err != nil {
				return err
			}
		}
		ours = cpuTime(os.Getpid()) - start
	}
	for i, a := range addresses {
		if mine[i], err = x.Lookup(a - base); err != nil {
			return err
		}
	}
	speed := float64(len(addresses)) / ours.Seconds()
	measure.Row("lookups with inlines per second of a processor", fmt.Sprintf("%.0f", speed), "", true)
	for _, peer := range []nativePeer{
		{"llvm-symbolizer", []string{"--obj=" + program, "--inlines", "--functions=linkage", "--no-demangle"}},
		{"addr2line", []string{"-a", "-i", "-f", "-e", program}},
	} {
		if err := peer.measure(ctx, addresses, mine, speed); err != nil {
			return err
		}
	}
	return nil
}

// textAddresses returns random addresses of the code of a program, and its base.
func textAddresses(program string, n int) ([]uint64, uint64, error) {
	f, err := elf.Open(program)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	text := f.Section(".text")
	r := rand.New(rand.NewPCG(1, 2))
	var all []uint64
	for range n {
		all = append(all, text.Addr+r.Uint64N(text.Size))
	}
	return all, 0, nil // a shared library begins at 0
}

// cpuTime returns the time of the processor that a process took, to a hundredth of a second: other
// processes of the machine do not count. 0 if the system does not say.
func cpuTime(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	ticks := 0
	for _, field := range fields[11:13] { // utime, stime: proc(5)
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// nativePeer is a tool that is fed addresses.
type nativePeer struct {
	name string
	args []string
}

func (p nativePeer) measure(ctx context.Context, addresses []uint64, mine [][]native.Frame, speed float64) error {
	path, err := exec.LookPath(p.name)
	if err != nil {
		measure.Row("lookups over "+p.name, "not installed", "", true)
		return nil
	}
	run := exec.CommandContext(ctx, path, p.args...)
	in, err := run.StdinPipe()
	if err != nil {
		return err
	}
	out, err := run.StdoutPipe()
	if err != nil {
		return err
	}
	if err := run.Start(); err != nil {
		return err
	}
	answers := bufio.NewReaderSize(out, 1<<20)
	var taken time.Duration
	var theirs [][]string
	for range 2 { // the second is warm
		start := cpuTime(run.Process.Pid)
		wrote := make(chan error, 1)
		go func() {
			w := bufio.NewWriter(in)
			for _, a := range addresses {
				fmt.Fprintf(w, "%#x\n", a)
			}
			fmt.Fprintln(w, "0x0") // which ends the round
			wrote <- w.Flush()
		}()
		if theirs, err = p.read(answers, len(addresses)); err != nil {
			return err
		}
		if err := <-wrote; err != nil {
			return err
		}
		taken = cpuTime(run.Process.Pid) - start
	}
	if err := in.Close(); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, answers); err != nil {
		return err
	}
	if err := run.Wait(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	p.report(mine, theirs, speed, float64(len(addresses))/taken.Seconds())
	return nil
}

// read reads the answers to n addresses: of each the lines of its frames. That of
// llvm-symbolizer ends with an empty line, that of addr2line with the next one's address: the
// last one asked is 0, which is in no function.
func (p nativePeer) read(from *bufio.Reader, n int) ([][]string, error) {
	all := make([][]string, 1, n+1)
	for len(all) <= n+1 {
		line, err := from.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		line = strings.TrimSuffix(line, "\n")
		last := len(all) - 1
		switch {
		case p.name != "addr2line" && line != "", p.name == "addr2line" && !strings.HasPrefix(line, "0x"):
			all[last] = append(all[last], line)
		default:
			all = append(all, nil)
		}
		if p.name == "addr2line" && len(all) == n+2 {
			for range 2 { // what it says of 0
				if _, err := from.ReadString('\n'); err != nil {
					return nil, fmt.Errorf("%s: %w", p.name, err)
				}
			}
		}
	}
	if p.name == "addr2line" {
		return all[1 : n+1], nil
	}
	return all[:n], nil
}

func (p nativePeer) report(mine [][]native.Frame, theirs [][]string, speed, peer float64) {
	functions, lines := 0, 0
	for i, answer := range theirs {
		f, l := sameFrames(mine[i], answer)
		if f {
			functions++
		}
		if l {
			lines++
		}
	}
	n := float64(len(theirs)) / 100
	measure.Row("functions as "+p.name+"'s", fmt.Sprintf("%.3f %%", float64(functions)/n), fmt.Sprint(nativeGoal, " %"),
		float64(functions)/n >= nativeGoal)
	measure.Row("lines as "+p.name+"'s", fmt.Sprintf("%.3f %%", float64(lines)/n), fmt.Sprint(nativeLineGoal, " %"),
		float64(lines)/n >= nativeLineGoal)
	measure.Row("lookups over "+p.name+"'s "+fmt.Sprintf("%.0f per second", peer), fmt.Sprintf("%.1f", speed/peer),
		fmt.Sprint(nativeTarget), speed >= nativeTarget*peer)
}

// sameFrames compares frames with the pairs of lines of an answer.
func sameFrames(frames []native.Frame, answer []string) (functions, lines bool) {
	if len(frames) == 0 {
		frames = []native.Frame{{}}
	}
	if len(answer) != 2*len(frames) {
		return false, false
	}
	functions, lines = true, true
	for i, f := range frames {
		function, at := answer[2*i], answer[2*i+1]
		functions = functions && (f.Symbol == function || f.Symbol == "" && function == "??")
		at, _, _ = strings.Cut(at, " (disc")
		at = strings.TrimSuffix(at, ":"+strconv.Itoa(int(f.Column)))
		lines = lines && (at == fmt.Sprintf("%s:%d", f.File, f.Line) || f.Line == 0 && (strings.Contains(at, "?") || strings.HasSuffix(at, ":0")))
	}
	return functions, lines
}
