// Package spin helps a thread to wait for another one with open eyes: in a loop of looks, between which the other hardware
// thread of its core, which may be the one that is waited for, has the core for itself.
package spin
