// Package measure measures the real machine: what its CPUs lose to noise, what its messages cost, how its
// clocks run, what its MPI takes in time and memory. Everything that is timed runs in processes of their own that do nothing else, for MPI
// a small C program below bench; all arithmetic is done afterwards, here.
//
// It knows the machine, not what becomes of the figures: it prints nothing and draws nothing.
package measure
