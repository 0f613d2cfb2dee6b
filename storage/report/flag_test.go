package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Secrets of command lines, wherever they stand: as text of a member whose name says
// that it is a command line, as text of any member, and as lists of arguments.
func TestScrubCommandLines(t *testing.T) {
	t.Parallel()
	const s = "[scrubbed]"
	for _, tt := range []struct{ in, out string }{ // out "": as it was
		// Long flags say it by their names.
		{"app --password hunter2 --port 8080", "app --password " + s + " --port 8080"},
		{"app --password=hunter2 -v", "app --password=" + s + " -v"},
		{"app --api-key k1 --apiKey k2 --token t --secret-access-key a/b+c", "app --api-key " + s + " --apiKey " + s +
			" --token " + s + " --secret-access-key " + s},
		{"app -password hunter2 -token t1 -Dkey.password=x", "app -password " + s + " -token " + s + " -Dkey.password=" + s},
		{`app --password "two words" --token 'a b' rest`, `app --password "` + s + `" --token '` + s + `' rest`},
		{"app --password 12345678", "app --password " + s},
		{"app --password  \t x", "app --password  \t " + s},
		{"--password x", "--password " + s},
		{"keytool -storepass changeit -keypass changeit2 -alias a", "keytool -storepass " + s + " -keypass " + s + " -alias a"},
		{"app --password -v", ""},
		{"app --password", ""},
		{"app --password --token", ""},
		{"app --no-password db1 --ask-password --password-file /run/p --password-stdin x --token-ttl 30 --max-tokens 4096", ""},
		{"app --tokenizer bpe --keyboard de --author ann --pass-through", ""},
		{`setup.exe /Password:hunter2 /api-key:"a b" /q`, `setup.exe /Password:` + s + ` /api-key:"` + s + `" /q`},
		{"app /password-file:c.txt /token: x /srv/token:8080/a /port:80", ""},
		// Variables and URLs.
		{"PASSWORD=x MYSQL_PWD=y app db", "PASSWORD=" + s + " MYSQL_PWD=" + s + " app db"},
		{"aws configure set aws_secret_access_key a/b+c --profile x", "aws configure set aws_secret_access_key " + s + " --profile x"},
		{"AWS_SECRET_ACCESS_KEY=abc aws s3 ls", "AWS_SECRET_ACCESS_KEY=" + s + " aws s3 ls"},
		{"git clone https://ann:pw@h/r.git --depth 1", "git clone https://ann:" + s + "@h/r.git --depth 1"},
		{"psql postgres://u:p@h:5432/d -c 'select 1'", "psql postgres://u:" + s + "@h:5432/d -c 'select 1'"},
		// Headers and users.
		{`curl -H "Authorization: Bearer abc" https://h`, `curl -H "Authorization: ` + s},
		{"curl -u ann:pw https://h -p 80", "curl -u ann:" + s + " https://h -p 80"},
		{"/usr/bin/curl -sS --user ann:pw --proxy-user=p:q https://h", "/usr/bin/curl -sS --user ann:" + s + " --proxy-user=p:" +
			s + " https://h"},
		{`curl -u "ann:p w" -uann:pw h`, `curl -u "ann:` + s + `" -uann:` + s + ` h`},
		{"curl -u ann https://h:80/p", ""},
		{"docker run -u 1000:1000 -p 8080:80 -v /a:/b image", ""},
		// Short flags.
		{"mysql -u root -phunter2 -h db", "mysql -u root -p" + s + " -h db"},
		{`C:\bin\mysqldump.exe -psecret -P 3306 db`, `C:\bin\mysqldump.exe -p` + s + ` -P 3306 db`},
		{"mysql -p12345 -uroot", "mysql -p" + s + " -uroot"},
		{"mysql -u root -p db", ""},
		{"sshpass -p hunter2 ssh a@h -p 2222", "sshpass -p " + s + " ssh a@h -p 2222"},
		{"mongosh -u ann -p pw --port 27017", "mongosh -u ann -p " + s + " --port 27017"},
		{"docker login -u ann -p pw registry", "docker login -u ann -p " + s + " registry"},
		{"redis-cli -h h -a pw ping", "redis-cli -h h -a " + s + " ping"},
		{"ldapsearch -D cn=admin -w pw -b dc=x", "ldapsearch -D cn=admin -w " + s + " -b dc=x"},
		{"sqlcmd -S h -U sa -P pw -Q x", "sqlcmd -S h -U sa -P " + s + " -Q x"},
		{"server -p 8080 -h 0.0.0.0", ""},
		{"gcc -pthread -pipe -pedantic -c a.c", ""},
		{"find / -path x -print0 -prune", ""},
		{"mkdir -p /srv/x -m 700", ""},
		{"a -psn_0_12345 -p8080 -p127.0.0.1:80:80 -p./x -project=x", ""},
	} {
		out := tt.out
		if out == "" {
			out = tt.in
		}
		for _, name := range []string{"command line", "process.argv", "cmdline", "note"} {
			in, want := quoted(t, tt.in), quoted(t, out)
			requireScrubbed(t, with(`"attributes":{"`+name+`":`+in+`}`), with(`"attributes":{"`+name+`":`+want+`}`))
			requireScrubbed(t, with(`"annotations":{"a":[{"`+name+`":`+in+`}]}`), with(`"annotations":{"a":[{"`+name+`":`+want+`}]}`))
		}
		if !strings.ContainsAny(tt.in, "\"'\t=") { // as NUL separates the arguments of a process
			in, want := quoted(t, strings.Join(strings.Fields(tt.in), "\x00")), quoted(t, strings.Join(strings.Fields(out), "\x00"))
			requireScrubbed(t, with(`"annotations":{"cmdline":`+in+`}`), with(`"annotations":{"cmdline":`+want+`}`))
		}
	}
}

// What -p means is known from the program, or else from the place: a member of command
// lines.
func TestScrubShortFlagsOfUnknownPrograms(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"command line", "process.argv", "Command", "launch_args", "execPath", "cmd"} {
		requireScrubbed(t, with(`"attributes":{"`+name+`":"app -phunter2 -pS3cret! -p 8080"}`),
			with(`"attributes":{"`+name+`":"app -p[scrubbed] -p[scrubbed] -p 8080"}`))
	}
	requireScrubbed(t, with(`"attributes":{"note":"the -p0 and -phunter2 flags"}`),
		with(`"attributes":{"note":"the -p0 and -phunter2 flags"}`))
	requireScrubbed(t, with(`"annotations":{"process":{"argv":["app","-phunter2","-p","8080","-u","ann:pw"]}}`),
		with(`"annotations":{"process":{"argv":["app","-p[scrubbed]","-p","8080","-u","ann:[scrubbed]"]}}`))
}

func TestScrubArguments(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, out string }{
		{`["app","--password","hunter2","--port","8080"]`, `["app","--password","[scrubbed]","--port","8080"]`},
		{`["app","--api-key=k","-token","t"]`, `["app","--api-key=[scrubbed]","-token","[scrubbed]"]`},
		{`["/usr/bin/mysql","-uroot","-phunter2"]`, `["/usr/bin/mysql","-uroot","-p[scrubbed]"]`},
		{`["sshpass","-p","a b","ssh","-p","22","h"]`, `["sshpass","-p","[scrubbed]","ssh","-p","22","h"]`},
		{`["redis-cli","-a","pw"]`, `["redis-cli","-a","[scrubbed]"]`},
		{`["curl","-u","ann:p\"w","https://h"]`, `["curl","-u","ann:[scrubbed]","https://h"]`},
		{`["curl","--user","ann","-p","x"]`, ``},
		{`["sh","-c","mysql -phunter2"]`, `["sh","-c","mysql -p[scrubbed]"]`},
		{`["server","-p","8080"]`, ``},
		{`[["mysql"],"-phunter2"]`, ``},
		{`"[\"app\", \"--password\", \"x y\", \"-v\"]"`, `"[\"app\", \"--password\", \"[scrubbed]\", \"-v\"]"`},
		{`"['app', '--token', 'x', '--port', '1']"`, `"['app', '--token', '[scrubbed]', '--port', '1']"`},
	} {
		if tt.out == "" {
			tt.out = tt.in
		}
		requireScrubbed(t, with(`"annotations":{"list":`+tt.in+`}`), with(`"annotations":{"list":`+tt.out+`}`))
	}
}

// The time that it takes grows as the text does: with its square, this would not end.
func TestScrubLongCommandLines(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"-", " -", "--p ", "aws_se", " aws_secret_access_key x", ` -u "`, ` -u 'a:b`, " -p",
		"mysql -px ", "\"--token\" ", `-a"`, ": ", "a"} {
		text := quoted(t, strings.Repeat(part, 200_000))
		doc := []byte(with(`"annotations":{"command":` + text + `}`))
		_, err := Check(doc, Limits{Secrets: 1 << 20})
		require.NoError(t, err)
	}
}

func quoted(t *testing.T, s string) string {
	t.Helper()
	b, err := json.Marshal(s)
	require.NoError(t, err)
	return string(b)
}

// Whatever the text, masking twice masks no more.
func FuzzScrubText(f *testing.F) {
	for _, seed := range []string{"app --password hunter2 -phunter2", `--password "a' --token b"`, `mysql -p"x y`, "curl -u a:b --user=c:d",
		`password='a --token b'`, "--token=a --password token=x&b", `["--password", "x"]`, `-u "a:b" Cookie: x --password y`,
		`--password Authorization: b`, "mysql\uFFFD-px\uFFFD-y", `"--token" , 'a"b'`,
		"aws_session_token -x aws_secret_key b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, err := json.Marshal(s)
		if err != nil {
			return
		}
		for _, place := range []string{`"annotations":{"cmd":`, `"annotations":{"x":`} {
			head, err := Check([]byte(with(place+string(text)+`}`)), Limits{})
			if err != nil {
				continue
			}
			once := Scrub(nil, head)
			again, err := Check(once, Limits{})
			if err != nil {
				t.Fatalf("%s: %v", once, err)
			}
			if len(again.Secrets) > 0 {
				t.Fatalf("%s\n%s", once, Scrub(nil, again))
			}
		}
	})
}
