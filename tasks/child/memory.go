//go:build !race

package child

// memoryFactor times Limits.Memory is what RLIMIT_DATA grants a child.
const memoryFactor = 1
