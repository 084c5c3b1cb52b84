// Package figures turns results of the analyses into figures: one function for each figure, for all that show it (the
// verbs, the report, the explorer). A caller sets the titles and the size of the figure that it gets.
//
// It computes no results and knows neither files nor pages.
package figures
