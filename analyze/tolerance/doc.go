// Package tolerance answers how much latency, bandwidth and overhead a program tolerates, and where
// on its critical path they sit. Its model is the static one, loggps: an operation waits for what the
// schedule requires and for its message, and for nothing else, so that the run time T is the length of the
// longest path of a graph, and a convex, piecewise linear function of L, of G and of o. Everything is
// exact: whole picoseconds, rational breakpoints, no floating-point number decides a result.
//
// The way through the package:
//
//	s, err := Prepare(program, mapping, gamma)  // collectives become messages, messages are paired
//	n := Network{Layout: layout}                // what a message costs; Network.Table for topologies
//	s.Finish(n)                                 // when every rank finishes, and nothing else
//	s.Times(n)                                  // the same for every operation
//	e, err := s.Evaluate(n)                     // the full graph, once, at the given parameters:
//	e.T, e.Lambda                               //   runtime and all derivatives
//	e.Slack()                                   //   of every operation and message
//	e.WhatIf(selected, percent)                 //   T if some call paths took less time
//	e.LinearProgram(variable)                   //   the same for solvers
//	e.Ask(question)                             // critical path, tolerances, curves: many answers at once
//	g, err := e.Graph(Variable{Parameter: L})   // the contracted graph, a function of one variable:
//	g.At(x), g.AtAll(xs)                        //   T with the slopes on both sides
//	g.Search()                                  //   the largest x with T(x) within a bound
//
// How it is fast: pass.go goes over the operations of all ranks as they are generated or read, pairs messages as it goes, and keeps
// none of them; if the program repeats itself, lap.go follows one repetition instead. decisions.go keeps eight bytes for each operation,
// from which the critical path is read back; tape.go is the graph of T as a function of one variable, written once and read by every
// search; breakpoints.go cuts it into intervals in which little of it matters. What needs all operations at once (slack, linear
// programs, times of calls, noise) holds them: whole.go.
//
// The package does no input or output beyond the writers that it is given, and does not print.
package tolerance
