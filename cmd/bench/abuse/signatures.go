package abuse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/storage/artifact"
	"github.com/slipway-qa/slipway/storage/artifact/android"
	"github.com/slipway-qa/slipway/storage/artifact/archive"
	"github.com/slipway-qa/slipway/storage/artifact/signature"
)

// apksigLibrary is apksigner's library, from Debian's package apksigner. Its Java knows
// RSA-PSS by the name that it asks for only with the provider beside it, from
// libbcprov-java.
const apksigLibrary = "/usr/share/java/apksig.jar:/usr/share/java/bcprov.jar"

// signatureLevels are the API levels that each package is verified from; 0 is the one
// that it declares.
var signatureLevels = []int{0, 10, 17, 18, 19, 21, 23, 24, 26, 28, 30}

// verdictLine is the verdict on a package: whether it is accepted, by which schemes and
// whom.
type verdictLine struct{ verdict, schemes, signers string }

// signatures compares the verification of packages with that of apksigner. Differences
// are printed.
func (b *bench) signatures(ctx context.Context) error {
	if b.APKs == "" {
		return errors.New("--apks names the folder with the packages")
	}
	paths, err := filepath.Glob(filepath.Join(b.APKs, "*.apk"))
	if err != nil || len(paths) == 0 {
		return fmt.Errorf("%s has no packages: %w", b.APKs, errors.Join(err, os.ErrNotExist))
	}
	var lines bytes.Buffer
	for _, path := range paths {
		for _, level := range signatureLevels {
			if level == 0 {
				fmt.Fprintln(&lines, path)
				continue
			}
			fmt.Fprintf(&lines, "%s\t%d\n", path, level)
		}
	}
	oracle := exec.CommandContext(ctx, "java", "-cp", apksigLibrary, "storage/artifact/signature/testdata/Oracle.java")
	oracle.Stdin, oracle.Stderr = &lines, os.Stderr
	out, err := oracle.Output()
	if err != nil {
		return fmt.Errorf("apksigner: %w", err)
	}
	theirs := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	var took time.Duration
	agree, differ, unknown := 0, 0, 0
	for i, line := range theirs {
		path, level := paths[i/len(signatureLevels)], signatureLevels[i%len(signatureLevels)]
		want := strings.Split(line, "\t")
		want = want[len(want)-4:]
		start := time.Now()
		got, why, err := verifyPackage(ctx, path, level)
		took += time.Since(start)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		expected := verdictLine{want[0], "", ""}
		if want[0] == "true" {
			expected.schemes, expected.signers = want[1], sortedFields(want[2])
		}
		switch {
		case want[0] == "unknown":
			unknown++
		case got == expected:
			agree++
		default:
			differ++
			fmt.Printf("%s from API level %d: apksigner %v (%.200s), slipway %v (%s)\n", filepath.Base(path), level, expected, want[3], got, why)
		}
	}
	b.row("signatures", fmt.Sprintf("%d packages at %d API levels, as apksigner", len(paths), len(signatureLevels)), "",
		fmt.Sprintf("%d agree, %d differ, %d unknown to it", agree, differ, unknown), "all agree", differ == 0)
	b.row("", "time of one verification", "", (took / time.Duration(len(theirs))).Round(time.Microsecond).String(), "", true)
	return nil
}

// verifyPackage verifies a package from a level on, 0 for the one that it declares.
func verifyPackage(ctx context.Context, path string, level int) (verdictLine, string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return verdictLine{}, "", err
	}
	refused := verdictLine{verdict: "false"}
	var invalid *artifact.InvalidError
	a, err := archive.Open(bytes.NewReader(raw), int64(len(raw)))
	if errors.As(err, &invalid) {
		return refused, invalid.Reason, nil
	}
	if err != nil {
		return verdictLine{}, "", err
	}
	declared, err := android.ReadRequirements(ctx, a)
	if errors.As(err, &invalid) {
		return refused, invalid.Reason, nil
	}
	if err != nil {
		return verdictLine{}, "", err
	}
	if level == 0 {
		level = declared.MinSDK
	}
	result, err := signature.Verify(ctx, bytes.NewReader(raw), int64(len(raw)), a,
		signature.Requirements{MinSDK: level, TargetSDK: declared.TargetSDK, Sandbox: declared.Sandbox})
	if err != nil {
		return verdictLine{}, "", err
	}
	if result.Failure != nil {
		return refused, result.Failure.Error(), nil
	}
	return verdictLine{"true", strings.Join(result.Schemes, " "), sortedFields(strings.Join(result.Certificates, " "))}, "", nil
}

func sortedFields(list string) string {
	fields := strings.Fields(list)
	slices.Sort(fields)
	return strings.Join(fields, " ")
}
