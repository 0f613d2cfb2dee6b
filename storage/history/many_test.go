//go:build !soak

package history_test

// manyRuns is how many runs a case has among as many of others.
const manyRuns = 50_000
