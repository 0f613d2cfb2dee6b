package labelled_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint"
	"github.com/slipway-qa/slipway/worker/crash/fingerprint/labelled"
)

func key(c *labelled.Crash) [32]byte { return fingerprint.Compute(c.Report).Key }

// The set has to be large and broad enough that its figures mean something.
func TestEmbeddedIsBroad(t *testing.T) {
	t.Parallel()
	set, err := labelled.Embedded()
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(set.Pairs), 300)
	same, other := make(map[string]int), make(map[string]int)
	for _, p := range set.Pairs {
		if p.Same {
			same[p.Language]++
		} else {
			other[p.Language]++
		}
	}
	require.GreaterOrEqual(t, len(same), 16)
	for language := range same {
		require.GreaterOrEqual(t, same[language], 5, language)
		require.GreaterOrEqual(t, other[language], 4, language)
	}
}

// Bounds on the embedded set: what is joined is nearly always one bug, and few
// bugs are split, in no language much worse than in the others. A language's own
// bounds begin at the third wrong pair: in one of a dozen pairs a single pair is a
// tenth of the figure.
const (
	leastPrecision         = 0.98
	leastRecall            = 0.95
	leastLanguagePrecision = 0.90
	leastLanguageRecall    = 0.85
	leastClusterRecall     = 0.90
	fewWrong               = 2
)

func TestGrouping(t *testing.T) {
	t.Parallel()
	set, err := labelled.Embedded()
	require.NoError(t, err)
	res := labelled.Measure(set.Pairs, key)
	for _, p := range res.Wrong {
		t.Logf("wrong: %s: %s (one bug: %t)", p.Language, p.Name, p.Same)
	}
	require.GreaterOrEqual(t, res.Total.Precision(), leastPrecision)
	require.GreaterOrEqual(t, res.Total.Recall(), leastRecall)
	for _, s := range res.Languages {
		if s.Other-s.Apart > fewWrong {
			require.GreaterOrEqual(t, s.Precision(), leastLanguagePrecision, s.Language)
		}
		if s.Same-s.Joined > fewWrong {
			require.GreaterOrEqual(t, s.Recall(), leastLanguageRecall, s.Language)
		}
	}
}

// Crashes of real programs: no group has two bugs, and few bugs have two groups.
func TestGroupingOfClusters(t *testing.T) {
	t.Parallel()
	set, err := labelled.Embedded()
	require.NoError(t, err)
	c := labelled.MeasureClusters(set.Crashes, key)
	require.GreaterOrEqual(t, c.Crashes, 30)
	require.GreaterOrEqual(t, c.Bugs, 10)
	require.GreaterOrEqual(t, c.Precision, leastPrecision)
	require.GreaterOrEqual(t, c.Recall, leastClusterRecall)
}

func folder(text string) fs.FS {
	return fstest.MapFS{"set.txt": {Data: []byte(text)}}
}

const head = "language C\nlang c\nagent test\n"

func TestReadPair(t *testing.T) {
	t.Parallel()
	set, err := labelled.Read(folder(head + `
# two reports
same a name
why because
a
class SIGSEGV
class second
message first line
message second line
attr signal SIGSEGV
module /usr/bin/shop 0x400000 0x1000
  f(int) | file src/a.c:12:5 | lib shop | at 0x400010 | debug ABC | guessed | faulted
  | lib shop | at 0x400020
thread other
  wait
b
class -
attr -
  g | file https://x.example:8080/a.js:3
  h | lib x | line 4:2
`))
	require.NoError(t, err)
	require.Len(t, set.Pairs, 1)
	p := set.Pairs[0]
	require.True(t, p.Same)
	require.Equal(t, "because", p.Why)

	a := p.A.Report
	require.Equal(t, []string{"SIGSEGV", "second"}, a.Classifiers)
	require.Equal(t, "first line\nsecond line", a.Attribute("error.message"))
	require.Equal(t, "SIGSEGV", a.Attribute("signal"))
	require.Equal(t, "/usr/bin/shop", a.Modules[0].CodeFile)
	require.Len(t, a.Threads, 2)
	frames := a.FaultThread().Frames
	require.Len(t, frames, 2)
	require.Equal(t, "f(int)", frames[0].Function)
	require.Equal(t, "src/a.c", frames[0].Path)
	require.EqualValues(t, 12, frames[0].Line)
	require.EqualValues(t, 5, frames[0].Column)
	require.True(t, frames[0].Guessed)
	require.True(t, frames[0].Faulted)
	require.Empty(t, frames[1].Function)
	require.Equal(t, "0x400020", frames[1].Address)

	b := p.B.Report
	require.Empty(t, b.Classifiers)
	require.Empty(t, b.Attribute("signal"))
	require.Equal(t, "first line\nsecond line", b.Attribute("error.message"))
	require.Equal(t, "g", b.FaultThread().Frames[0].Function)
	require.Equal(t, "https://x.example:8080/a.js", b.FaultThread().Frames[0].Path)
	require.EqualValues(t, 3, b.FaultThread().Frames[0].Line)
	require.Equal(t, "x", b.FaultThread().Frames[1].Library)
	require.EqualValues(t, 4, b.FaultThread().Frames[1].Line)
	require.EqualValues(t, 2, b.FaultThread().Frames[1].Column)
	require.Equal(t, []string{
		"lang c", "agent test", "message first line", "message second line",
		"module /usr/bin/shop 0x400000 0x1000",
		"  g | file https://x.example:8080/a.js:3", "  h | lib x | line 4:2", "thread other", "  wait",
	}, p.B.Text.Lines())
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	sides := "a\n  f\nb\n  g\n"
	for name, text := range map[string]string{
		"no why":          head + "same x\n" + sides,
		"no side b":       head + "same x\nwhy y\na\n  f\n",
		"equal sides":     head + "same x\nwhy y\na\n  f\nb\n  f\n",
		"twice":           head + "same x\nwhy y\n" + sides + "same x\nwhy y\n" + sides,
		"unknown member":  head + "same x\nwhy y\na\ncolour red\n  f\nb\n  g\n",
		"unknown field":   head + "same x\nwhy y\na\n  f | colour red\nb\n  g\n",
		"wrong line":      head + "same x\nwhy y\na\n  f | line x\nb\n  g\n",
		"empty frame":     head + "same x\nwhy y\na\n  | lib x\nb\n  g\n",
		"no language":     "lang c\nagent t\nsame x\nwhy y\n" + sides,
		"no lang":         "language C\nagent t\nsame x\nwhy y\n" + sides,
		"member outside":  head + "class x\n",
		"frame outside":   head + "  f\n",
		"side twice":      head + "same x\nwhy y\na\n  f\na\n  g\n",
		"empty report":    head + "crash x\n",
		"module too long": head + "crash x\nmodule a b c d\n  f\n",
	} {
		_, err := labelled.Read(folder(text))
		require.ErrorContains(t, err, "set.txt: line ", name)
	}
	_, err := labelled.Read(fstest.MapFS{})
	require.Error(t, err)
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	set, err := labelled.Read(folder(head + `
same joined
why x
a
class one
b
class one
message x
same split
why x
a
class one
b
class two
other joined wrongly
why x
a
class one
b
class one
message x
other apart
why x
a
class one
b
class two
`))
	require.NoError(t, err)
	byClass := func(c *labelled.Crash) [32]byte { return [32]byte{c.Report.Classifiers[0][0]} }
	res := labelled.Measure(set.Pairs, byClass)
	require.Equal(t, labelled.Score{Language: "Total", Same: 2, Joined: 1, Other: 2, Apart: 1}, res.Total)
	require.InDelta(t, 0.5, res.Total.Precision(), 1e-9)
	require.InDelta(t, 0.5, res.Total.Recall(), 1e-9)
	require.Len(t, res.Wrong, 2)
	require.Equal(t, "split", res.Wrong[0].Name)
	none := labelled.Measure(nil, byClass)
	require.InDelta(t, 1, none.Total.Precision(), 1e-9)
}

// Three crashes of one bug in two groups, the second shared with another bug.
func TestMeasureClusters(t *testing.T) {
	t.Parallel()
	set, err := labelled.Read(folder(head + `
crash leak
class one
crash leak
class one
crash leak
class two
crash race
class two
`))
	require.NoError(t, err)
	c := labelled.MeasureClusters(set.Crashes, func(c *labelled.Crash) [32]byte { return [32]byte{c.Report.Classifiers[0][0]} })
	require.Equal(t, 4, c.Crashes)
	require.Equal(t, 2, c.Bugs)
	require.Equal(t, 2, c.Groups)
	require.InDelta(t, (1+1+0.5+0.5)/4, c.Precision, 1e-9)
	require.InDelta(t, (2.0/3+2.0/3+1.0/3+1)/4, c.Recall, 1e-9)
}
