//go:build soak

package history_test

// manyRuns is half a million of the case among half a million of others.
const manyRuns = 500_000
