// Package spin is for busy waiting: a thread polls until another one has done its part, and between two polls the other hardware
// thread of its core, which may be the one that is waited for, has the core for itself.
package spin
