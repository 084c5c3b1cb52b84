// Package tables turns results of the analyses into tables: one function for each table, for all that show it (the verbs as text
// and CSV, the report as HTML and JSON). A table has all columns that anybody shows; a caller picks its own (table.Table.Pick).
//
// It computes no results and knows neither files nor pages.
package tables
