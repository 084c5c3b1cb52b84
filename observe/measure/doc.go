// Package measure measures the real machine: what its CPUs lose to noise. Everything that is timed
// runs in a process of its own that does nothing else; all arithmetic is done afterwards, here.
//
// It knows the machine, not what becomes of the figures: it prints nothing and draws nothing.
package measure
