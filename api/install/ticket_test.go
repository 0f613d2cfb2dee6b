package install

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTicket(t *testing.T) {
	t.Parallel()
	secret := []byte("0123456789abcdef0123456789abcdef")
	good := ticket{build: 7, user: 42, expires: noon.Add(ticketAge)}.signed(secret)
	require.LessOrEqual(t, len(good), maxTicket)
	user, ok := readTicket(secret, good, 7, "", noon.Add(ticketAge-time.Second))
	require.True(t, ok)
	require.EqualValues(t, 42, user)
	user, ok = readTicket(secret, ticket{build: 7, expires: noon.Add(time.Hour)}.signed(secret), 7, "", noon)
	require.True(t, ok)
	require.Zero(t, user)

	// A ticket of a page with a password ends with the password.
	behind := ticket{build: 7, locks: "p1=x;", expires: noon.Add(ticketAge)}.signed(secret)
	for locks, want := range map[string]bool{"p1=x;": true, "p1=y;": false, "": false} {
		_, ok := readTicket(secret, behind, 7, locks, noon)
		require.Equal(t, want, ok, locks)
	}

	parts := strings.Split(good, ".")
	later := strconv.FormatInt(noon.Add(2*ticketAge).Unix(), 10)
	for name, tc := range map[string]struct {
		text  string
		build int64
		now   time.Time
	}{
		"expired":         {good, 7, noon.Add(ticketAge)},
		"another build":   {good, 8, noon},
		"another person":  {"43." + parts[1] + "." + parts[2], 7, noon},
		"nobody":          {"0." + parts[1] + "." + parts[2], 7, noon},
		"longer life":     {parts[0] + "." + later + "." + parts[2], 7, noon},
		"other spelling":  {"042." + parts[1] + "." + parts[2], 7, noon},
		"plus":            {"+42." + parts[1] + "." + parts[2], 7, noon},
		"cut":             {good[:len(good)-1], 7, noon},
		"padded":          {good + "=", 7, noon},
		"two parts":       {parts[0] + "." + parts[1], 7, noon},
		"four parts":      {good + ".", 7, noon},
		"empty":           {"", 7, noon},
		"dots":            {"..", 7, noon},
		"long":            {strings.Repeat("1", 1<<20), 7, noon},
		"no number":       {"a.b.c", 7, noon},
		"too large":       {"99999999999999999999.1.x", 7, noon},
		"another secret":  {ticket{build: 7, user: 42, expires: noon.Add(ticketAge)}.signed([]byte("x")), 7, noon},
		"empty signature": {parts[0] + "." + parts[1] + ".", 7, noon},
	} {
		_, ok := readTicket(secret, tc.text, tc.build, "", tc.now)
		require.False(t, ok, name)
	}
}

func FuzzTicket(f *testing.F) {
	secret := []byte("0123456789abcdef0123456789abcdef")
	f.Add(ticket{build: 7, user: 42, expires: noon.Add(time.Hour)}.signed(secret))
	f.Add("1.2.3")
	f.Fuzz(func(t *testing.T, text string) {
		user, ok := readTicket(secret, text, 7, "", noon)
		if !ok {
			return
		}
		parts := strings.Split(text, ".")
		expiry, err := strconv.ParseInt(parts[1], 10, 64)
		require.NoError(t, err)
		require.Equal(t, ticket{build: 7, user: user, expires: time.Unix(expiry, 0)}.signed(secret), text)
	})
}
