package testsync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/slipway-qa/slipway/cmd/slipway-ci/client"
	"github.com/slipway-qa/slipway/storage/step/testfile"
)

// maxCSV bounds a CSV file: the API takes no larger data.
const maxCSV = 4 << 20

// readCSV reads the CSV file that a test names, which must be in the repository: a path, or
// a link, that leads out of it is refused.
func readCSV(path string, d *testfile.Data) error {
	text, err := openCSV(path, d.CSV)
	if err != nil {
		return fmt.Errorf("data: %w", err)
	}
	if err := d.ReadCSV(text); err != nil {
		return fmt.Errorf("data: %s: %w", d.CSV, err)
	}
	return nil
}

func openCSV(path, name string) (text string, err error) {
	root, at, err := inRepository(path, name)
	if err != nil {
		return "", err
	}
	in, err := os.OpenRoot(root)
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }()
	file, err := in.Open(at)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, reason(err))
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no file", name)
	}
	all, err := io.ReadAll(io.LimitReader(file, maxCSV+1))
	if err != nil {
		return "", err
	}
	if len(all) > maxCSV {
		return "", fmt.Errorf("%s has more than %d MiB", name, maxCSV>>20)
	}
	return string(all), nil
}

// reason is why a file could not be opened, without its path.
func reason(err error) error {
	var wrong *os.PathError
	if errors.As(err, &wrong) {
		return wrong.Err
	}
	return err
}

// inRepository returns the folder of the repository and the path of a CSV file within it.
func inRepository(path, name string) (root, at string, err error) {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return "", "", err
	}
	root = dir
	for up := dir; ; up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, ".git")); err == nil {
			root = up
			break
		}
		if up == filepath.Dir(up) {
			break
		}
	}
	at, err = filepath.Rel(root, filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil || !filepath.IsLocal(at) {
		return "", "", fmt.Errorf("%s is outside of the repository", name)
	}
	return root, at, nil
}

// writeCSV writes the CSV file that a test names.
func writeCSV(path string, d *testfile.Data) error {
	root, at, err := inRepository(path, d.CSV)
	if err != nil {
		return err
	}
	text, err := d.WriteCSV()
	if err != nil {
		return err
	}
	in, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	return in.WriteFile(at, []byte(text), 0o644)
}

// dataOf returns the data of a case as a file has them; nil where they stay on the server.
// have is the file, nil for none.
func (c *Config) dataOf(ctx context.Context, one *client.TestCase, have *testfile.Case) (*testfile.Data, error) {
	switch {
	case one.Data == nil, have != nil && have.Data == nil, have == nil && (len(one.Data.Secret) > 0 ||
		one.Data.RowCount > testfile.MostInline):
		return nil, nil
	case len(one.Data.Secret) > 0:
		return nil, misused("the data of %q have secret columns, which no file may have: take data out of the file, and they stay on the server",
			one.Name)
	}
	text, err := c.Client.TestData(ctx, one.ID)
	if err != nil {
		return nil, err
	}
	d := &testfile.Data{RowName: one.Data.RowName}
	if err := d.ReadCSV(text); err != nil {
		return nil, fmt.Errorf("data of %q: %w", one.Name, err)
	}
	if d.RowName == d.Columns[0] {
		d.RowName = ""
	}
	return d, nil
}
