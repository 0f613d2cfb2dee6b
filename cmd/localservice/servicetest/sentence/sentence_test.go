package sentence

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestPairs(t *testing.T) {
	t.Parallel()
	set, err := Own()
	require.NoError(t, err)
	possible, german, refused, hostile, kinds := 0, 0, 0, 0, map[string]bool{}
	for _, p := range set.Pairs {
		require.NotEmpty(t, p.Page, p.Name)
		require.NotEmpty(t, p.Sentences, p.Name)
		switch p.Kind {
		case "refuse":
			refused++
			continue
		case "hostile":
			hostile++
			continue
		}
		possible++
		kinds[p.Kind] = true
		require.Len(t, p.Sentences, 3, p.Name)
		require.Empty(t, p.Codes, p.Name)
		for _, s := range p.Sentences {
			if strings.ContainsAny(s, "äöüß„") || strings.Contains(" "+strings.ToLower(s), " klicke ") {
				german++
				break
			}
		}
	}
	require.GreaterOrEqual(t, possible, 70)
	require.GreaterOrEqual(t, german, 15)
	require.GreaterOrEqual(t, refused, 25)
	require.GreaterOrEqual(t, hostile, 10)
	require.GreaterOrEqual(t, len(kinds), 30)
}

func TestLoadRefusesTwoPairsOfOneName(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	_, err := Load(fstest.MapFS{"pairs/a.json": file(`[{"name": "a"}, {"name": "a"}]`)})
	require.ErrorContains(t, err, `a second pair "a"`)
	_, err = Load(fstest.MapFS{"pairs/a.json": file(`[{"name": "a", "judge": 1}]`)})
	require.ErrorContains(t, err, "a.json")
}

func TestChanged(t *testing.T) {
	t.Parallel()
	const page = `<!--w--><b id="~a~" class="~b-c~">x</b><!--/w--><!--o-->1<!--|-->2<!--/o--><!--x Ann-->gone<!--/x--> $('#~a~')`
	plain := `<b id="a" class="b-c">x</b>12gone $('#a')`
	require.Equal(t, plain, changed(page, Plain, "Ann"))
	require.Equal(t, plain, changed(page, Behaviour, "Ann"), "scripts do it")
	require.Equal(t, `<div class="shell"><div><b id="a" class="b-c">x</b></div></div>12gone $('#a')`, changed(page, Wrap, "Ann"))
	require.Equal(t, strings.Replace(plain, "12", "21", 1), changed(page, Order, "Ann"))
	require.Equal(t, strings.Replace(plain, "gone", "", 1), changed(page, Removed, "Ann"))
	require.Equal(t, plain, changed(page, Removed, "Bob"))
	require.Contains(t, changed(page, Other, "Ann"), `</b></div></div>21gone`)
	require.NotContains(t, changed(page, Other, "Ann"), `"a"`)
	require.Contains(t, withTheme("<head></head><p>"), "<style>")
	other := changed(page, IDs, "Ann")
	require.NotContains(t, other, `"a"`)
	require.NotContains(t, other, "b-c")
	require.NotContains(t, other, "~")
	id := other[strings.Index(other, `id="`)+4:]
	id = id[:strings.Index(id, `"`)]
	require.Contains(t, other, "$('#"+id+"')", "the same in scripts")
}

func TestJudge(t *testing.T) {
	t.Parallel()
	p := Pair{Did: []string{"b", "a"}}
	require.Empty(t, p.Judge(Record{Did: []string{"b", "a"}}))
	require.NotEmpty(t, p.Judge(Record{Did: []string{"a", "b"}}))
	require.NotEmpty(t, p.Judge(Record{Did: []string{"b", "a", "a"}}), "twice")
	require.NotEmpty(t, p.Judge(Record{}))
	require.NotEmpty(t, p.Judge(Record{Did: []string{"b", "a"}, State: map[string]string{"x": "1"}}))
	p.AnyOrder = true
	require.Empty(t, p.Judge(Record{Did: []string{"a", "b"}}))
	require.Equal(t, []string{"b", "a"}, p.Did, "is not sorted itself")
	p = Pair{State: map[string]string{"x": "1"}}
	require.Empty(t, p.Judge(Record{State: map[string]string{"x": "1"}}))
	require.NotEmpty(t, p.Judge(Record{State: map[string]string{"x": "2"}}))
}

func TestEnding(t *testing.T) {
	t.Parallel()
	possible, refused := Pair{}, Pair{Codes: []string{"INTENT_NOT_UNDERSTOOD"}}
	either := Pair{Codes: []string{"", "TIMEOUT"}}
	named := Pair{Codes: []string{"INTENT_NOT_UNDERSTOOD"}, Names: []string{"Basil"}, Oracle: "true"}
	for _, c := range []struct {
		pair         Pair
		ending       Ending
		bad, guessed bool
	}{
		{possible, Ending{}, false, false},
		{possible, Ending{Wrong: "x"}, true, true},
		{possible, Ending{Again: "x"}, true, true},
		{possible, Ending{Code: "TIMEOUT"}, true, false},
		{refused, Ending{Code: "INTENT_NOT_UNDERSTOOD"}, false, false},
		{refused, Ending{Code: "TIMEOUT"}, true, false},
		{refused, Ending{}, true, true},
		{refused, Ending{Wrong: "x"}, true, true},
		{named, Ending{Code: "INTENT_NOT_UNDERSTOOD", Detail: `nothing is called "basil"`}, false, false},
		{named, Ending{Code: "INTENT_NOT_UNDERSTOOD", Detail: "it was not understood"}, true, false},
		{named, Ending{Code: "INTENT_NOT_UNDERSTOOD", Detail: "basil", Wrong: "the oracle is false"}, true, false},
		{named, Ending{}, true, true},
		{either, Ending{}, false, false},
		{either, Ending{Wrong: "x"}, true, true},
		{either, Ending{Code: "TIMEOUT"}, false, false},
	} {
		require.Equal(t, c.bad, c.ending.Bad(&c.pair) != "", "%+v", c)
		require.Equal(t, c.guessed, c.ending.Guessed(&c.pair), "%+v", c)
	}
}

func TestHas(t *testing.T) {
	t.Parallel()
	p := Pair{Without: []string{Order}}
	require.False(t, p.Has(Order))
	require.False(t, p.Has(Removed), "nothing is named")
	require.True(t, p.Has(Behaviour))
	p.Target = "Ann"
	require.True(t, p.Has(Removed))
	require.False(t, p.Has(Other), "this is for pages without marks of each change")
	p.Oracle = "true"
	require.True(t, p.Has(Other))
	require.False(t, p.Has(Removed), "an oracle does not know of it")
	p.Without = []string{Other}
	require.False(t, p.Has(Other))
}

// The oracle of a pair tells by a text, whatever it returns or throws.
func TestOracleScript(t *testing.T) {
	t.Parallel()
	script := (&Pair{Oracle: `document.title === "x"`}).oracleScript()
	require.True(t, strings.HasPrefix(script, "try { return (document.title === \"x\") ?"), script)
	require.Contains(t, script, "catch")
}
