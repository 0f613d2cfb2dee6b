package symbols

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/measure"
	"github.com/slipway-qa/slipway/cmd/bench/process"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbol/proguard"
)

const (
	// mappingSize is the size of the mapping, as that of a small app of R8, and
	// distinctMappingSize of one that has enough lines for a text without repeated ones.
	mappingSize         = 2 << 20
	distinctMappingSize = 8 << 20
	// retraceTraces and retraceFrames are how many traces are retraced and how many
	// frames each has: enough for the virtual machine to be warm for most of the time.
	retraceTraces = 20000
	retraceFrames = 20
	// retraceBugs is how many different traces there are among them: crashes of an app
	// are of few bugs.
	retraceBugs = 500
	// retraceRounds is how often all are retraced. The first round does not count.
	retraceRounds = 5
	// retraceTarget is over the frames per second of the tool compared with.
	retraceTarget = 20
	// retraceJar is where Debian's package proguard-cli has the tool, and proguardJar what
	// it needs.
	retraceJar  = "/usr/share/java/retrace.jar"
	proguardJar = "/usr/share/java/proguard.jar"
)

// measureRetrace measures the retracing of whole texts with a mapping as R8 writes it, next
// to that of ProGuard's retrace on the same texts: one as of the crashes of an app, in
// which most lines repeat, and one in which no frame is there twice. The start of the
// virtual machine and its reading of the mapping are not counted: they are the time of
// one trace. Times are those of the processor, so that what else runs on the machine does
// not count.
func measureRetrace(ctx context.Context) error {
	m := newRetraceMapping(mappingSize)
	if err := m.measure(ctx, "repeated", m.traces(retraceTraces)); err != nil {
		return err
	}
	m = newRetraceMapping(distinctMappingSize)
	return m.measure(ctx, "distinct", m.distinct(retraceTraces))
}

// measure measures the retracing of traces.
func (m *retraceMapping) measure(ctx context.Context, lines, traces string) error {
	start := time.Now()
	var index bytes.Buffer
	summary, err := proguard.Index(strings.NewReader(m.text), int64(len(m.text)), &index, proguard.Options{})
	if err != nil {
		return err
	}
	measure.Row(fmt.Sprintf("index of a mapping of %.1f MB, %d lines", float64(len(m.text))/1e6, summary.Lines),
		fmt.Sprintf("%s, %.1f MB", measure.Round(time.Since(start)), float64(index.Len())/1e6), "", true)
	ours, out, err := retraceTime(index.Bytes(), traces)
	if err != nil {
		return err
	}
	frames := float64(strings.Count(traces, "\tat "))
	speed := frames / ours.Seconds()
	measure.Row(fmt.Sprintf("retrace of %s lines, frames per second of a processor", lines), fmt.Sprintf("%.0f", speed), "", true)
	theirs, same, err := m.compare(ctx, traces, out)
	switch {
	case os.IsNotExist(err):
		measure.Row("retrace over ProGuard's", "not installed: package proguard-cli", "", true)
		return nil
	case err != nil:
		return err
	}
	peer := frames / theirs.Seconds()
	measure.Row("ProGuard's retrace, frames per second of a processor", fmt.Sprintf("%.0f", peer), "", true)
	measure.Row("methods and lines as ProGuard's", fmt.Sprintf("%.2f %%", 100*same), "", true)
	measure.Row(fmt.Sprintf("retrace of %s lines over ProGuard's", lines), fmt.Sprintf("%.1f", speed/peer), fmt.Sprint(retraceTarget),
		speed >= retraceTarget*peer)
	return nil
}

// retraceTime returns the processor time of the retracing of a text, and its result.
func retraceTime(index []byte, text string) (time.Duration, string, error) {
	file, err := symbol.Open(bytes.NewReader(index), int64(len(index)))
	if err != nil {
		return 0, "", err
	}
	mapping, err := proguard.Open(file)
	if err != nil {
		return 0, "", err
	}
	out, err := mapping.Text(text, false)
	if err != nil {
		return 0, "", err
	}
	before, err := process.ProcessorTime(os.Getpid())
	if err != nil {
		return 0, "", err
	}
	for range retraceRounds - 1 {
		if out, err = mapping.Text(text, false); err != nil {
			return 0, "", err
		}
	}
	after, err := process.ProcessorTime(os.Getpid())
	return (after - before) / (retraceRounds - 1), out, err
}

// compare runs ProGuard's retrace, and returns its time and the share of lines that are the
// same. What is not, is what it does not know of R8's mappings.
func (m *retraceMapping) compare(ctx context.Context, traces, ours string) (time.Duration, float64, error) {
	if _, err := os.Stat(retraceJar); err != nil {
		return 0, 0, err
	}
	dir, err := os.MkdirTemp("", "slipway-bench-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	mapping := filepath.Join(dir, "mapping.txt")
	if err := os.WriteFile(mapping, []byte(m.text), 0o600); err != nil {
		return 0, 0, err
	}
	one, _, _ := strings.Cut(traces, "\n\n")
	var times [2]time.Duration
	var out []byte
	for i, text := range []string{one + "\n", traces} {
		trace := filepath.Join(dir, fmt.Sprintf("trace%d.txt", i))
		if err := os.WriteFile(trace, []byte(text), 0o600); err != nil {
			return 0, 0, err
		}
		run := exec.CommandContext(ctx, "java", "-Xmx512m", "-cp", retraceJar+":"+proguardJar, "proguard.retrace.ReTrace", mapping, trace)
		if out, err = run.Output(); err != nil {
			return 0, 0, fmt.Errorf("run ProGuard's retrace: %w", err)
		}
		times[i] = run.ProcessState.UserTime() + run.ProcessState.SystemTime()
	}
	return times[1] - times[0], sameLines(ours, string(out)), nil
}

// sameLines returns the share of the lines of a text that another has at the same place of
// the same trace.
func sameLines(a, b string) float64 {
	left, right := strings.Split(a, "\n\n"), strings.Split(b, "\n\n")
	same, all := 0, 0
	for i := range min(len(left), len(right)) {
		x, y := strings.Split(strings.TrimSpace(left[i]), "\n"), strings.Split(strings.TrimSpace(right[i]), "\n")
		all += len(x)
		for n := range min(len(x), len(y)) {
			if strings.TrimSpace(x[n]) == strings.TrimSpace(y[n]) {
				same++
			}
		}
	}
	return float64(same) / float64(max(all, 1))
}

// retraceMapping is a mapping with the frames it can retrace, each once.
type retraceMapping struct {
	text   string
	frames []string
	random *rand.Rand
}

// newRetraceMapping makes a mapping of at least size bytes as R8 writes it: renumbered
// lines, inlined methods of other classes, source files, overloads.
func newRetraceMapping(size int) *retraceMapping {
	m := &retraceMapping{random: rand.New(rand.NewPCG(1, 2))}
	var b strings.Builder
	b.WriteString("# compiler: R8\n# compiler_version: 8.5.35\n# pg_map_id: 7a3f5c1\n# {\"id\":\"com.android.tools.r8.mapping\"," +
		"\"version\":\"2.2\"}\n")
	for class := 0; b.Len() < size; class++ {
		obfuscated := shortName(class/26) + "." + shortName(class%26)
		fmt.Fprintf(&b, "com.example.shop%d.module%d.Screen%d -> %s:\n# {\"id\":\"sourceFile\",\"fileName\":\"Screen%d.java\"}\n",
			class%7, class%31, class, obfuscated, class)
		fmt.Fprintf(&b, "    java.lang.String title -> a\n    int count -> b\n")
		for method := range 12 {
			m.method(&b, class, method, obfuscated)
		}
	}
	m.text = b.String()
	return m
}

// method adds a method with some lines, and frames in it.
func (m *retraceMapping) method(b *strings.Builder, class, method int, obfuscated string) {
	name := shortName(method)
	line, original := 1, 20+method*40
	for part := range 4 {
		to := line + m.random.IntN(6)
		callee := class
		if m.random.IntN(3) == 0 && class > 0 {
			callee = m.random.IntN(class)
			fmt.Fprintf(b, "    %d:%d:boolean com.example.shop%d.module%d.Screen%d.isReady(java.lang.String):%d:%d -> %s\n",
				line, to, callee%7, callee%31, callee, 300+part*7, 300+part*7+to-line, name)
			fmt.Fprintf(b, "    %d:%d:void onEvent%d(android.view.View,int):%d -> %s\n", line, to, method, original, name)
		} else {
			fmt.Fprintf(b, "    %d:%d:void onEvent%d(android.view.View,int):%d:%d -> %s\n", line, to, method, original, original+to-line, name)
		}
		for at := line; at <= to; at++ {
			m.frames = append(m.frames, fmt.Sprintf("\tat %s.%s(SourceFile:%d)\n", obfuscated, name, at))
		}
		line, original = to+1, original+8
	}
}

// shortName returns the names a, b, ..., z, aa, ab, ...
func shortName(n int) string {
	var name []byte
	for n++; n > 0; n = (n - 1) / 26 {
		name = append(name, byte('a'+(n-1)%26))
	}
	slices.Reverse(name)
	return string(name)
}

// traces returns texts of stack traces with an empty line between them.
func (m *retraceMapping) traces(count int) string {
	bugs := make([]string, retraceBugs)
	for i := range bugs {
		bugs[i] = "java.lang.IllegalStateException: not ready\n"
		for range retraceFrames {
			bugs[i] += m.frames[m.random.IntN(len(m.frames))]
		}
	}
	var b strings.Builder
	for range count {
		// The more frequent the lower: half of the crashes are of a quarter of the bugs.
		b.WriteString(bugs[m.random.IntN(1+m.random.IntN(len(bugs)))] + "\n")
	}
	return b.String()
}

// distinct returns texts of stack traces as traces does, at most count, in which no line is
// there twice.
func (m *retraceMapping) distinct(count int) string {
	m.random.Shuffle(len(m.frames), func(i, j int) { m.frames[i], m.frames[j] = m.frames[j], m.frames[i] })
	var b strings.Builder
	for i := range min(count, len(m.frames)/retraceFrames) {
		fmt.Fprintf(&b, "java.lang.IllegalStateException: not ready %d\n", i)
		for _, frame := range m.frames[i*retraceFrames : (i+1)*retraceFrames] {
			b.WriteString(frame)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
