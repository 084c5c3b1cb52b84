// Package archtest holds the structure of the project as a test: which package
// may import which, and the few rules that every file keeps. It has no code
// beside its tests.
package archtest
