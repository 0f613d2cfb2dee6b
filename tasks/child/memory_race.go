//go:build race

package child

// memoryFactor times Limits.Memory is what RLIMIT_DATA grants a child of a program with
// the race detector. Its records of each access are private memory like the program's own.
const memoryFactor = 4
