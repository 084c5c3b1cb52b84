// Package profile shows where the time of a run went: by call path and rank, by kind of activity, by
// message and by iteration.
//
// It takes a timeline, recorded or simulated, and returns plain values. It does not know who waited
// for whom: waiting times are given to it by those who know. Nothing is printed here.
package profile
