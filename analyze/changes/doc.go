// Package changes finds where the measurements of a program changed in its history: at which commits, in which call
// path and metric, by how much, and whether the law by which they grow is another one.
//
// A series is a list of values, one for each commit. It is split where the evidence for a change is largest, if evidence
// as large as that has a probability of at most 1 % without a change; then both parts are looked at again. The evidence
// comes from ranks, so nothing is assumed about the noise but that it is the same before and after, and a single outlier
// means nothing. Three statistics together find changed levels, levels that came back, drifts and changed noise (see
// detect.go); their distribution without a change is known for each number of values (see null.go).
//
// With several points of a parameter, a series also has its slope, by which changed laws are found. What is exact, such
// as the number of messages, changes as soon as it differs. No file is read here and nothing is random: equal histories
// give equal results, whatever the number of threads.
package changes
