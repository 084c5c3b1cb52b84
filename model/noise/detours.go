// Package noise describes when the CPU of a rank is not available to the program: detours of a
// periodic trace, and single delays.
//
// Its one function that matters is Injection.Finish: when does CPU work that starts at t end (rule
// R8 of the loggops model). The package knows nothing of schedules, networks or the real machine.
package noise

// Injection is noise put on the ranks of a run.
type Injection struct{}
