package unwind

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/storage/symbol/binary"
	"github.com/slipway-qa/slipway/storage/symbol/native"
)

const program = `#include <string.h>
#include <alloca.h>
#include <stdio.h>
__attribute__((noinline)) int leaf(int x) { return x * 3; }
__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g, int h) {
  int x[8] = {a, b, c, d, e, f, g, h}; int s = 0;
  for (int i = 0; i < 8; i++) s += leaf(x[i]) * leaf(s + i) + x[(i * 3) & 7];
  return s;
}
__attribute__((noinline)) int growing(int n) { char *p = alloca(n); memset(p, n, n); return leaf(p[n / 2]) + many(n, 1, 2, 3, 4, 5, 6, 7); }
__attribute__((noinline)) int early(int n) { if (n > 3) return growing(n) + many(1, n, 3, n, 5, n, 7, n); return n; }
__attribute__((noinline, aligned(64))) double wide(double x) { double y[16] __attribute__((aligned(64))); for (int i = 0; i < 16;
i++) y[i] = x * i; return y[(int)x & 15]; }
int main(int argc, char **argv) { printf("%d %f", early(argc), wide(argc)); return 0; }
`

// rows keeps what is reported.
type rows struct{ all []native.Unwind }

func (r *rows) Function(*native.Function) error { return nil }
func (r *rows) Public(native.Public) error      { return nil }
func (r *rows) Unwind(u native.Unwind) error    { r.all = append(r.all, u); return nil }

func tool(t testing.TB, name string) string {
	t.Helper()
	for _, version := range []string{"", "-14", "-15", "-16", "-17", "-18", "-19", "-20"} {
		if path, err := exec.LookPath(name + version); err == nil {
			return path
		}
	}
	t.Skipf("%s is not installed", name)
	return ""
}

func run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	command := exec.Command(tool(t, name), args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "LC_ALL=C")
	out, err := command.CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
	return string(out)
}

func built(t testing.TB, compiler string, args ...string) string {
	t.Helper()
	tool(t, compiler)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.c"), []byte(program), 0o600))
	run(t, dir, compiler, append([]string{"p.c", "-g", "-o", "p"}, args...)...)
	return filepath.Join(dir, "p")
}

func readFile(t testing.TB, path string) (*rows, *Summary) {
	t.Helper()
	p, err := os.Open(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Close()) }()
	info, err := p.Stat()
	require.NoError(t, err)
	f, err := binary.Open(p, info.Size())
	require.NoError(t, err)
	var r rows
	summary, err := Read(f, &r)
	require.NoError(t, err)
	require.Len(t, r.all, summary.Rows)
	sort.Slice(r.all, func(i, j int) bool { return r.all[i].Start < r.all[j].Start })
	for i := range r.all {
		r.all[i].Start += f.Base
		r.all[i].End += f.Base
	}
	return &r, summary
}

// at returns the rules for an address, by register.
func (r *rows) at(address uint64) map[string]string {
	i := sort.Search(len(r.all), func(i int) bool { return r.all[i].End > address })
	if i == len(r.all) || r.all[i].Start > address {
		return nil
	}
	return rulesOf(r.all[i].Rules)
}

var ruleStart = regexp.MustCompile(`(\S+): `)

func rulesOf(text string) map[string]string {
	rules := map[string]string{}
	starts := ruleStart.FindAllStringSubmatchIndex(text, -1)
	for i, s := range starts {
		end := len(text)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		rules[text[s[2]:s[3]]] = strings.TrimSpace(text[s[1]:end])
	}
	return rules
}

// interpreted is a row of `readelf --debug-dump=frames-interp`.
type interpreted struct {
	start, end uint64
	rules      map[string]string
}

var fdeLine = regexp.MustCompile(`FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)`)

// registerAlias is the name that readelf adds to a register's number.
var registerAlias = regexp.MustCompile(` \(\w+\)`)

// oracle reads readelf's table of rows.
func oracle(text string) []interpreted {
	var all []interpreted
	var columns []string
	var end uint64
	inside := false
	for line := range strings.Lines(text) {
		fields := strings.Fields(registerAlias.ReplaceAllString(line, ""))
		switch found := fdeLine.FindStringSubmatch(line); {
		case found != nil:
			end, _ = strconv.ParseUint(found[2], 16, 64)
			inside = true
			columns = nil
			start, _ := strconv.ParseUint(found[1], 16, 64)
			all = append(all, interpreted{start: start, end: end, rules: nil})
		case strings.Contains(line, " CIE ") || len(fields) == 0:
			inside = inside && len(fields) != 0
		case inside && fields[0] == "LOC":
			columns = fields[1:]
		case inside && columns != nil:
			at, err := strconv.ParseUint(fields[0], 16, 64)
			if err != nil || len(fields) != len(columns)+1 {
				continue
			}
			rules := map[string]string{}
			for i, c := range columns {
				rules[c] = fields[i+1]
			}
			if last := &all[len(all)-1]; last.rules == nil {
				last.start, last.rules = at, rules
			} else {
				last.end = at
				all = append(all, interpreted{start: at, end: end, rules: rules})
			}
		}
	}
	return all
}

// said turns readelf's rule into the notation.
func said(rule, register, prefix string) (string, bool) {
	switch {
	case rule == "s" && register == "ra":
		return "x30", true
	case rule == "s":
		return prefix + register, true
	case rule == "u":
		return "", true
	case strings.HasPrefix(rule, "c") && rule != "c":
		n, err := strconv.Atoi(rule[1:])
		return fmt.Sprintf(".cfa %d + ^", n), err == nil
	}
	return "", false
}

// floating matches registers of floating point.
var floating = regexp.MustCompile(`^([sdv]\d|xmm|r[2-9]\d)`)

var cfaRule = regexp.MustCompile(`^([a-z]\w*)([+-]\d+)$`)

func TestRowsAgainstReadelf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		compiler, prefix string
		args             []string
	}{
		{"gcc", "$", []string{"-O0"}},
		{"gcc", "$", []string{"-O2"}},
		{"gcc", "$", []string{"-O2", "-static"}},
		{"gcc", "$", []string{"-O3", "-fno-asynchronous-unwind-tables", "-gdwarf-4"}},
		{"clang", "$", []string{"-O2", "-fuse-ld=lld"}},
		{"clang", "$", []string{"-O1", "-fno-asynchronous-unwind-tables"}},
		{"aarch64-linux-gnu-gcc", "", []string{"-O2", "-mbranch-protection=standard"}},
		{"aarch64-linux-gnu-gcc", "", []string{"-O0"}},
		{"arm-linux-gnueabihf-gcc", "", []string{"-O2"}},
	} {
		t.Run(fmt.Sprint(c.compiler, c.args), func(t *testing.T) {
			t.Parallel()
			path := built(t, c.compiler, c.args...)
			r, summary := readFile(t, path)
			require.Zero(t, summary.Skipped, summary.Reason)
			compared, plain := 0, 0
			for _, want := range oracle(run(t, ".", "readelf", "--debug-dump=frames-interp", path)) {
				if want.rules == nil || want.start == 0 {
					continue
				}
				for _, address := range []uint64{want.start, want.end - 1} {
					if address < want.start {
						continue
					}
					compared++
					plain += compare(t, r.at(address), want.rules, c.prefix, address)
				}
			}
			require.Greater(t, compared, 20)
			require.Greater(t, plain, compared/2)
		})
	}
}

// compare checks the rules that readelf says in full and returns 1 if the CFA was one.
func compare(t *testing.T, got, want map[string]string, prefix string, address uint64) int {
	t.Helper()
	require.NotNil(t, got, "no row at %#x", address)
	plain := 0
	for register, rule := range want {
		if register == "CFA" {
			if found := cfaRule.FindStringSubmatch(rule); found != nil {
				n, err := strconv.Atoi(found[2])
				require.NoError(t, err)
				name := map[string]string{"r13": "sp"}[found[1]]
				if name == "" {
					name = found[1]
				}
				require.Equal(t, fmt.Sprintf("%s%s %d +", prefix, name, n), got[".cfa"], "%#x", address)
				plain = 1
			}
			continue
		}
		text, ok := said(rule, register, prefix)
		if !ok {
			continue
		}
		mine, name := got[prefix+register], register
		if register == "ra" || register == "lr" || register == "x30" {
			mine, name = got[".ra"], "ra"
			if text == "" {
				if rule == "u" && prefix == "$" {
					require.Equal(t, ".undef", mine, "%#x", address)
				}
				continue
			}
		}
		if floating.MatchString(name) {
			continue
		}
		require.Equal(t, text, mine, "%s at %#x: %v", register, address, got)
	}
	return plain
}
