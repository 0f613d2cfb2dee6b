package message

import (
	"testing"

	"github.com/slipway-qa/slipway/worker/crash/fingerprint/naming"

	"github.com/stretchr/testify/require"
)

func TestMessages(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"x is undefined":                                       "x is undefined",
		"Order 4711 of bob@example.org":                        "Order <num> of <mail>",
		"no file '/var/db/x.sqlite'!":                          "no file <str>",
		"open /var/db/x.sqlite: no such file":                  "open <path>: no such file",
		`open C:\Users\bob\x.txt failed`:                       "open <path> failed",
		"GET https://example.org/a?b=1 failed: 503":            "GET <url> failed: 503",
		"id 0b5ac4c2-6a6a-4c0e-9d5f-0123456789ab gone":         "id <uuid> gone",
		"at 0x7fff5a3b and deadbeef01":                         "at <hex> and <hex>",
		"expired 2026-11-20T10:20:03Z, on 2026-11-20":          "expired <date>, on <date>",
		"took 12.5 s, delta -3":                                "took <num>, delta <num>",
		"host 10.0.0.17:5432 refused":                          "host <host> refused",
		"user123 (id=77)":                                      "user<num> (id=<num>)",
		"can't read property 'x' of undefined":                 "can't read property 'x' of undefined",
		"bob's book and “quoted” text":                         "bob's book and <str> text",
		`unexpected token "}" in JSON at position 17`:          "unexpected token <str> in JSON at position <num>",
		"read/write error":                                     "read/write error",
		"  two   blanks\tand\x00controls ":                     "two blanks and controls",
		"an 'open quote that nobody closes":                    "an 'open quote that nobody closes",
		"undefined reference to `main'":                        "undefined reference to <str>",
		"facade decade":                                        "facade decade",
		"HTTP 404":                                             "HTTP 404",
		"Request failed with status code 503.":                 "Request failed with status code 503",
		"500 Internal Server Error":                            "500 Internal Server Error",
		"[Errno 13] Permission denied: '/a/b'":                 "[Errno 13] Permission denied: <str>",
		"Code=-1009 offline":                                   "Code=-1009 offline",
		"failed (0x80070005)":                                  "failed (0x80070005)",
		"ORA-00942: table or view does not exist":              "ORA-00942: table or view does not exist",
		"SQLSTATE 23505 in row 12":                             "SQLSTATE 23505 in row <num>",
		"SQLSTATE[42S02]: not found":                           "SQLSTATE[42S02]: not found",
		"E11000 duplicate key":                                 "E11000 duplicate key",
		"exited with code 137 after 12 ms":                     "exited with code 137 after <num>",
		`missing column "price" of user 'bob'`:                 "missing column 'price' of user <str>",
		"name 'x' is not defined":                              "name 'x' is not defined",
		"invalid literal for int() with base 10: 'a'":          "invalid literal for int() with base <num>: <str>",
		"no address for fe80::1%eth0, [2001:db8::7]":           "no address for <host>, <host>",
		"lookup api-7.eu.example.com on 10.0.0.2":              "lookup <host> on <host>",
		"java.lang.String is no a.b.c":                         "java.lang.String is no a.b.c",
		"std::vector and a::b":                                 "std::vector and a::b",
		"bad token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.c2ln": "bad token <token>",
		"since Mon, 20 Nov 2026 10:20:03 GMT closed":           "since <date> closed",
		"closed on Friday, May 3":                              "closed on <date>",
		"used 3.4MB of 1 GB in 1m30s":                          "used <num> of <num> in <num>",
		"pod web-7d9f8b6c5-x2k4p gone":                         "pod web-<hex>-<hex> gone",
		"client v3.0.0-beta.2 is old":                          "client <num> is old",
		"upstream returned 503":                                "upstream returned 503",
		"Loading chunk 412 failed (http://a/b)":                "Loading chunk <num> failed (<url>)",
		"connect to db.example.com/10.0.0.7:5432":              "connect to <host>",
		"connect ECONNREFUSED ::1:5432":                        "connect ECONNREFUSED <host>",
		"1 row of 50%":                                         "<num> row of <num>",
		"3 rows of 5 %":                                        "<num> row of <num>",
		"props.user.id is undefined":                           "props.user.id is undefined",
		"'RNCamera' could not be found":                        "'RNCamera' could not be found",
		"'bob' could not be found":                             "<str> could not be found",
		"rows 1, 2, 3 differ":                                  "rows <num> differ",
	} {
		require.Equal(t, want, Normalize(in), "%q", in)
	}
}

func FuzzMessage(f *testing.F) {
	f.Add("Order 4711 of bob@example.org not in '/var/db/x.sqlite' at 2026-11-20")
	f.Fuzz(func(t *testing.T, s string) {
		if text := Normalize(s); len(text) > naming.MaxText {
			t.Fatalf("%d bytes", len(text))
		}
	})
}
