package processtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Clients that others' generators make of the description compile, and do with a running
// server what the description says: testdata/generated has what they are made with and what
// is done with them.
func TestGeneratedClients(t *testing.T) {
	t.Parallel()
	description, err := filepath.Abs(filepath.Join("..", "..", "..", "api", "openapi.json"))
	require.NoError(t, err)
	in := startUp(t, t.TempDir())
	t.Run("oapi-codegen", func(t *testing.T) { in.smoke(t, goClient(t, description)...) })
	t.Run("openapi-typescript", func(t *testing.T) { in.smoke(t, typeScriptClient(t, description)...) })
	require.Zero(t, in.signal(t, os.Interrupt))
	checkNoSecrets(t, in)
}

// smoke runs a program that calls the server with a client.
func (in *installation) smoke(t *testing.T, program ...string) {
	t.Helper()
	out := said(t, t.TempDir(), []string{"BASE=" + in.base, "API_KEY=" + in.boot.Owner.APIKey, "USERNAME=" + in.boot.Owner.Username,
		"ACCESS_KEY=" + in.boot.Owner.AccessKey, "CRASH_TOKEN=" + in.boot.Crash.Token}, program...)
	require.Contains(t, out, "every call was answered as it is described")
}

// said runs a program in a folder until its end, which must be good, and returns what it
// printed.
func said(t *testing.T, dir string, variables []string, program ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*longWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, program[0], program[1:]...)
	cmd.Dir, cmd.Env = dir, environment(variables)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%v: %s", program, out)
	return string(out)
}

// workplace is a folder with what a client is made with.
func workplace(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "generated", name))))
	return dir
}

// notInCache is what go says of a module that it would have to download.
const notInCache = `module lookup disabled by GOPROXY=off`

// goClient makes a client with oapi-codegen and builds the program that uses it. Modules come
// from the cache of Go alone.
func goClient(t *testing.T, description string) (program []string) {
	t.Helper()
	dir := workplace(t, "go")
	variables := []string{"GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0"}
	probe := exec.CommandContext(t.Context(), "go", "list", "-deps", "tool", "github.com/oapi-codegen/runtime/types",
		"github.com/oapi-codegen/runtime")
	probe.Dir, probe.Env = dir, environment(variables)
	if out, err := probe.CombinedOutput(); err != nil {
		require.Regexp(t, notInCache, string(out), "go list: %v", err)
		t.Skipf("the modules of oapi-codegen are not there: make deps (%s)", out)
	}
	said(t, dir, variables, "go", "tool", "oapi-codegen", "-config", "config.yaml", description)
	said(t, dir, variables, "go", "build", "-o", "smoke", ".")
	return []string{filepath.Join(dir, "smoke")}
}

// typeScriptClient makes the types of a client with openapi-typescript and compiles the
// program that uses them, with all checks of the compiler.
func typeScriptClient(t *testing.T, description string) (program []string) {
	t.Helper()
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	modules := filepath.Join(cache, "slipway", "generated", "node_modules")
	for _, name := range []string{"openapi-typescript", "openapi-fetch", "typescript", "@types/node"} {
		if _, err := os.Stat(filepath.Join(modules, name)); err != nil {
			t.Skipf("the npm package %s is not installed: make deps", name)
		}
	}
	dir := workplace(t, "typescript")
	require.NoError(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))
	// A member with a default may be left out of a request.
	said(t, dir, nil, "node", filepath.Join(modules, "openapi-typescript", "bin", "cli.js"), description,
		"--default-non-nullable=false", "--output", "description.d.ts")
	said(t, dir, nil, "node", filepath.Join(modules, "typescript", "bin", "tsc"), "--project", ".")
	return []string{"node", filepath.Join(dir, "built", "smoke.mjs")}
}
