// Package curves turns answers into the layers of figures that several views show: models of scaling with what was
// measured, and tolerances. The views choose layers, names and colours, and put them together.
//
// It asks no questions of its own and knows neither files nor pages.
package curves
