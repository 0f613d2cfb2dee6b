//go:build !race

package processtest

// raced: these tests have the race detector, and so has the program under test.
const raced = false
