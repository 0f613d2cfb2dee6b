package crash

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/crash"
)

// TestMappingOfABuildThatCameLater checks crashes that name nothing but a version, whose build
// is uploaded with its mapping after them.
func TestMappingOfABuildThatCameLater(t *testing.T) {
	t.Parallel()
	w := newSymbolWorld(t)
	w.app([2]string{"1.0", "33"})
	w.shelf.db = w.db
	stack := `{"funcName":"a.b.c","library":"SourceFile","line":"1"}`
	docOf := func(version, code string) doc {
		return doc{attributes: fmt.Sprintf(`"version":%q,"version_code":%q`, version, code), stack: stack}
	}
	ids := w.accept(docOf("2.0", "34"), docOf("2.0", "35"), docOf("3.0", "34"))
	w.processAll()
	require.Equal(t, crash.SymbolsMissing, w.state(ids[0]))

	build := w.number(`insert into builds (organization_id, project_id, token, app_name, version, version_code, platform, kind,
		file_id, file_name)
		select organization_id, project_id, $1, app_name, '2.0', '34', platform, kind, file_id, file_name from builds where organization_id = $2
		returning id`, uuid.NewString(), w.org)
	_, task := w.uploadOf(strconv.FormatInt(build, 10), map[string]string{"a.b.c": "shop.Cart.price", "class E": "shop.CartError"}, &build)
	require.NotEqual(t, uuid.Nil, task)
	sum := w.resymbolicate(task)
	require.Equal(t, 2, sum.Done, "those of the version; a build of another code serves where none has the crash's")
	require.Equal(t, crash.SymbolsComplete, w.state(ids[0]))
	require.Contains(t, w.group(w.groupOf(ids[0])).Culprit, "shop.Cart.price")
	require.EqualValues(t, 2, w.number(`select count(*) from crashes where classifier = 'shop.CartError'`), "the class of the error in clear")
	require.Equal(t, crash.SymbolsMissing, w.state(ids[2]), "another version")
	w.countsAgree()

	// Another organization's crashes, or those of another app, are not served.
	w.number(`update crash_projects set project_id = null where id = $1 returning 1`, w.project)
	other := w.accept(docOf("2.0", "34"))
	w.processAll()
	require.Equal(t, crash.SymbolsMissing, w.state(other[0]))
	_, task = w.uploadOf("again", nil, &build)
	require.Equal(t, uuid.Nil, task)
}
