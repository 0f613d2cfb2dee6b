package symbolicate

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash"
	"github.com/slipway-qa/slipway/storage/report"
	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolication"
)

// nameTable is an obfuscation map.
type nameTable map[string]string

func (n nameTable) Stack(string, []JavaFrame) ([]JavaLine, error) { return nil, nil }
func (n nameTable) Class(name string) (string, bool, error) {
	original, ok := n[name]
	return original, ok, nil
}
func (n nameTable) Text(text string) (string, error) { return text, nil }

func TestDartNames(t *testing.T) {
	t.Parallel()
	names := nameTable{"aB": "CartException", "_c": "_Price", "int": "Wrong"}
	attributes := `,"classifiers":["aB<_c,int>","StateError"],"attributes":{"error.stack":` + strconv.Quote(dartText) +
		`,"error.message":"Instance of 'aB' and Instance of '_c<zz>', aB"}`
	in := parsed(t, "dart", "", dartFrames(""), attributes)
	f := &fake{mappings: map[string]Mapping{"mapping_id " + dartBuild: names},
		natives: map[string]addressTable{"build_id " + dartBuild: dartTable(t, 0x5000)}}
	res, err := readReport(t, f, in)
	require.NoError(t, err)
	require.Equal(t, []string{"CartException<_Price,int>", "StateError"}, res.Report.Classifiers)
	require.Equal(t, "Instance of 'CartException' and Instance of '_Price<zz>', aB", res.Report.Attribute("error.message"))
	require.Equal(t, "Instance of 'aB' and Instance of '_c<zz>', aB", in.Report.Attribute("error.message"), "the report stays as it is")
	require.Equal(t, "Price.cents package:shop/cart.dart:21", functions(res.Report)[0])
	asked := f.asked[len(f.asked)-1]
	require.True(t, asked.Names)

	// Without the map it is looked for, and found by when it comes.
	f.mappings = nil
	res, err = readReport(t, f, in)
	require.NoError(t, err)
	require.Equal(t, crash.SymbolsPartial, res.State)
	require.Equal(t, []string{"aB<_c,int>", "StateError"}, res.Report.Classifiers)
	need := res.Needs[len(res.Needs)-1]
	require.Equal(t, "proguard", need.Kind)
	require.Equal(t, "obfuscation map", need.Name)
	require.Contains(t, need.LookedFor, symbol.Identifier{Type: symbol.MappingID, Value: dartBuild})
}

// What is not obfuscated lacks no map.
func TestPlainDartNames(t *testing.T) {
	t.Parallel()
	for _, more := range []string{
		`,"classifiers":["StateError"]`,
		`,"classifiers":["minified:aB"],"attributes":{"x":"1"}`,
		`,"classifiers":["int","List<num>"],"attributes":{"error.message":"Instance of 'CartError'"}`,
		`,"attributes":{"error.message":"no Instance of 'aB"}`,
	} {
		in := parsed(t, "dart", "", `{"funcName":"main","line":1}`, more)
		res, err := readReport(t, &fake{}, in)
		require.NoError(t, err)
		require.Nil(t, res, more)
	}
	head := `"attributes":{"error.stack":` + strconv.Quote(dartText) + `}`
	f := &fake{natives: map[string]addressTable{"build_id " + dartBuild: dartTable(t, 0x5000)}}
	_, err := readReport(t, f, parsed(t, "dart", "", dartFrames(""), `,"classifiers":["StateError"],`+head))
	require.NoError(t, err)
	for _, q := range f.asked {
		require.False(t, q.Names)
	}
}

func FuzzDartNames(f *testing.F) {
	f.Add("aB<_c>", "Instance of 'aB'")
	f.Add("<<<a", "Instance of 'Instance of '")
	f.Add("\xff_", "'Instance of '"+strings.Repeat("a<", 100))
	names := nameTable{"aB": "CartException", "_c": "_Price", "a": strings.Repeat("x", maxShort)}
	f.Fuzz(func(t *testing.T, class, message string) {
		r := &reading{Input: Input{Report: &report.Report{Lang: "dart", Classifiers: []string{class},
			Attributes: []report.Attribute{{Key: symbolication.MessageAttribute, Value: message}}}}}
		looked := 0
		classes, clear := r.clearDart(func(name string) string {
			looked++
			original, ok, _ := names.Class(name)
			if !ok {
				return name
			}
			return original
		})
		if looked > maxDartClasses {
			t.Fatalf("%d classes are looked up", looked)
		}
		if len(classes) > 1 || len(clear) > len(message)*3+maxDartClasses*maxShort {
			t.Fatalf("%d classes, a message of %d bytes", len(classes), len(clear))
		}
	})
}
