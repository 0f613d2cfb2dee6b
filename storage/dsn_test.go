package storage

import (
	"net/url"
	"testing"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/stretchr/testify/require"
)

func TestOnlyLoopbackIsUnencryptedByDefault(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		"postgres://u:p@127.0.0.1:5432/d":              "disable",
		"postgres://u:p@localhost/d":                   "disable",
		"postgres://u:p@[::1]:5432/d":                  "disable",
		"postgres://u:p@db.example.com/d":              "require",
		"postgres://u:p@10.0.0.5/d":                    "require",
		"postgres://u:p@postgres/d?sslmode=disable":    "disable",
		"postgres://u:p@127.0.0.1/d?sslmode=verify-ca": "verify-ca",
	} {
		dsn, _, err := Config{URL: raw}.dsn()
		require.NoError(t, err)
		u, err := url.Parse(dsn)
		require.NoError(t, err)
		require.Equal(t, want, u.Query().Get("sslmode"), raw)
		require.Equal(t, "yes", u.Query().Get("binary_parameters"))
	}
}

func TestErrorsHaveTheirMeaning(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]error{
		"23505": ErrConflict, "23503": ErrConflict, "57P01": ErrUnavailable, "08006": ErrUnavailable,
		"53100": ErrUnavailable, "57014": ErrUnavailable, "40P01": ErrUnavailable, "25P03": ErrUnavailable,
	} {
		err := Wrap(&pq.Error{Code: pqerror.Code(code)}, "do")
		require.ErrorIs(t, err, want, code)
	}
	other := Wrap(&pq.Error{Code: "42601"}, "do")
	for _, meaning := range []error{ErrNotFound, ErrConflict, ErrUnavailable} {
		require.NotErrorIs(t, other, meaning)
	}
	for code, data := range map[string]bool{"22P05": true, "23514": true, "54000": true, "40P01": false, "57014": false} {
		require.Equal(t, data, IsData(Wrap(&pq.Error{Code: pqerror.Code(code)}, "do")), code)
	}
}
