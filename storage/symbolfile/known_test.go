package symbolfile_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol"
	"github.com/slipway-qa/slipway/storage/symbolfile"
)

// What is there is known by any spelling of its identifiers, and by its bytes.
func TestKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const debug, build = "C0FFEE01234567890123456789ABCDEF0", "c0ffee0123456789c0ffee0123456789c0ffee01"
	sum := func(c string) string { return strings.Repeat(c, 64) }
	indexed := file(symbol.ELF, symbolfile.Indexed, symbol.Identifier{Type: symbol.DebugID, Value: debug},
		symbol.Identifier{Type: symbol.BuildID, Value: build},
		symbol.Identifier{Type: symbol.MappingID, Value: "1a2b3c4"})
	indexed.SHA256 = sum("a")
	w.upload(0, indexed)
	failed := file(symbol.ELF, symbolfile.Failed)
	failed.SHA256 = sum("b")
	w.upload(0, failed)
	own := file(symbol.ELF, symbolfile.Indexed, symbol.Identifier{Type: symbol.DebugID, Value: strings.Repeat("D", 32) + "1"})
	own.SHA256 = sum("c")
	w.upload(w.project, own)
	waiting := w.upload(0)
	_, err := w.db.ExecContext(t.Context(),
		`update symbols set state = 'pending', sha256 = $2, given_id = 'Release-7' where id = $1`, waiting, sum("d"))
	require.NoError(t, err)

	for name, row := range map[string]struct {
		query symbolfile.KnownQuery
		want  []bool
	}{
		"spellings": {symbolfile.KnownQuery{Identifiers: []string{"c0ffee01-2345-6789-0123-456789abcdef",
			"C0FFEE01234567890123456789ABCDEF", "{C0FFEE01-2345-6789-0123-456789ABCDEF}",
			debug, "c0ffee01-2345-6789-0123-456789abcdef-0", strings.ToUpper(build), "1A2B3C4", "release-7"}},
			[]bool{true, true, true, true, true, true, true, true}},
		"unknown": {symbolfile.KnownQuery{Identifiers: []string{"C0FFEE01234567890123456789ABCDEF1", "nothing", "",
			"a\x00b", build[:39] + "2"}}, make([]bool, 5)},
		"digests": {symbolfile.KnownQuery{Identifiers: []string{"nothing"}, SHA256: []string{sum("A"), sum("b"), sum("c"), sum("d"), sum("e")}},
			[]bool{false, true, false, false, true, false}},
		"of a project": {symbolfile.KnownQuery{ProjectID: w.project, Identifiers: []string{strings.Repeat("d", 32) + "1",
			debug}, SHA256: []string{sum("c"), sum("a")}}, []bool{true, true, true, true}},
		"of another project": {symbolfile.KnownQuery{ProjectID: w.newProject(), Identifiers: []string{strings.Repeat("d", 32) + "1",
			debug}, SHA256: []string{sum("c")}}, []bool{false, true, false}},
		"nothing": {symbolfile.KnownQuery{}, []bool{}},
	} {
		row.query.OrganizationID = w.org
		got, err := symbolfile.Known(t.Context(), w.db, row.query)
		require.NoError(t, err, name)
		require.Equal(t, row.want, got, name)
	}
	other := w.id(`insert into organizations (uuid, slug, name) values ($1, $2, 'o') returning id`, uuid.New(), uuid.NewString())
	got, err := symbolfile.Known(t.Context(), w.db, symbolfile.KnownQuery{OrganizationID: other,
		Identifiers: []string{debug, build, "release-7"}, SHA256: []string{sum("a"), sum("d")}})
	require.NoError(t, err)
	require.Equal(t, make([]bool, 5), got, "of another organization")
}
