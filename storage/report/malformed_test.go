package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMalformed(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		``, ` `, `[]`, `"x"`, `null`, `1`, `{`, `{"uuid"`, `{"uuid":`, "\ufeff" + minimal, "\x00",
		minimal + `x`, minimal + `{}`, minimal + "\x00", minimal[:len(minimal)-1],
		strings.Replace(minimal, `}`, `},`, 1) + `,`,
		with(``), with(`"a"`), with(`"a":`), with(`"a":1,`), with(`a:1`), with(`'a':1`), with(`"a":[1,]`), with(`"a":[,1]`),
		with(`"a":[1 2]`), with(`"a":{"b":1,}`),
		with(`"a":01`), with(`"a":+1`), with(`"a":.5`), with(`"a":1.`), with(`"a":1e`), with(`"a":-`), with(`"a":NaN`),
		with(`"a":Infinity`), with(`"a":0x1`), with(`"a":1_0`),
		with(`"a":tru`), with(`"a":nul`), with(`"a":True`), with(`"a":"\x41"`), with(`"a":"\u12g4"`), with(`"a":"\u12"`),
		with(`"a":"` + "\n" + `"`), with(`"a":"` + "\x00" + `"`), with(`"a":"x`), with(`"a":"\`),
		with("\"a\":\v1"), with("\u00a0\"a\":1"), with(`"a":1 // why`),
		with(`"annotations":{"a":}`), with(`"attributes":{"a":}`), with(`"timestam\p":1`),
	} {
		_, err := Check([]byte(doc), Limits{})
		var e *Error
		require.ErrorAs(t, err, &e, doc)
		require.Equal(t, CodeMalformed, e.Code, doc)
		require.False(t, json.Valid([]byte(doc)) && strings.HasPrefix(doc, "{"), doc)
	}
}

func TestEncoding(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"} {
		_, err := Check([]byte(with(`"x":"`+bad+`"`)), Limits{})
		requireError(t, err, CodeEncoding, "")
		_, err = Parse([]byte(with(`"x":"` + bad + `"`)))
		requireError(t, err, CodeEncoding, "")
	}
	_, err := Check([]byte(with(`"x":"grüße 😀 \ud83d\ude00 \ud83d \ude00"`)), Limits{})
	require.NoError(t, err)
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	for doc, member := range map[string]string{
		with(`"lang":"c"`):                                                        "lang",
		with(`"l\u0061ng":"c"`):                                                   "lang",
		with(`"modules":[],"modules":null`):                                       "modules",
		with(`"body":"a","body":"b"`):                                             "body",
		frame(`"funcName":"a","funcName":"b"`):                                    "threads.0.stack[0].funcName",
		frame(`"line":1,"address":"1","line":1`):                                  "threads.0.stack[0].line",
		strings.Replace(minimal, `"0":{}`, `"0":{},"\u0030":{}`, 1):               "threads.0",
		strings.Replace(minimal, `"0":{}`, `"0":{"fault":true,"fault":1}`, 1):     "threads.0.fault",
		with(`"arch":{"name":"a","name":"b"}`):                                    "arch.name",
		with(`"arch":{"registers":{"a":"i32","a":"i32"}}`):                        "arch.registers.a",
		with(`"modules":[{"size":1,"size":1}]`):                                   "modules[0].size",
		with(`"sourceCode":{"a":{"path":"x","path":"x"}}`):                        "sourceCode.a.path",
		with(`"sourceCode":{"a":{},"a":{}}`):                                      "sourceCode.a",
		with(`"memory":[{"start":1,"start":1,"size":1}]`):                         "memory[0].start",
		with(`"memory":[{"start":1,"size":1,"perms":{"read":true,"read":true}}]`): "memory[0].perms.read",
	} {
		_, err := Check([]byte(doc), Limits{})
		requireError(t, err, CodeMalformed, member)
	}
	for _, doc := range []string{
		with(`"attributes":{"a":1,"a":2}`), with(`"annotations":{"a":1,"a":2}`),
		with(`"x":{"a":1,"a":2}`), with(`"x":1,"x":2`), frame(`"funcName":"f","zone":1,"zone":2`),
	} {
		_, err := Check([]byte(doc), Limits{})
		require.NoError(t, err, doc)
	}
}
