package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"github.com/stretchr/testify/require"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	server := func(code pqerror.Code, detail string) error {
		return &pq.Error{Severity: "ERROR", Code: code, Message: `duplicate key value violates unique constraint "x_y_key"`, Detail: detail}
	}
	refused := &ConnectError{Host: "db:5432", Err: &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect",
		syscall.ECONNREFUSED)}}
	for want, err := range map[string]error{
		"create organization acme: this exists already": Wrap(server("23505",
			""), "create organization acme"),
		"it names something that does not exist": server("23503",
			"Key (team_id)=(7) is not present in table"),
		"delete team: something else still needs it": Wrap(server("23503",
			`Key (id)=(7) is still referenced from table`), "delete team"),
		"begin: the database has no schema of this version: run slipway migrate": Wrap(server("42P01",
			""), "begin"),
		"organization \"acme\": not found": Wrap(sql.ErrNoRows, `organization "acme"`),
		"member \"a\": keys: not found":    fmt.Errorf("member %q: %w", "a", Wrap(sql.ErrNoRows, "keys")),
		"begin: the database cannot be reached at db:5432 (connection refused): see SLIPWAY_DATABASE_URL": Wrap(refused,
			"begin"),
		"begin: the database refuses the user or the password of " +
			"SLIPWAY_DATABASE_URL": Wrap(&ConnectError{Host: "db:5432", Err: server("28P01", "")}, "begin"),
		"save: the database refused the statement " +
			"(code 22003)": Wrap(server("22003", ""), "save"),
		"merge: this conflicts with what is " +
			"there already": fmt.Errorf("merge: %w", ErrConflict),
		"list: the database did not answer in time": Wrap(context.DeadlineExceeded, "list"),
		"the connection to the database was lost while it committed: look whether the change is there before you " +
			"try again": &UnknownOutcomeError{Err: net.ErrClosed},
		"name: is required": &InvalidError{Field: "name", Msg: "is required"},
		"no flag given":     errors.New("no flag given"),
	} {
		got := Plain(err)
		require.EqualError(t, got, want)
		require.ErrorIs(t, got, err)
		require.NotContains(t, got.Error(), "pq:")
		require.NotContains(t, got.Error(), "x_y_key")
	}
	require.NoError(t, Plain(nil))
}
