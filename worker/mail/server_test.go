package mail

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseSMTP(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Server{
		"smtp://mail.example.com":                            {Host: "mail.example.com", Port: 587, TLS: StartTLS},
		"smtp://mail.example.com:2525/":                      {Host: "mail.example.com", Port: 2525, TLS: StartTLS},
		"smtp://mail.example.com?tls=none":                   {Host: "mail.example.com", Port: 25, TLS: None},
		"smtp://mail.example.com?tls=implicit":               {Host: "mail.example.com", Port: 465, TLS: Implicit},
		"smtps://u:p@mail.example.com":                       {Host: "mail.example.com", Port: 465, TLS: Implicit, User: "u", Password: "p"},
		"smtps://mail.example.com?tls=implicit":              {Host: "mail.example.com", Port: 465, TLS: Implicit},
		"smtp://a%40b.example:p%2Fw%40%3A@h:26?tls=starttls": {Host: "h", Port: 26, TLS: StartTLS, User: "a@b.example", Password: "p/w@:"},
		"smtp://[::1]:25?tls=none":                           {Host: "::1", Port: 25, TLS: None},
	} {
		got, err := ParseSMTP(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestParseSMTPRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "mail.example.com", "mail.example.com:25", "http://h", "smtp:h", "smtp://", "smtp://:25", "smtp://u:s3cret@",
		"smtp://u@h", "smtp://:s3cret@h", "smtp://u:s3cret@h/path", "smtp://h#s3cret", "smtp://h?tls=maybe", "smtp://h?tls=none&tls=starttls",
		"smtp://h?ssl=1", "smtps://h?tls=none", "smtp://h:0", "smtp://h:65536", "smtp://h:s3cret", "smtp://u:s3%cret@h",
		"smtp://u:s3%0d%0acret@h", "smtp://u:s3cret@h\r\n", "smtp://u:s3cret@h h", "smtp://u:s3cret@[:]",
		"smtp://u:s3cret@[fe80::1%25eth0]", "smtp://u:s3cret@h%40i", "smtp://u:s3cret@" + strings.Repeat("h", 300),
	} {
		_, err := ParseSMTP(text)
		require.Error(t, err, text)
		require.NotContains(t, err.Error(), "s3cret")
		require.NotContains(t, err.Error(), "cret@")
	}
}

func TestServerShowsNoCredentials(t *testing.T) {
	t.Parallel()
	s, err := ParseSMTP("smtp://someone:s3cret@mail.example.com")
	require.NoError(t, err)
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "server", s, "config", fmt.Sprintf("%+v", SMTPConfig{Server: s}))
	for _, shown := range []string{s.String(), fmt.Sprintf("%v", s), fmt.Sprintf("%+v", s), fmt.Sprintf("%#v", s), log.String()} {
		require.Contains(t, shown, "mail.example.com:587")
		require.NotContains(t, shown, "s3cret")
		require.NotContains(t, shown, "someone")
	}
}

func FuzzParseSMTP(f *testing.F) {
	for _, seed := range []string{"smtp://u:p@h:25?tls=none", "smtps://h", "smtp://[::1]", "smtp://%41:%42@h"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSMTP(text)
		if err != nil {
			return
		}
		require.NotEmpty(t, s.Host)
		require.True(t, s.Port > 0 && s.Port < 65536)
		require.Equal(t, s.User == "", s.Password == "")
		require.NotContains(t, s.User+s.Password, "\n")
		again, err := ParseSMTP(s.String())
		require.NoError(t, err, s.String())
		s.User, s.Password = "", ""
		require.Equal(t, s, again)
	})
}
