// Package report makes a report of a program as one self-contained HTML file: what ran, where its time goes, which
// ranks wait and why, what a fix would gain, what the program tolerates, how it will do at larger scale, whether it
// meets its expectations, and how reliable all this is.
//
// Make takes inputs that others have opened, asks the analyses and puts their answers into a Document, which is plain
// data; WriteHTML and JSON show the same document. Every figure carries its data and the command that makes it again.
// A section that the inputs do not allow gives the reason in one line, and the command that would provide it.
//
// Nothing is computed here that an analysis could compute, and no file is read or written. Names from traces are never
// trusted: they reach the page through html/template only. The page has no script and asks the network for nothing.
// Equal inputs give equal documents, whatever the number of threads; only the provenance knows the time.
package report
