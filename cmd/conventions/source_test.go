package conventions

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// source is a parsed file.
type source struct {
	name, folder string
	test         bool
	lines        int
	file         *ast.File
	position     func(token.Pos) token.Position
}

// parseSources parses all Go files, once for all tests.
var parseSources = sync.OnceValues(func() ([]source, error) {
	names, err := listFiles()
	if err != nil {
		return nil, err
	}
	var all []source
	set := token.NewFileSet()
	for _, name := range names {
		if !isSource(name) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(moduleRoot, name))
		if err != nil {
			return nil, err
		}
		parsed, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		all = append(all, source{name: name, folder: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
			lines: bytes.Count(text, []byte("\n")), file: parsed, position: set.Position})
	}
	return all, nil
})

// sources returns all parsed Go files.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := parseSources()
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}
