package abuse

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-qa/slipway/cmd/bench/crash"
	"github.com/slipway-qa/slipway/storage"
)

// searchedCrashes is how many crashes the attacker searches among.
const searchedCrashes = 100_000

// fillSearched writes crashes of the first crash project, as the reading part of crash does.
func fillSearched(ctx context.Context, database string) error {
	db, err := storage.Open(storage.Config{URL: database, MaxConns: 2, StatementTimeout: 10 * time.Minute})
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, crash.ReadingFill, crash.ReadingGroups); err != nil {
		return fmt.Errorf("groups: %w", err)
	}
	for done := 0; done < searchedCrashes; done += crash.ReadingStep {
		if _, err := db.ExecContext(ctx, crash.ReadingCrashes, done, min(done+crash.ReadingStep, searchedCrashes),
			crash.ReadingGroups); err != nil {
			return fmt.Errorf("crashes: %w", err)
		}
	}
	for statement := range strings.SplitSeq(crash.ReadingCounts, ";\n") {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%.60s: %w", statement, err)
		}
	}
	return nil
}
