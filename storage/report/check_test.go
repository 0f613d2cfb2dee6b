package report

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// registers returns a report whose frame has these registers, before arch.
func registers(members, arch string) string {
	doc := frame(`"funcName":"f","registers":{` + members + `}`)
	return doc[:len(doc)-1] + `,"arch":` + arch + `}`
}

func requireError(t *testing.T, err error, code int, member string, doc ...string) {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e, "%v", doc)
	require.Equal(t, code, e.Code, e.Error())
	require.Equal(t, member, e.Member, e.Error())
}

func TestSamplesPass(t *testing.T) {
	t.Parallel()
	for name, doc := range samples {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			head, err := Check([]byte(doc), Limits{})
			require.NoError(t, err)
			require.True(t, json.Valid(head.Document))
			r, err := Parse(head.Document)
			require.NoError(t, err)
			require.Equal(t, head.UUID, r.UUID)
			require.Equal(t, head.Timestamp, r.Timestamp)
			require.NotNil(t, r.FaultThread())
		})
	}
}

func TestRequiredMembers(t *testing.T) {
	t.Parallel()
	wrong := map[string][]string{
		"uuid": {`1`, `""`, `"0b1c2d3e"`, `"0b1c2d3e-4f50-4162-8374-95a6b7c8d9eg"`, `"0b1c2d3e4-f50-4162-8374-95a6b7c8d9e0"`,
			`"{0b1c2d3e-4f50-4162-8374-95a6b7c8d9}"`},
		"timestamp": {`"1700000000"`, `1.5`, `true`, `1e9`, `99999999999999999999`, `[]`},
		"threads":   {`[]`, `{}`, `"x"`},
	}
	for _, name := range required {
		var doc map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(minimal), &doc))
		delete(doc, name)
		without, err := json.Marshal(doc)
		require.NoError(t, err)
		_, err = Check(without, Limits{})
		requireError(t, err, CodeMember, name)

		for _, value := range append(wrong[name], `null`, `{"a":[]}`, `false`) {
			member := name
			if name == "threads" && strings.HasPrefix(value, `{"a"`) {
				member = "threads.a"
			}
			doc[name] = json.RawMessage(value)
			changed, err := json.Marshal(doc)
			require.NoError(t, err)
			_, err = Check(changed, Limits{})
			requireError(t, err, CodeMember, member)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	const ok = ""
	fingerprint := strings.Repeat("A", 43)
	for _, tt := range []struct {
		doc    string
		member string // "" for accepted
	}{
		{strings.Replace(minimal, `"mainThread":"0"`, `"mainThread":"\u0030"`, 1), ok},
		{strings.Replace(minimal, `"mainThread":"0"`, `"mainThread":"1"`, 1), "mainThread"},
		{strings.Replace(minimal, `1700000000`, `1700000000.0`, 1), ok},
		{strings.Replace(minimal, `0b1c2d3e-4f50-4162-8374-95a6b7c8d9e0`, `0B1C2D3E4F50F162F37495A6B7C8D9E0`, 1), ok},
		{strings.Replace(minimal, `{"0":{}}`, `{"0":null}`, 1), "threads.0"},
		{strings.Replace(minimal, `{"0":{}}`, `{"0":{"name":null,"fault":null,"stack":null}}`, 1), ok},
		{strings.Replace(minimal, `{"0":{}}`, `{"0":{"name":1}}`, 1), "threads.0.name"},
		{strings.Replace(minimal, `{"0":{}}`, `{"0":{"fault":"true"}}`, 1), "threads.0.fault"},
		{strings.Replace(minimal, `{"0":{}}`, `{"0":{"stack":{}}}`, 1), "threads.0.stack"},
		{strings.Replace(minimal, `{"0":{}}`, `{"0":{"stack":[{"funcName":"f"},null]}}`, 1), "threads.0.stack[1]"},
		{strings.Replace(minimal, `{"0":{}}`, `{"0":{"stack":[]},"140735212345678":{"stack":[]}}`, 1), ok},

		{frame(`"funcName":"f"`), ok},
		{frame(`"funcName":1`), "threads.0.stack[0].funcName"},
		{frame(`"funcName":""`), "threads.0.stack[0].address"},
		{frame(`"funcName":null,"address":null`), "threads.0.stack[0].address"},
		{frame(`"address":""`), "threads.0.stack[0].address"},
		{frame(``), "threads.0.stack[0].address"},
		{frame(`"address":"0x1f"`), ok},
		{frame(`"address":140734492676660`), ok},
		{frame(`"address":true`), "threads.0.stack[0].address"},
		{frame(`"f\u0075ncName":"f"`), ok},
		{frame(`"funcName":"f","line":"12","column":7`), ok},
		{frame(`"funcName":"f","line":-2,"column":"?"`), ok},
		{frame(`"funcName":"f","line":null,"column":0`), ok},
		{frame(`"funcName":"f","line":[1]`), "threads.0.stack[0].line"},
		{frame(`"funcName":"f","column":false`), "threads.0.stack[0].column"},
		{frame(`"funcName":"f","sourceCode":1`), "threads.0.stack[0].sourceCode"},
		{frame(`"funcName":"f","library":1`), "threads.0.stack[0].library"},
		{frame(`"funcName":"f","debug_identifier":{}`), "threads.0.stack[0].debug_identifier"},
		{frame(`"funcName":"f","guessed_frame":1`), "threads.0.stack[0].guessed_frame"},
		{frame(`"funcName":"f","faulted":"x"`), "threads.0.stack[0].faulted"},
		{frame(`"funcName":"f","registers":[]`), "threads.0.stack[0].registers"},
		{frame(`"funcName":"f","registers":{}`), ok},
		{frame(`"funcName":"f","registers":{"rip":1}`), "arch"},
		{frame(`"funcName":"f","registers":{"rip":true}`), "threads.0.stack[0].registers.rip"},
		{registers(`"rip":"18446744073709551615","eflags":582`, `{"registers":{"rip":"u64","eflags":"u32"}}`), ok},
		{registers(`"rip":null`, `{"registers":{"r\u0069p":"u64"}}`), ok},
		{registers(`"rip":1`, `{"name":"x64"}`), "threads.0.stack[0].registers.rip"},
		{registers(`"rip":1`, `null`), "arch"},
		{registers(`"rip":1,"rax":1`, `{"registers":{"rip":"u64"}}`), "threads.0.stack[0].registers.rax"},
		{frame(`"funcName":"f","il":12,"assembly":"x","variables":[{}]`), ok},

		{with(`"entryThread":"0"`), ok},
		{with(`"entryThread":null`), ok},
		{with(`"entryThread":"9"`), "entryThread"},
		{with(`"entryThread":""`), "entryThread"},
		{with(`"entryThread":0`), "entryThread"},
		{with(`"symbolication":""`), ok},
		{with(`"symbolication":null`), ok},
		{with(`"symbolication":"source\u006dap"`), ok},
		{with(`"symbolication":"elf"`), "symbolication"},
		{with(`"symbolication":1`), "symbolication"},
		{with(`"arch":null`), ok},
		{with(`"arch":{"name":"x","registers":{"a":"i32","b":"u32","c":"i64","d":"u64","e":"f32","f":"string"}}`), ok},
		{with(`"arch":[]`), "arch"},
		{with(`"arch":{"name":1}`), "arch.name"},
		{with(`"arch":{"registers":{"a":"f64"}}`), "arch.registers.a"},
		{with(`"arch":{"registers":{"a":null}}`), "arch.registers.a"},
		{with(`"fingerprint":"` + fingerprint + `="`), ok},
		{with(`"fingerprint":"` + fingerprint + `"`), ok},
		{with(`"fingerprint":null`), ok},
		{with(`"fingerprint":"` + fingerprint + `A"`), "fingerprint"},
		{with(`"fingerprint":"` + fingerprint[1:] + `-="`), "fingerprint"},
		{with(`"fingerprint":""`), "fingerprint"},
		{with(`"fingerprint":7`), "fingerprint"},
		{with(`"classifiers":["a",null]`), ok},
		{with(`"classifiers":null`), ok},
		{with(`"classifiers":["a",1]`), "classifiers[1]"},
		{with(`"classifiers":"a"`), "classifiers"},
		{with(`"attributes":{"s":"","i":-1,"f":1.5e3,"b":true,"n":null}`), ok},
		{with(`"attributes":{"a":{"b":1}}`), "attributes.a"},
		{with(`"attributes":{"a.b":[]}`), "attributes.a.b"},
		{with(`"attributes":[]`), "attributes"},
		{with(`"sourceCode":{"1":{},"2":null}`), ok},
		{with(`"sourceCode":{"1":{"text":"x","startLine":1,"startColumn":1,"startPos":0,"tabWidth":8}}`), ok},
		{with(`"sourceCode":{"1":{"text":"x","startLine":1.0}}`), ok},
		{with(`"sourceCode":{"1":{"text":"x"}}`), "sourceCode.1.startLine"},
		{with(`"sourceCode":{"1":{"text":"x","path":"a.c"}}`), "sourceCode.1.startLine"},
		{with(`"sourceCode":{"1":{"text":"x","startLine":null}}`), "sourceCode.1.startLine"},
		{with(`"sourceCode":{"1":{"text":"x","type":"Text","title":"Log File"}}`), ok},
		{with(`"sourceCode":{"1":{"text":"","path":"a.c"}}`), ok},
		{with(`"sourceCode":{"1":{"startLine":1}}`), "sourceCode.1.path"},
		{with(`"sourceCode":{"1":{"path":"a.c","minLine":3}}`), ok},
		{with(`"sourceCode":{"1":{"path":1}}`), "sourceCode.1.path"},
		{with(`"sourceCode":{"1":{"path":"a","startPos":1.5}}`), "sourceCode.1.startPos"},
		{with(`"sourceCode":{"1":{"path":"a","tabWidth":"wide"}}`), "sourceCode.1.tabWidth"},
		{with(`"sourceCode":{"1":"a.c"}`), "sourceCode.1"},
		{with(`"sourceCode":[]`), "sourceCode"},
		{with(`"memory":[{"start":0,"size":1},{"start":"0xffffffffffffffff","data":"AA"},{"start":"18446744073709551615","data":"A\/8="}]`), ok},
		{with(`"memory":[{"size":1}]`), "memory[0].start"},
		{with(`"memory":[{"start":1}]`), "memory[0].size"},
		{with(`"memory":[{"start":1.5,"size":1}]`), "memory[0].start"},
		{with(`"memory":[{"start":"here","size":1}]`), "memory[0].start"},
		{with(`"memory":[{"start":1,"data":"A"}]`), "memory[0].data"},
		{with(`"memory":[{"start":1,"data":"A-8="}]`), "memory[0].data"},
		{with(`"memory":[{"start":1,"data":"A=8A"}]`), "memory[0].data"},
		{with(`"memory":[{"start":1,"data":"AA","perms":{"read":1}}]`), "memory[0].perms.read"},
		{with(`"memory":[{"start":1,"data":"AA","perms":[]}]`), "memory[0].perms"},
		{with(`"memory":[1]`), "memory[0]"},
		{with(`"memory":{}`), "memory"},
		{with(`"annotations":[1,{"a":[[[]]]}]`), ok},
		{with(`"annotations":"free text"`), ok},
		{with(`"annotations":null`), ok},
		{with(`"annotations":1`), "annotations"},
		{with(`"annotations":true`), "annotations"},
		{with(`"modules":[{}]`), ok},
		{with(`"modules":[{"start":"140734492672000","size":"0x10","code_file":null}]`), ok},
		{with(`"modules":[{"start":"top"}]`), "modules[0].start"},
		{with(`"modules":[{"size":true}]`), "modules[0].size"},
		{with(`"modules":[{"code_file":1}]`), "modules[0].code_file"},
		{with(`"modules":[{"version":1}]`), "modules[0].version"},
		{with(`"modules":[{"debug_file":1}]`), "modules[0].debug_file"},
		{with(`"modules":[{"debug_identifier":1}]`), "modules[0].debug_identifier"},
		{with(`"modules":[{"debug_file_exists":1}]`), "modules[0].debug_file_exists"},
		{with(`"modules":[null]`), "modules[0]"},
		{with(`"modules":{}`), "modules"},
		{with(`"body":"x","upload_file":"/tmp/y"`), ok},
		{with(`"body":{"uuid":1}`), ok},
		{with(`"body":7`), "body"},
		{with(`"upload_file":7`), "upload_file"},
		{with(`"cwd":"/srv","extra":{"a":[1,2,{"b":null}]}`), ok},
	} {
		_, err := Check([]byte(tt.doc), Limits{})
		if tt.member == ok {
			require.NoError(t, err, tt.doc)
			_, err = Parse([]byte(tt.doc))
			require.NoError(t, err, tt.doc)
			continue
		}
		requireError(t, err, CodeMember, tt.member, tt.doc)
		_, err = Parse([]byte(tt.doc))
		requireError(t, err, CodeMember, tt.member, tt.doc)
	}
}

// A count of a wrong type is named with its path, whatever stands beside it.
func TestSourceCounts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"startLine", "startColumn", "startPos", "tabWidth"} {
		for _, value := range []string{`"1"`, `"abc"`, `""`, `1.5`, `true`, `[]`, `{"a":1}`} {
			for _, entry := range []string{`"text":"x","startLine":1,`, `"path":"a.c",`, `"text":"x",`} {
				if name == "startLine" && strings.Contains(entry, name) {
					continue
				}
				doc := with(`"sourceCode":{"a/b.c":{` + entry + `"` + name + `":` + value + `}}`)
				_, err := Check([]byte(doc), Limits{})
				requireError(t, err, CodeMember, "sourceCode.a/b.c."+name, doc)
				require.ErrorContains(t, err, "must be an integer")
			}
		}
	}
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	_, err := Check([]byte(with(`"attributes":{"`+strings.Repeat("k", 60)+`ééé\u0007`+`":["s3cret"]}`)), Limits{})
	requireError(t, err, CodeMember, "attributes."+strings.Repeat("k", 60)+"éé...")
	_, err = Check([]byte(with(`"attributes":{"a\u0007":["s3cret"]}`)), Limits{})
	requireError(t, err, CodeMember, "attributes.a\uFFFD")
	require.NotContains(t, err.Error(), "s3cret")
	require.Equal(t, "not an object", (&Error{Msg: "not an object"}).Error())
}

func TestWrapped(t *testing.T) {
	t.Parallel()
	quoted, err := json.Marshal(minimal)
	require.NoError(t, err)
	for _, doc := range []string{
		`{"body":` + minimal + `}`,
		` {"upload_file":"x","body": ` + minimal + ` ,"z":1} `,
		`{"body":` + string(quoted) + `}`,
		`{"lang":"other","body":` + string(quoted) + `}`,
	} {
		head, err := Check([]byte(doc), Limits{})
		require.NoError(t, err, doc)
		require.Equal(t, minimal, string(head.Document))
		require.EqualValues(t, 0x0b, head.UUID[0])
		require.EqualValues(t, 1700000000, head.Timestamp)
	}
	for doc, want := range map[string]Error{
		`{"body":{}}`:                       {Code: CodeMember, Member: "body.uuid"},
		`{"body":"{"}`:                      {Code: CodeMalformed, Member: "body"},
		`{"body":"[]"}`:                     {Code: CodeMalformed, Member: "body"},
		`{"body":""}`:                       {Code: CodeMalformed, Member: "body"},
		`{"body":null}`:                     {Code: CodeMember, Member: "uuid"},
		`{"body":{"body":` + minimal + `}}`: {Code: CodeMember, Member: "body.uuid"},
		`{"timestamp":1,"lang":"c","body":"text"}`:  {Code: CodeMember, Member: "uuid"},
		`{"body":` + minimal + `,"attributes":[]}`:  {Code: CodeMember, Member: "attributes"},
		`{"body":` + minimal[:len(minimal)-1] + `}`: {Code: CodeMalformed, Member: ""},
	} {
		_, err := Check([]byte(doc), Limits{})
		requireError(t, err, want.Code, want.Member)
	}

	// Beside the eight members, body is one more member.
	doc := with(`"body":` + string(quoted) + `,"upload_file":"x"`)
	head, err := Check([]byte(doc), Limits{})
	require.NoError(t, err)
	require.Equal(t, doc, string(head.Document))
}

func TestErrorIsTyped(t *testing.T) {
	t.Parallel()
	_, err := Check(nil, DefaultLimits())
	var e *Error
	require.True(t, errors.As(err, &e))
	require.NotEmpty(t, e.Msg)
}

func TestUnknownMembersAreNoticed(t *testing.T) {
	t.Parallel()
	plain := `"uuid":"b3a1e1d8-0a6a-4a57-9d4a-0f0f0f0f0f0f","timestamp":1700000000,"lang":"a","langVersion":"1",
		"agent":"b","agentVersion":"1","threads":{"t":{}},"mainThread":"t"`
	for doc, want := range map[string]bool{
		`{` + plain + `}`:                         false,
		`{` + plain + `,"classifiers":[]}`:        false,
		`{` + plain + `,"response":"x"}`:          true,
		`{` + plain + `,"\u005frxid":"x"}`:        true,
		`{"body":{` + plain + `}}`:                false,
		`{"body":{` + plain + `},"response":1}`:   true,
		`{"body":{` + plain + `,"response":"x"}}`: true,
	} {
		head, err := Check([]byte(doc), DefaultLimits())
		require.NoError(t, err, doc)
		require.Equal(t, want, head.UnknownMembers, doc)
	}
}
