package symbols

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbolfile"
	"github.com/slipway-qa/slipway/tasks"
	"github.com/slipway-qa/slipway/worker/symbols/parse"
)

const splitProgram = `
static inline __attribute__((always_inline)) int inner(int a) { volatile int b = a * 3; return b + 1; }
__attribute__((noinline)) int outer(int a) { return inner(a) + 2; }
int main(int argc, char **argv) { return outer(argc); }
`

// made runs commands in a folder that has the program, and returns the contents of files.
func made(t *testing.T, commands [][]string, names ...string) (contents []string) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "app.c"), []byte(splitProgram), 0o600))
	for _, c := range commands {
		if _, err := exec.LookPath(c[0]); err != nil {
			t.Skipf("no %s here", c[0])
		}
		cmd := exec.CommandContext(t.Context(), c[0], c[1:]...)
		cmd.Dir = folder
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(folder, name))
		require.NoError(t, err)
		contents = append(contents, string(content))
	}
	return contents
}

// A part of the debug information that arrives in another upload than the executable is
// used, in either order.
func TestCompanions(t *testing.T) {
	t.Parallel()
	gcc := []string{"gcc", "-O1", "-g", "-gsplit-dwarf", "-Wl,--build-id", "-c", "app.c", "-o", "app.o"}
	cases := map[string][]string{
		"split": made(t, [][]string{gcc, {"gcc", "app.o", "-Wl,--build-id", "-o", "app"}}, "app", "app.dwo"),
		"debug link": made(t, [][]string{{"gcc", "-O1", "-g", "-Wl,--build-id=none", "app.c", "-o", "app"},
			{"objcopy", "--only-keep-debug", "app", "app.debug"}, {"strip", "app"},
			{"objcopy", "--add-gnu-debuglink=app.debug", "app"}}, "app", "app.debug"),
	}
	for name, files := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, companion := files[0], files[1]
			inlines := func(w *world, u *symbolfile.Upload) bool {
				f := w.files(u)
				require.Len(t, f, 1)
				return slices.Contains(f[0].Features, parse.Inlines)
			}
			w := newWorld(t)
			executable := w.index(w.upload(program, nil))
			require.False(t, inlines(w, executable))
			first := *executable.TaskID
			w.index(w.upload(zipped(t, "x/app.part", companion), nil))
			executable = w.reread(executable)
			require.NotEqual(t, first, *executable.TaskID, "the executable has a task")
			require.Equal(t, symbolfile.Indexed, executable.State, "it serves meanwhile")
			executable = w.index(executable)
			require.True(t, inlines(w, executable))
			require.EqualValues(t, 2, w.number(`select count(distinct symbol_id) from symbol_files`))
			require.Zero(t, w.number(`select count(*) from symbol_links where lacking`))
			require.Zero(t, w.number(`select count(*) from tasks where kind = $1 and state = 'queued'`, tasks.SymbolIndex.Name))

			w = newWorld(t)
			w.index(w.upload(companion, nil))
			require.True(t, inlines(w, w.index(w.upload(program, nil))))
			w = newWorld(t)
			u := w.index(w.upload(zipped(t, "app", program, "part", companion), nil))
			require.Contains(t, w.files(u)[0].Features, parse.Inlines, "in one archive")

			// Another organization's is not used, nor one of a project for all.
			w = newWorld(t)
			other := w.organization("other")
			w.index(w.upload(companion, func(n *symbolfile.New) { n.OrganizationID = other }))
			w.index(w.upload(companion, func(n *symbolfile.New) { n.ProjectID = w.project }))
			require.False(t, inlines(w, w.index(w.upload(program, nil))))
		})
	}
}
