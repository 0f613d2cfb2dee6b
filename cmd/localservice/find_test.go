package localservice

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func touch(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, nil, 0o755))
	}
}

func TestFindTakesTheNewest(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	debian := func(version, program string) string {
		return filepath.Join(root, "usr/lib/postgresql", version, "bin", program)
	}
	touch(t, debian("9", "postgres"), debian("9", "initdb"), debian("15", "postgres"), debian("15", "initdb"),
		debian("17", "postgres"), debian("17", "initdb"),
		debian("18", "postgres"), // its initdb is missing
		root+"/opt/homebrew/opt/postgresql@16/bin/postgres", root+"/opt/homebrew/opt/postgresql@16/bin/initdb",
		root+"/usr/pgsql-14/bin/postgres", root+"/usr/pgsql-14/bin/initdb")
	var majors []int
	for _, binary := range findAll(PostgreSQL, searchPaths{root: root}) {
		majors = append(majors, binary.Major)
	}
	require.Equal(t, []int{17, 16, 15, 14, 9}, majors)

	// What the user has put into PATH comes first.
	first := filepath.Join(root, "first")
	touch(t, first+"/postgres", first+"/initdb")
	require.Equal(t, first+"/postgres", findAll(PostgreSQL, searchPaths{root: root, path: []string{first}})[0].Path)

	cache := filepath.Join(root, "cache")
	require.Empty(t, findAll(MinIO, searchPaths{cache: cache}))
	touch(t, cache+"/slipway/bin/minio", root+"/bin/minio", root+"/bin/redis-server")
	require.Len(t, findAll(MinIO, searchPaths{cache: cache}), 1)
	require.Equal(t, root+"/bin/minio", findAll(MinIO, searchPaths{cache: cache, path: []string{root + "/bin"}})[0].Path)
	require.Len(t, findAll(Redis, searchPaths{root: root, path: []string{"", ".", root + "/bin", root + "/bin"}}), 1)

	require.NoError(t, os.Chmod(root+"/bin/redis-server", 0o644))
	require.Empty(t, findAll(Redis, searchPaths{root: root, path: []string{root + "/bin"}}))
}

func TestMissingNamesTheInstallLine(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	touch(t, bin+"/apt-get", bin+"/brew")
	on := func(system string) searchPaths {
		return searchPaths{system: system, path: []string{bin}, cache: "/home/u/.cache"}
	}
	for _, test := range []struct{ program, system, want string }{
		{PostgreSQL, "linux", "apt-get install -y postgresql"},
		{Redis, "linux", "apt-get install -y redis-server"},
		{Redis, "darwin", "brew install redis"},
		{MinIO, "linux", "GOBIN=/home/u/.cache/slipway/bin go install github.com/minio/minio@" + minioVersion},
	} {
		require.Equal(t, test.want, installLine(test.program, on(test.system)))
	}
	err := error(&MissingError{Program: Redis, Install: installLine(Redis, on("linux"))})
	require.EqualError(t, err, "redis is not installed; install it with: apt-get install -y redis-server")
	spaced := searchPaths{cache: "/Users/u/It's mine"}
	require.Contains(t, installLine(MinIO, spaced), `GOBIN='/Users/u/It'\''s mine/slipway/bin' go install`)
	_, err = Find("oracle")
	require.Error(t, err)
}

func TestPostgresMajor(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]int{
		"postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n": 15,
		"postgres (PostgreSQL) 18beta2\n":                        18,
		"postgres (PostgreSQL) 9.6.24\n":                         9,
		"postgres (PostgreSQL) 17":                               17,
	} {
		major, err := postgresMajor(answer)
		require.NoError(t, err)
		require.Equal(t, want, major)
	}
	for _, answer := range []string{"", "postgres", "postgres (Other) 15.1", "postgres (PostgreSQL) 12345"} {
		_, err := postgresMajor(answer)
		require.Error(t, err, answer)
	}
}

func FuzzPostgresMajor(f *testing.F) {
	f.Add("postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)\n")
	f.Add("postgres (PostgreSQL) 18beta2")
	f.Fuzz(func(t *testing.T, answer string) {
		major, err := postgresMajor(answer)
		if err == nil && (major < 0 || major > 999) {
			t.Fatalf("%q gives %d", answer, major)
		}
	})
}
