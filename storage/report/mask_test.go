package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSecretName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"password", "PASSWORD", "Passwd", "DB_PASSWORD", "dbPassword", "PGPASSWORD", "userpassword", "MYSQL_PWD",
		"smtp_pass", "pass", "passphrase", "passcode", "passwords",
		"secret", "client_secret", "clientSecret", "SECRET_KEY_BASE", "secrets", "appsecret", "AWS_SECRET_ACCESS_KEY",
		"AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN",
		"token", "tokens", "accessToken", "access-token", "GITHUB_TOKEN", "refreshtoken", "X-CSRF-Token", "csrf", "xsrf", "jwt", "bearer", "otp",
		"api_key", "apikey", "apiKey", "APIKey", "API-KEY", "x-api-key", "STRIPE_API_KEY", "googleapikey", "private_key",
		"privateKey", "privatekey", "ssh.key", "encryption_key", "accountKey", "accesskey", "secretkey", "masterKeys",
		"SIGNING_KEY", "STORAGE_KEY", "deploy_key",
		"authorization", "Authorization", "proxy-authorization", "auth", "REDIS_AUTH", "_auth", "cookie", "Cookie",
		"set-cookie", "setCookie", "cookies",
		"credential", "credentials", "GOOGLE_APPLICATION_CREDENTIALS", "creds", "session_id", "sessionId", "SESSIONID",
		"PHPSESSID", "JSESSIONID", "session.key",
		"connectionString", "connection_string", "conn_str", "connectionstring", "connstr", "DSN",
		"AZURE_STORAGE_CONNECTION_STRING", "pw", "password2", "OAuth2Token",
	} {
		require.NotEqual(t, public, secretName([]byte(name), false), name)
	}
	for _, name := range []string{
		"", "_", "tokenizer", "tokenize", "keyboard", "key", "keyCode", "author", "authority", "authentic", "auth_method",
		"SSH_AUTH_SOCK", "monkey", "PWD", "OLDPWD", "pwd", "passenger", "bypass", "compass", "passed",
		"secretary", "session", "application.session", "sessionCount", "connection", "connections", "stringKey",
		"accessibility", "public_key", "apiVersion", "id", "message", "address", "size", "version", "sig", "signature",
		"signal", "side", "records", "broken",
		"PATH", "HOME", "hostname", "Environment Variables", "cooking", "stroke", "\xc3\xa9", "clé",
	} {
		require.Equal(t, public, secretName([]byte(name), false), name)
	}
	require.Equal(t, secretText, secretName([]byte("X-Amz-Signature"), true))
	require.Equal(t, secretText, secretName([]byte("sig"), true))
	require.Equal(t, secretText, secretName([]byte("connect.sid"), true))
}

func TestScrub(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, out string }{
		// by name
		{`{"password":"x"}`, `{"password":"[scrubbed]"}`},
		{`{"p\u0061ssword":"a\"b"}`, `{"p\u0061ssword":"[scrubbed]"}`},
		{`{"a":[{"b":{"apiKey":"x","z":1}}]}`, `{"a":[{"b":{"apiKey":"[scrubbed]","z":1}}]}`},
		{`{"password":1234,"secret":-1.5}`, `{"password":"[scrubbed]","secret":"[scrubbed]"}`},
		{`{"token":{"a":[1]},"cookies":["x"]}`, `{"token":"[scrubbed]","cookies":"[scrubbed]"}`},
		{`{"password":null,"secret":true,"token":"","cookie":{},"credentials":[],"max_tokens":4096}`, ``},
		{`{"password":"a","password":"b"}`, `{"password":"[scrubbed]","password":"[scrubbed]"}`},
		{`{"password":"[scrubbed]"}`, ``},
		{`{"tokenizer":"x","keyboard":"x","author":"x","PWD":"/srv"}`, ``},
		// parameters
		{`"https://h/p?token=abc&x=1"`, `"https://h/p?token=[scrubbed]&x=1"`},
		{`"https://h/p?x=1&api_key=abc#f"`, `"https://h/p?x=1&api_key=[scrubbed]"`},
		{`"?a=1\u0026token=ab\u0063\u0026b=2"`, `"?a=1\u0026token=[scrubbed]\u0026b=2"`},
		{`"?token\u003dabc"`, `"?token\u003d[scrubbed]"`},
		{`"?user[password]=x&a=b"`, `"?user[password]=[scrubbed]&a=b"`},
		{`"?token=&x=1&token"`, ``},
		{`"Server=h;User=u;Password=p,w;Db=d"`, `"Server=h;User=u;Password=[scrubbed];Db=d"`},
		{`"run --password=hunter2 --x=1"`, `"run --password=[scrubbed] --x=1"`},
		{`"password='a b' token=\"c&d\" secret=\"e f"`, `"password='[scrubbed]' token=\"[scrubbed]\" secret=\"[scrubbed]"`},
		{`"A=1\nDB_PASSWORD=x\nB=2"`, `"A=1\nDB_PASSWORD=[scrubbed]\nB=2"`},
		{`{"QUERY_STRING":"x=1&session_id=9"}`, `{"QUERY_STRING":"x=1&session_id=[scrubbed]"}`},
		{`{"q":"?X-Amz-Credential=c&X-Amz-Signature=s&X-Amz-Date=d"}`,
			`{"q":"?X-Amz-Credential=[scrubbed]&X-Amz-Signature=[scrubbed]&X-Amz-Date=d"}`},
		{`"x == y, tokenizer=1, a@b"`, ``},
		// items of an environment
		{`["PATH=/bin","AWS_SECRET_ACCESS_KEY=a b&c;d"]`, `["PATH=/bin","AWS_SECRET_ACCESS_KEY=[scrubbed]"]`},
		{`["A=b password=c d"]`, `["A=b password=[scrubbed] d"]`},
		{`["TOKEN=http:\/\/u:p@h"]`, `["TOKEN=[scrubbed]"]`},
		// URLs
		{`"postgres://u:p@h:5432/d"`, `"postgres://u:[scrubbed]@h:5432/d"`},
		{`{"DATABASE_URL":"redis:\/\/:p%40w@h"}`, `{"DATABASE_URL":"redis:\/\/:[scrubbed]@h"}`},
		{`"http://u@h http://h:80/a@b http://u:@h"`, ``},
		{`"http://u:a@b@h http://v:p@h"`, `"http://u:[scrubbed]@h http://v:[scrubbed]@h"`},
		{`"\u00e9 😀 http://u:😀\u00e9@h"`, `"\u00e9 😀 http://u:[scrubbed]@h"`},
		{`"token=x://u:p;q@h rest"`, `"token=[scrubbed];q@h rest"`},
		{`"http://u:x&token=abc@h/path rest"`, `"http://u:x&token=[scrubbed] rest"`},
		{`"http://u:x&token=abc;d@h/path rest"`, `"http://u:[scrubbed]@h/path rest"`},
		{`"a://u:p,token=b/c;d@e"`, `"a://u:[scrubbed]@e"`},
		{`"a://u:p&token=//n:x&abc@h/t"`, `"a://u:[scrubbed]@h/t"`},
		{`"a://b://u:p@h"`, `"a://b://u:[scrubbed]@h"`},
		// headers as pairs
		{`[{"name":"Authorization","value":"x"},{"name":"Host","value":"h"}]`,
			`[{"name":"Authorization","value":"[scrubbed]"},{"name":"Host","value":"h"}]`},
		{`{"value":"?token=a&sig=b","name":"cookie","z":"?token=c"}`, `{"value":"[scrubbed]","name":"cookie","z":"?token=[scrubbed]"}`},
		{`{"values":["a","token=b"],"z":{"password":"x"},"Key":"X-Api-Key"}`,
			`{"values":"[scrubbed]","z":{"password":"[scrubbed]"},"Key":"X-Api-Key"}`},
		{`{"name":"password","value":7,"id":1}`, `{"name":"password","value":"[scrubbed]","id":1}`},
		{`{"name":"token","value":7,"name":"x"}`, ``},
		{`[["authorization","a b"],["host","h"],["set-cookie",["a","b"]]]`,
			`[["authorization","[scrubbed]"],["host","h"],["set-cookie","[scrubbed]"]]`},
		{`["Host","h","Authorization","a","--password","p","q"]`, `["Host","h","Authorization","[scrubbed]","--password","[scrubbed]","q"]`},
		{`["token","cookie","x","an unexpected token","y"]`, `["token","[scrubbed]","x","an unexpected token","y"]`},
		// headers in text
		{`"Authorization: Bearer x"`, `"Authorization: [scrubbed]"`},
		{`"GET / HTTP/1.1\r\nHost: h:80\r\nCookie: a=b; c=\"d e\"\r\nX-Api-Key:\tk\r\nAge: 1"`,
			`"GET / HTTP/1.1\r\nHost: h:80\r\nCookie: [scrubbed]\r\nX-Api-Key:\t[scrubbed]\r\nAge: 1"`},
		{`"proxy-authorization\u003aBasic x"`, `"proxy-authorization\u003a[scrubbed]"`},
		{`"TokenExpiredError: jwt expired, user-token:7, cookie://h, Cookie: "`, ``},
		{`"{\"password\":\"a\\\"b\",\"secret\": 17,\"x\":1}"`, `"{\"password\":\"[scrubbed]\",\"secret\": [scrubbed],\"x\":1}"`},
		{`"{'apiKey': 'k', 'tokens': 9, 'cookies': ['a', 'b']}"`, `"{'apiKey': '[scrubbed]', 'tokens': 9, 'cookies': [scrubbed]"`},
		{`["SECRET=a\"cookie\":\"\"b c"]`, `["SECRET=[scrubbed]"]`},
		{`"token=a Authorization: b?token=c"`, `"token=[scrubbed] Authorization: [scrubbed]"`},
	} {
		in, out := with(`"annotations":`+tt.in), with(`"annotations":`+tt.out)
		if tt.out == "" {
			out = in
		}
		head, err := Check([]byte(in), Limits{})
		require.NoError(t, err, in)
		got := Scrub([]byte("x"), head)
		require.Equal(t, "x"+out, string(got))
		require.True(t, json.Valid(got[1:]))
		again, err := Check(got[1:], Limits{})
		require.NoError(t, err)
		require.Empty(t, again.Secrets, string(got))
	}
}

func TestScrubAttributes(t *testing.T) {
	t.Parallel()
	head, err := Check([]byte(with(`"attributes":{"password":"x","user.token":"y","secret":7,"url":"?token=z","application.session":"s"}`)),
		Limits{})
	require.NoError(t, err)
	require.Equal(t, with(`"attributes":{"password":"[scrubbed]","user.token":"[scrubbed]","secret":"[scrubbed]","url":"?token=[scrubbed]",`+
		`"application.session":"s"}`), string(Scrub(nil, head)))
}

// Secrets are looked for in every unknown member.
func TestScrubForeign(t *testing.T) {
	t.Parallel()
	const text, masked = `"https://u:pw1@h/?token=abc123"`, `"https://u:[scrubbed]@h/?token=[scrubbed]"`
	const object, clean = `{"AWS_SECRET_ACCESS_KEY":"x","n":[1,"Cookie: a"]}`,
		`{"AWS_SECRET_ACCESS_KEY":"[scrubbed]","n":[1,"Cookie: [scrubbed]"]}`
	stack := func(members string) string { return frame(`"funcName":"f",` + members) }
	thread := func(members string) string { return strings.Replace(minimal, `"0":{}`, `"0":{`+members+`}`, 1) }
	for _, place := range []func(string) string{
		func(v string) string { return with(`"env":` + v) },
		func(v string) string { return with(`"body":` + v) },
		func(v string) string { return with(`"a":` + v + `,"body":` + v + `,"annotations":{"b":` + v + `}`) },
		func(v string) string { return thread(`"env":` + v) },
		func(v string) string { return stack(`"locals":` + v) },
		func(v string) string { return with(`"sourceCode":{"a":{"path":"p","env":` + v + `}}`) },
		func(v string) string { return with(`"modules":[{"env":` + v + `}]`) },
		func(v string) string { return with(`"arch":{"env":` + v + `}`) },
		func(v string) string { return with(`"memory":[{"start":1,"size":1,"env":` + v + `}]`) },
		func(v string) string {
			return with(`"memory":[{"start":1,"size":1,"perms":{"env":` + v + `}}]`)
		},
	} {
		requireScrubbed(t, place(text), place(masked))
		requireScrubbed(t, place(object), place(clean))
	}
	for _, place := range []func(string) string{
		func(v string) string { return with(`"password":` + v) },
		func(v string) string { return thread(`"token":` + v) },
		func(v string) string { return stack(`"cookies":` + v) },
		func(v string) string { return with(`"attributes":{"password":` + v + `}`) },
	} {
		requireScrubbed(t, place(`"x"`), place(`"[scrubbed]"`))
	}
	requireScrubbed(t, with(`"attributes":{"request.url":`+text+`,"n":1,"b":true}`), with(`"attributes":{"request.url":`+
		masked+`,"n":1,"b":true}`))
	requireScrubbed(t, with(`"body":"{\"password\":\"x\"}"`), with(`"body":"{\"password\":\"[scrubbed]\"}"`))
	// Inside of a wrapped report the secrets around it are not stored at all.
	requireScrubbed(t, `{"env":`+object+`,"body":`+with(`"env":`+object)+`}`, with(`"env":`+clean))
}

func requireScrubbed(t *testing.T, in, out string) {
	t.Helper()
	head, err := Check([]byte(in), Limits{})
	require.NoError(t, err, in)
	got := Scrub(nil, head)
	require.Equal(t, out, string(got))
	again, err := Check(got, Limits{})
	require.NoError(t, err)
	require.Empty(t, again.Secrets, string(got))
}

func TestScrubWrapped(t *testing.T) {
	t.Parallel()
	inner := with(`"annotations":{"password":"x"}`)
	quoted, err := json.Marshal(inner)
	require.NoError(t, err)
	for _, body := range []string{inner, string(quoted)} {
		head, err := Check([]byte(`{"body":`+body+`}`), Limits{})
		require.NoError(t, err)
		require.Equal(t, with(`"annotations":{"password":"[scrubbed]"}`), string(Scrub(nil, head)))
	}
}
