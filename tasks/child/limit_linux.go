package child

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// attributes of a child: a session of its own, so that it can be killed with whatever it
// would start, and death with its parent.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

const (
	// niceness below requests and other tasks.
	niceness = 10
	// openFiles are pipes, standard files, the input, the outputs and temporary files.
	openFiles = 256
)

// setLimits bounds this process for good. RLIMIT_DATA counts private memory that can be
// written (Linux 4.7 and later); RLIMIT_AS would count what Go only reserves.
func setLimits(l Limits) error {
	startThreads()
	for _, limit := range []struct {
		name  string
		what  int
		value uint64
	}{
		{"memory", unix.RLIMIT_DATA, privateMemory() + memoryFactor*uint64(l.Memory)},
		{"core", unix.RLIMIT_CORE, 0},
		{"open files", unix.RLIMIT_NOFILE, openFiles},
		{"file size", unix.RLIMIT_FSIZE, uint64(l.FileBytes)},
		// The bound of one request is allowCPU's; this one is for a signal that the process
		// does not get to see.
		{"processor time", unix.RLIMIT_CPU, seconds(l.CPU) * (requestsEach + 1)},
	} {
		if err := unix.Setrlimit(limit.what, &unix.Rlimit{Cur: limit.value, Max: limit.value}); err != nil {
			return fmt.Errorf("%s: %w", limit.name, err)
		}
	}
	// None of these is worth failing for: without them the child is as dangerous to the
	// rest as the parent is.
	if !l.Interactive {
		lowerPriority()
	}
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	return nil
}

// threads are more than a child needs: two that run, those that wait for the parent, for
// signals and timers, and some for the collector.
const threads = 12

// startThreads starts the threads that the process will need, which then wait for work. In
// a program with cgo each has a stack of some MiB, which counts as memory although it is
// never touched: a later one would take it from what a file may use.
func startThreads() {
	var started sync.WaitGroup
	release := make(chan struct{})
	for range threads {
		started.Add(1)
		go func() {
			runtime.LockOSThread() // to have a thread of its own while it waits
			defer runtime.UnlockOSThread()
			started.Done()
			<-release
		}()
	}
	started.Wait()
	close(release)
}

// lowerPriority is for good, and for all threads.
func lowerPriority() { _ = unix.Setpriority(unix.PRIO_PGRP, 0, niceness) }

// privateMemory returns how many bytes RLIMIT_DATA counts now.
func privateMemory() uint64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 128 << 20 // more than a process has at its start
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmData:" {
			n, _ := strconv.ParseUint(fields[1], 10, 40)
			return n << 10
		}
	}
	return 128 << 20
}

// usedCPU returns the processor time of this process so far.
func usedCPU() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// allowCPU lets the process use that much more processor time, after which it gets
// SIGXCPU.
func allowCPU(d time.Duration) error {
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err != nil {
		return err
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CPU, &limit); err != nil {
		return err
	}
	limit.Cur = min(uint64(used.Utime.Sec+used.Stime.Sec)+1+seconds(d), limit.Max)
	return unix.Setrlimit(unix.RLIMIT_CPU, &limit)
}

func seconds(d time.Duration) uint64 { return uint64((d + time.Second - 1) / time.Second) }
