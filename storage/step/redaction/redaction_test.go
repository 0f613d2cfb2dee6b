package redaction_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/step/redaction"
)

// written are the ways in which texts hold a secret.
func written(secret string) []string {
	quoted, _ := json.Marshal(secret)
	raw := []byte(secret)
	return []string{secret, string(quoted[1 : len(quoted)-1]), html.EscapeString(secret), html.EscapeString(string(quoted[1 : len(quoted)-1])),
		url.QueryEscape(secret), url.PathEscape(secret), base64.StdEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw),
		hex.EncodeToString(raw), strings.ToUpper(hex.EncodeToString(raw))}
}

func TestRedactor(t *testing.T) {
	t.Parallel()
	const secret = `pä"ss'wo/rd +<&>?~é` + "\n"
	r := redaction.New([]string{"hunter2", secret, "ab", "", "hunter2-longer"})
	for _, form := range written(secret) {
		require.Equal(t, "before *** after", r.Text("before "+form+" after"), form)
	}
	for text, want := range map[string]string{
		"": "", "nothing to hide": "nothing to hide", "ab stays: too short": "ab stays: too short",
		"hunter2hunter2": "******", "hunter2-longer": "***", "hunter2-long": "***-long",
		`encodeURIComponent p%C3%A4%22ss'wo%2Frd%20%2B%3C%26%3E%3F~%C3%A9%0A`: "encodeURIComponent ***",
		`lower p%c3%a4%22ss%27wo%2frd+%2b%3c%26%3e%3f~%c3%a9%0a`:              "lower ***",
		`python "p\u00e4\"ss'wo/rd +<&>?~\u00e9\n"`:                           `python "***"`,
		`value="p` + "ä" + `&quot;ss'wo/rd +&lt;&amp;&gt;?~é` + "\n" + `"`:    `value="***"`,
		`attribute of a browser: "pä&quot;ss'wo/rd +<&amp;>?~é` + "\n" +
			`"`: `attribute of a browser: "***"`,
		`named pä&quot;ss&apos;wo/rd +&lt;&amp;&gt;?~é` + "\n" + `, numbered pä&#34;ss&#39;wo/rd +&lt;&amp;&gt;?~é` +
			"\n": `named ***, numbered ***`,
	} {
		require.Equal(t, want, r.Text(text), text)
	}

	var none *redaction.Redactor
	require.Equal(t, "x", none.Text("x"))
	require.Nil(t, redaction.New([]string{"", "a", "ab"}))
}

// Credentials of Basic, tokens and data: addresses hold a secret beside other text.
func TestRedactorFindsSecretsWithinBase64(t *testing.T) {
	t.Parallel()
	const secret = "hunter2?~~>secret"
	r := redaction.New([]string{secret, "hunter"})
	for _, before := range []string{"", "a", "an", "ann", "ann:"} {
		for _, after := range []string{"", "!", "!!", "!!!"} {
			for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawURLEncoding} {
				text := encoding.EncodeToString([]byte(before + secret + after))
				got := r.Text("Basic " + text)
				require.Contains(t, got, "***", "%q %q", before, after)
				// What is left of its ends is less than three bytes of it.
				require.Less(t, len(got), len("Basic ***")+(len(before)+len(after)+4)*4/3+2, got)
			}
		}
	}
	short := base64.StdEncoding.EncodeToString([]byte("x:hunter"))
	require.Equal(t, short, r.Text(short), "too short to be told from other text")
}

func TestRedactorFindsWhatACutLeft(t *testing.T) {
	t.Parallel()
	r := redaction.New([]string{"hunter2", "pä/ss"})
	for text, want := range map[string]bool{
		"": false, "hu": false, "it is hu": false, "it is hun": true, "hunter": true, "it is hunter": true,
		"it is hunter2": false, "hunter is a word": false, "p%C3": true, "p%C3%A4%2Fs": true, "p%C": true, "68756e": true,
	} {
		require.Equal(t, want, r.EndsInPart(text), text)
	}
	require.False(t, (*redaction.Redactor)(nil).EndsInPart("hunter"))
}

func FuzzRedactor(f *testing.F) {
	f.Add("hunter2", "hunter2-longer", "x hunter2-long y")
	f.Add("a\"b", "<é>", "{")
	f.Add("\xff\xfe\x00", "abcabc", "ababcabcabc")
	f.Fuzz(func(t *testing.T, first, second, text string) {
		// With asterisks beside it the mask may form a secret that contains one.
		if strings.Contains(first+second, "*") {
			return
		}
		r := redaction.New([]string{first, second})
		for _, secret := range []string{first, second} {
			if len(secret) < 3 {
				continue
			}
			for _, form := range written(secret) {
				got := r.Text(text + form + text)
				if strings.Contains(got, secret) || strings.Contains(got, form) {
					t.Fatalf("%q holds %q of %q", got, form, secret)
				}
				if r.Text(got) != got {
					t.Fatalf("%q changes again", got)
				}
			}
		}
	})
}
