package report

import (
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"
)

func FuzzCheck(f *testing.F) {
	for _, doc := range samples {
		f.Add([]byte(doc))
	}
	for _, annotations := range []string{
		`{"password":"x","a":["TOKEN=b","?k=1\u0026token=2"],"u":"http:\/\/u:p@h\/?sig=1"}`,
		`"token=x://u:p;q@h http://u:x&token=abc@h/path"`,
		`["SECRET=a=b@c://d:e@f",{"secret":{"a":1},"pwd":"\ud83d"}]`,
	} {
		f.Add([]byte(with(`"annotations":` + annotations)))
		f.Add([]byte(with(`"attributes":{"token":1,"token":"x"},"annotations":` + annotations)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		head, err := Check(body, Limits{})
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Code == 0 || e.Msg == "" {
				t.Fatalf("not a complete error: %v", err)
			}
			if !utf8.Valid(body) && e.Code != CodeEncoding {
				t.Fatalf("code %d for bytes that are not UTF-8", e.Code)
			}
			if e.Code == CodeMember && json.Valid(body) {
				Parse(body) // must not panic
			}
			return
		}
		if !json.Valid(body) || !utf8.Valid(body) {
			t.Fatal("accepted what is not JSON in UTF-8")
		}
		r, err := Parse(head.Document)
		if err != nil {
			t.Fatalf("Parse refuses what Check accepted: %v", err)
		}
		if r.FaultThread() == nil {
			t.Fatal("no fault thread")
		}
		at := 0
		for _, s := range head.Secrets {
			if s.Start < at || s.End <= s.Start || s.End > len(head.Document) {
				t.Fatalf("span %v after %d in %d bytes", s, at, len(head.Document))
			}
			at = s.End
		}
		scrubbed := Scrub(nil, head)
		if !json.Valid(scrubbed) {
			t.Fatalf("scrubbed document is not JSON: %s", scrubbed)
		}
		again, err := Check(scrubbed, Limits{})
		if err != nil {
			t.Fatalf("scrubbed document is refused: %v", err)
		}
		if len(again.Secrets) > 0 {
			t.Fatalf("not idempotent: %s", scrubbed)
		}
	})
}

// FuzzSyntax holds the tokenizer against encoding/json alone: any value as an
// unknown member is accepted exactly if it is valid JSON.
func FuzzSyntax(f *testing.F) {
	for _, value := range []string{`1`, `-0.5e+7`, `"a\u00e9\n"`, `[[],{}]`, `{"a":{"b":[null,true]}}`, `"\ud83d"`, ` 1 `, `01`, `tru`} {
		f.Add([]byte(value))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		doc := []byte(with(`"x":[` + string(value) + `]`))
		_, err := Check(doc, Limits{Depth: maxDepth})
		valid := json.Valid(doc) && utf8.Valid(doc)
		if valid == (err == nil) {
			return
		}
		// What closes the array and goes on may break other rules.
		var e *Error
		if valid && errors.As(err, &e) && (e.Code == CodeMember || e.Member != "x") {
			return
		}
		t.Fatalf("valid %v, Check: %v", valid, err)
	})
}

// FuzzScrub holds masking against text of every kind: whatever stands in a
// string or under a name, one pass masks all of it.
func FuzzScrub(f *testing.F) {
	for _, value := range []string{
		"?token=abc&x=1", "SECRET=a=b@c://d:e@f", "token=x://u:p;q@h", "http://u:x&token=abc@h/path",
		"a://:b@c://d:e@f password=\x00é pwd=[scrubbed]x", "x://password=u:p@h",
		"a=b\r\nCookie: c; d=\"e\"\nX-Api-Key: f", `{"password": "x", 'token':'y', "secret":1, "cookies":[1]}`,
		"authorization", "SECRET=a\"cookie\":\"\"b c",
	} {
		f.Add("pass", value)
		f.Add(value, value)
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		annotations, err := json.Marshal(map[string]any{name: value, "list": []any{value, name + "=" + value, name, value, name + ": " + value},
			"a": map[string]string{"b": value}, "pair": map[string]any{"name": name, "value": []string{value}}})
		if err != nil {
			return
		}
		doc := []byte(with(`"annotations":` + string(annotations) + `,"x":` + string(annotations) + `,"body":` + string(annotations)))
		head, err := Check(doc, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		scrubbed := Scrub(nil, head)
		again, err := Check(scrubbed, Limits{})
		if err != nil || !json.Valid(scrubbed) {
			t.Fatalf("scrubbed document is refused: %v", err)
		}
		if len(again.Secrets) > 0 {
			t.Fatalf("not idempotent: %s", scrubbed)
		}
	})
}
