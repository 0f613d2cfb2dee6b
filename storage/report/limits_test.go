package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Thousands of threads are distinguished in linear time, beyond the inline table.
func TestManyThreads(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, `,"t%d":{}`, i)
	}
	doc := strings.Replace(minimal, `"0":{}`, `"0":{}`+b.String(), 1)
	_, err := Check([]byte(doc), Limits{Threads: 20_001})
	require.NoError(t, err)
	r, err := Parse([]byte(doc))
	require.NoError(t, err)
	require.Len(t, r.Threads, 20_001)
	require.Equal(t, "t19999", r.Threads[20_000].ID)

	_, err = Check([]byte(doc), Limits{})
	requireError(t, err, CodeMember, "threads.t19999")
	_, err = Check([]byte(strings.Replace(doc, `"t19999"`, `"t19998"`, 1)), Limits{Threads: 30_000})
	requireError(t, err, CodeMalformed, "threads.t19998")
}

func TestLimits(t *testing.T) {
	t.Parallel()
	nested := func(n int) string { return strings.Repeat(`[`, n) + strings.Repeat(`]`, n) }
	mixed := func(n int) string { return strings.Repeat(`{"a":`, n) + `1` + strings.Repeat(`}`, n) }
	for _, tt := range []struct {
		doc    string
		limits Limits
		code   int
		member string
	}{
		{with(`"annotations":` + nested(63)), Limits{}, 0, ""},
		{with(`"annotations":` + nested(64)), Limits{}, CodeMalformed, "annotations"},
		{with(`"annotations":` + mixed(63)), Limits{}, 0, ""},
		{with(`"annotations":` + mixed(64)), Limits{}, CodeMalformed, "annotations"},
		{with(`"annotations":{"password":` + mixed(62) + `}`), Limits{}, 0, ""},
		{with(`"annotations":{"password":` + mixed(63) + `}`), Limits{}, CodeMalformed, "annotations"},
		{with(`"x":` + nested(64)), Limits{}, CodeMalformed, "x"},
		{with(`"x":` + nested(100_000)), Limits{Depth: 1 << 30}, CodeMalformed, "x"},
		{frame(`"funcName":"f","x":` + nested(59)), Limits{}, 0, ""},
		{frame(`"funcName":"f","x":` + nested(60)), Limits{}, CodeMalformed, "threads.0.stack[0].x"},
		{`{"body":` + with(`"annotations":`+nested(63)) + `}`, Limits{}, 0, ""},
		{frame(`"funcName":"f"},{"funcName":"g"`), Limits{FramesPerThread: 1}, CodeMember, "threads.0.stack"},
		{with(`"sourceCode":{"a":{},"b":{}}`), Limits{Sources: 1}, CodeMember, "sourceCode"},
		{with(`"modules":[{},{}]`), Limits{Modules: 1}, CodeMember, "modules"},
		{with(`"memory":[{"start":1,"size":1},{"start":1,"size":1}]`), Limits{Slices: 1}, CodeMember, "memory"},
		{with(`"classifiers":["a","b"]`), Limits{Classifiers: 1}, CodeMember, "classifiers"},
		{with(`"attributes":{"a":1,"b":1}`), Limits{Attributes: 1}, CodeMember, "attributes"},
		{with(`"attributes":{"abcd":1}`), Limits{Key: 3}, CodeMember, "attributes.abcd"},
		{with(`"attributes":{"abc":1}`), Limits{Key: 3}, 0, ""},
		{strings.Replace(minimal, `"0"`, `"0123"`, 2), Limits{Key: 3}, CodeMember, "threads.0123"},
		{with(`"arch":{"registers":{"a":"i32","b":"i32"}}`), Limits{Registers: 1}, CodeMember, "arch.registers"},
		{frame(`"funcName":"f","registers":{"a":1,"b":1}`), Limits{Registers: 1}, CodeMember, "threads.0.stack[0].registers"},
		{with(`"annotations":{"password":"a","token":"b"}`), Limits{Secrets: 1}, CodeMember, "annotations"},
		{with(`"annotations":"?token=a&token=b"`), Limits{Secrets: 1}, CodeMember, "annotations"},
		{with(`"attributes":{"password":"a","token":"b"}`), Limits{Secrets: 1}, CodeMember, "attributes.token"},
	} {
		_, err := Check([]byte(tt.doc), tt.limits)
		if tt.code == 0 {
			require.NoError(t, err)
			continue
		}
		requireError(t, err, tt.code, tt.member)
	}
}
