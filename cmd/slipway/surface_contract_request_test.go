package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
)

// sent is one request of the walk.
type sent struct {
	what   string // how it differs from the valid one
	method string
	path   string // escaped
	query  string // escaped, without the question mark
	kind   string // content type
	body   []byte
	as     string // one of surfaceRoles
	header http.Header
}

// operation is one of the description, with a valid request for it.
type operation struct {
	method, path string
	op           *openapi3.Operation
	params       openapi3.Parameters
	// values are those of the path's parameters, query the parameters of the query.
	values map[string]string
	query  url.Values
	// One of the three is there when the request has a body.
	members any
	form    url.Values
	parts   map[string]string // by field: text, or name|content of a file
	as      string
}

// odd are texts that a parameter, a form or a member may hold.
func odd() []string {
	return []string{"", " ", "x", "-1", "0", "1.5", "1e30", "2147483648", "9223372036854775807", "9223372036854775808",
		"-9223372036854775809", "NaN",
		"\x00", "a\x00b", "\xff\xfe", "\u202e\U0001F600", strings.Repeat("ü", 5_000), strings.Repeat("9", 400), "null", "true", "[]", "{}",
		"9999-99-99", "2026-02-30T25:61:61Z", "0001-01-01", "1,2,x", ",,,", strings.Repeat("a,", 300), "../../etc/passwd",
		"%", "%zz", "'; drop table users; --",
		"http://[::1", "javascript:alert(1)", "http://user:pass@127.0.0.1:9443/", "<script>", "a\r\nX-Injected: 1",
		"slp_api_x", uuid.NewSHA1(uuid.Nil, []byte("odd")).String()}
}

// oddJSON are JSON texts, not all of them valid ones.
func oddJSON() []string {
	list := []string{"null", "true", "false", "0", "-1", "1.5", "1e30", "1e400", "2147483648", "9223372036854775807",
		"9223372036854775808", "-9223372036854775809",
		"[]", "{}", "[null]", "[[]]", "[{}]", "{\"a\":null}", strings.Repeat("[", 200) + strings.Repeat("]", 200),
		"\"\\ud800\"", "\"\\u0000\"", "\"\xff\"",
		"\"" + strings.Repeat("x", 70_000) + "\"", "[" + strings.Repeat("1,", 300) + "1]", "[" + strings.Repeat("\"a\",", 300) +
			"\"a\"]", "{\"\":{\"\":[]}}"}
	for _, text := range odd() {
		if quoted, err := json.Marshal(text); err == nil {
			list = append(list, string(quoted))
		}
	}
	return list
}

// valid is the request that the operation should take.
func (o *operation) valid() sent {
	s := sent{what: "valid", method: o.method, path: o.target(o.values), query: o.query.Encode(), as: o.as}
	switch {
	case o.members != nil:
		s.kind, s.body = "application/json", encoded(o.members)
	case o.form != nil:
		s.kind, s.body = "application/x-www-form-urlencoded", []byte(o.form.Encode())
	case o.parts != nil:
		s.kind, s.body = multi(o.parts)
	}
	return s
}

// target is the path with the values in it.
func (o *operation) target(values map[string]string) string {
	return named.ReplaceAllStringFunc(o.path, func(text string) string {
		name := named.FindStringSubmatch(text)[1]
		if o.path == "/objects/{key}" || name == "path" {
			return strings.ReplaceAll(url.PathEscape(values[name]), "%2F", "/")
		}
		return url.PathEscape(values[name])
	})
}

func encoded(members any) []byte {
	text, err := json.Marshal(members)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	return text
}

// multi writes a multipart form.
func multi(parts map[string]string) (kind string, body []byte) {
	var buf bytes.Buffer
	form := multipart.NewWriter(&buf)
	for _, field := range slices.Sorted(maps.Keys(parts)) {
		name, content, isFile := strings.Cut(parts[field], "|")
		header := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name=%q`, field)}}
		if isFile {
			header.Set("Content-Disposition", fmt.Sprintf(`form-data; name=%q; filename=%q`, field, name))
		} else {
			content = name
		}
		part, err := form.CreatePart(header)
		if err == nil {
			_, err = part.Write([]byte(content))
		}
		if err != nil {
			panic(err) // a buffer takes everything
		}
	}
	_ = form.Close()
	return form.FormDataContentType(), buf.Bytes()
}

// requests are the valid request, those that every operation gets, and some of the
// others, chosen by the source.
func (o *operation) requests(random *rand.Rand, some int) []sent {
	fixed := []sent{o.valid()}
	for _, role := range surfaceRoles() {
		if strings.HasPrefix(o.path, "/api/1/sdk/") && role != "wrong" && role != "none" {
			continue // a personal key that an app has is revoked
		}
		if role != o.as {
			s := o.valid()
			s.as, s.what = role, "as "+role
			fixed = append(fixed, s)
		}
	}
	if o.method == http.MethodDelete {
		// What removes something comes when all others have found it.
		fixed = append(fixed[1:], fixed[0])
		fixed = slices.DeleteFunc(fixed, func(s sent) bool { return s.as == "admin" })
	}
	all := slices.Concat(o.paths(), o.queries(), o.headers(), o.bodies())
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return append(all[:min(len(all), some)], fixed...)
}

// paths are requests with other values in the path.
func (o *operation) paths() (list []sent) {
	for _, name := range slices.Sorted(maps.Keys(o.values)) {
		given := o.values[name]
		values := append(odd(), given+"-slug", given+"-", "0"+given, "+"+given, strings.ToUpper(given),
			strings.ReplaceAll(given, "-", ""), given+"\x00")
		for _, value := range values {
			if value == "" || strings.Contains(value, "/") {
				continue // another path
			}
			changed := maps.Clone(o.values)
			changed[name] = value
			s := o.valid()
			s.path, s.what = o.target(changed), fmt.Sprintf("path %s=%.40q", name, value)
			list = append(list, s)
		}
	}
	return list
}

// queries are requests with other parameters, and with one that there is not.
func (o *operation) queries() (list []sent) {
	add := func(what, query string) {
		s := o.valid()
		s.what, s.query = "query "+what, query
		list = append(list, s)
	}
	for _, p := range o.params {
		if p.Value.In != openapi3.ParameterInQuery {
			continue
		}
		name := p.Value.Name
		without := maps.Clone(o.query)
		if without == nil {
			without = url.Values{}
		}
		without.Del(name)
		rest := without.Encode()
		if rest != "" {
			rest += "&"
		}
		add("without "+name, without.Encode())
		values := odd()
		if name == "wait" {
			values = []string{"", "x", "-1", "0", "NaN", "\x00"} // others do what they say
		}
		if schema := p.Value.Schema; schema != nil {
			for _, value := range schema.Value.Enum {
				values = append(values, fmt.Sprint(value), strings.ToUpper(fmt.Sprint(value)), fmt.Sprint(value)+"s")
			}
			if schema.Value.Items != nil {
				for _, value := range schema.Value.Items.Value.Enum {
					values = append(values, fmt.Sprint(value))
				}
			}
			for _, value := range schema.Value.Examples {
				values = append(values, fmt.Sprint(value))
			}
		}
		if p.Value.Example != nil {
			values = append(values, fmt.Sprint(p.Value.Example))
		}
		for _, value := range values {
			add(fmt.Sprintf("%s=%.40q", name, value), rest+url.QueryEscape(name)+"="+url.QueryEscape(value))
		}
		if name != "wait" {
			key := url.QueryEscape(name)
			add(name+" twice", rest+key+"=1&"+key+"=2")
			add(name+" as an array", rest+key+"[]=1&"+key+"%5B%5D=x&"+key+"[0]=3")
			add(name+" as an object", rest+key+"[a]=1")
		}
	}
	whole := o.query.Encode()
	if whole != "" {
		whole += "&"
	}
	add("that is unknown", whole+"proyect=1")
	add("with a bad escape", whole+"%zz=%&;=;")
	add("of many parameters", whole+strings.Repeat("a=1&", 2_000))
	add("of a long name", whole+strings.Repeat("n", 9_000)+"=1")
	add("of page and per_page", whole+"page=2&per_page=1")
	add("of a page far away", whole+"page=1000000&per_page=100&skip=2147483647&limit=100")
	return list
}

// headers are requests with the headers of the description, and with some that all take.
func (o *operation) headers() (list []sent) {
	add := func(name, value string) {
		s := o.valid()
		s.what, s.header = fmt.Sprintf("header %s=%.40q", name, value), http.Header{name: {value}}
		list = append(list, s)
	}
	for _, p := range o.params {
		if p.Value.In == openapi3.ParameterInHeader {
			for _, value := range []string{"", "x", "-1", "\xff", "ü", strings.Repeat("k", 300), strings.Repeat("k", 9_000),
				"a b,c;d=\"", "*", "W/\"1\""} {
				add(p.Value.Name, value)
			}
		}
	}
	add("Accept", "application/xml;q=x, */*;q=-1")
	add("Content-Encoding", "gzip")
	add("Content-Encoding", "x")
	add("Range", "bytes=9-1,x")
	add("If-None-Match", "*")
	add("X-Request-Id", "\xff")
	add("Authorization", "Basic %%%")
	add("Authorization", "Bearer "+strings.Repeat("x", 9_000))
	add("X-Forwarded-For", "\xff, 1.2.3.4.5")
	add("Cookie", "a=\x01\xff; slipway=x")
	return list
}
