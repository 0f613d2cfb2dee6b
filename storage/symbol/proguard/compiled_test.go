package proguard

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slipway-qa/slipway/cmd/localservice/servicetest/oracle"
)

// Where Debian's packages proguard-cli and libproguard-java have the program.
const (
	shrinkerJar = "/usr/share/java/proguard.jar"
	retraceJar  = "/usr/share/java/retrace.jar"
)

// program throws, through inner classes, overloads and a cause.
const program = `package shop;
public class Main {
  static class Cart {
    int size;
    void put(int n) { if (n > 1) { check(n); } size += n; }
    void put(String s) { put(s.length()); }
    private void check(int n) {
      if (n == 7) {
        throw new IllegalStateException("full");
      }
    }
  }
  static class Failure extends RuntimeException {
    Failure(String text, Throwable cause) { super(text, cause); }
  }
  interface Step { void run(); }
  public static void main(String[] args) {
    Step step = new Step() { public void run() { fill(new Cart(), args.length + 7); } };
    try { step.run(); } catch (IllegalStateException e) { throw new Failure("cannot fill: really not", e); }
  }
  static void fill(Cart cart, int n) {
    cart.put("x");
    cart.put(n);
  }
}
`

func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
	return string(out)
}

// crash returns the stack trace of a program that throws.
func crash(t *testing.T, dir, classpath string) string {
	t.Helper()
	cmd := exec.Command("java", "-cp", classpath, "shop.Main")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "it throws: %s", out)
	return string(out)
}

func TestCompiledProgram(t *testing.T) {
	t.Parallel()
	programs := []string{"javac", "java", "jar"}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(program + " is not installed")
		}
	}
	for _, jar := range []string{shrinkerJar, retraceJar} {
		if _, err := os.Stat(jar); err != nil {
			t.Skip("ProGuard is not installed: " + jar)
		}
	}
	// The arguments of all programs are in this file.
	parts := []oracle.Part{oracle.File("compiled_test.go"), oracle.Program(shrinkerJar), oracle.Program(retraceJar)}
	for _, program := range programs {
		path, err := exec.LookPath(program)
		require.NoError(t, err)
		parts = append(parts, oracle.Program(path))
	}
	doc, err := oracle.Output(parts, func() ([]byte, error) { return json.Marshal(compile(t)) })
	require.NoError(t, err)
	var c compiled
	require.NoError(t, json.Unmarshal(doc, &c))
	require.NotEqual(t, c.Want, c.Obfuscated)
	got, err := open(t, c.Mapping).Text(c.Obfuscated, false)
	require.NoError(t, err)
	require.Equal(t, c.Want, got, "the trace of the program as it was written; the mapping is:\n%s", c.Mapping)

	frame := regexp.MustCompile(`(?m)^\s+at .*$`)
	require.Equal(t, frame.FindAllString(c.Theirs, -1), frame.FindAllString(got, -1), "ProGuard's retrace reads the same frames")
	require.Contains(t, strings.ReplaceAll(c.Theirs, "\t", ""), "Caused by: java.lang.IllegalStateException: full")
}

// compiled is what Java and ProGuard say of the program.
type compiled struct{ Want, Obfuscated, Mapping, Theirs string }

func compile(t *testing.T) (c compiled) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "Main.java"), []byte(program), 0o600))
	// ProGuard 6.2 reads classes of Java 8.
	run(t, dir, "javac", "--release", "8", "-Xlint:-options", "-g", "-d", "plain", "Main.java")
	run(t, dir, "jar", "cf", "plain.jar", "-C", "plain", ".")
	run(t, dir, "java", "-cp", shrinkerJar, "proguard.ProGuard", "-injars", "plain.jar", "-outjars", "small.jar",
		"-dontwarn", "-ignorewarnings",
		"-dontoptimize", "-keep", "public class shop.Main { public static void main(java.lang.String[]); }",
		"-keepattributes", "SourceFile,LineNumberTable", "-renamesourcefileattribute", "SourceFile", "-repackageclasses",
		"o", "-printmapping", "mapping.txt")
	c.Want, c.Obfuscated = crash(t, dir, "plain.jar"), crash(t, dir, "small.jar")
	text, err := os.ReadFile(filepath.Join(dir, "mapping.txt"))
	require.NoError(t, err)
	c.Mapping = string(text)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "trace.txt"), []byte(c.Obfuscated), 0o600))
	c.Theirs = run(t, dir, "java", "-cp", retraceJar+":"+shrinkerJar, "proguard.retrace.ReTrace", "mapping.txt", "trace.txt")
	return c
}
