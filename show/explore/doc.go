// Package explore is the web explorer: a server on the loopback address that answers what is visible of a run,
// and the pages (web/) that show it.
//
// It answers questions about runs that are in memory; it opens no inputs and analyses nothing itself. What
// travels is what can be seen: a timeline of a hundred million events is a picture of as many cells as there
// are pixels. Names from traces are data: they are only ever written as JSON.
//
// # API
//
// All answers are made by GET requests (or HEAD) that carry the token: the first visit as ?token=, which sets
// a cookie, or the header X-Slackline-Token. Answers are JSON objects, but for timeline (binary) and figure
// (SVG). Mistakes are answered with a status of 400 or more and an Error. The types and the meaning of all
// parameters are in api.go and api_results.go.
//
//	GET /api/runs                 Runs        what is open; reload=K reads run K again, whole=0 or 1 without or with the start and the end of MPI
//	GET /api/progress             Progress    what takes long and is under way, of all runs
//	GET /api/locations            Locations   names of the rows: run, first, last, ranks
//	GET /api/legend               Legend      what the categories of a timeline mean: run, color
//	GET /api/timeline             binary      the picture: run, from, to, width, first, last, ranks, rows, color
//	GET /api/calls                Calls       exact calls: run, from, to, first, last, ranks, limit
//	GET /api/stack                Stack       calls of a location by depth: run, location, from, to, width
//	GET /api/states               States      exact wait states: run, from, to, first, last, ranks, limit; or largest=N
//	GET /api/messages             Messages    arrows: run, from, to, first, last, ranks, limit, least (bytes), sender and receiver (ranks)
//	GET /api/launches             Launches    what host calls launched on streams: run, from, to, first, last, ranks, limit
//	GET /api/critical             Critical    the critical path: run, from, to, width
//	GET /api/waits                Waits       wait states and their causes: run, limit
//	GET /api/wait                 WaitAnswer  one wait state and why: run, and state, or location and time
//	GET /api/tree                 Tree        call tree with metrics: run
//	GET /api/distribution         Distribution  a metric by rank: run, path, metric, inclusive
//	GET /api/matrix               Matrix      who sent how much to whom: run, size
//	GET /api/iterations           Iterations  how the run develops: run
//	GET /api/phases               Phases      the outermost calls of the first rank: run
//	GET /api/compare              Comparison  runs and others, with significance: before and after, lists as 0,1
//	GET /api/composition          Composition what the run consists of, efficiencies: run
//	GET /api/search               Matches     functions, ranks, hosts and communicators by name: run, text
//	GET /api/occurrence           Occurrence  the next call of call paths: run, paths, ranks, time, location, back
//	GET /api/clusters             Clusters    ranks that behave alike: run
//	GET /api/selection            Selection   statistics of a range of time and a set of ranks: run, from, to, ranks
//	GET /api/tolerance            Tolerance   T as a function of the latency: run, machine, latency
//	GET /api/advice               Advice      changes that pay, as the verb advise lists them: run
//	GET /api/series               SeriesList  what a dataset holds: run
//	GET /api/figure               SVG         a figure: run, kind as in Run.Figures, series, other (a dataset beside it), machine, latency, dark, width
//
// Every request but runs, progress and compare takes run=K, the index of a run (0 if it is left out).
//
// Times are whole picoseconds since the start of the run, as JSON numbers: those below 2^53 (two and a half
// hours) are exact in a browser. Locations are indices: threads by rank, then streams of devices. Rows of the
// timeline are locations, or if there are streams, those of Run.Order; first and last count rows. Call
// paths are numbers as in Tree and in the legend of color=path; 0 is "in no call". Ranges are half open: from
// belongs to them, to does not; likewise first and last.
//
// # The binary answer of timeline
//
// A header of 64 bytes, then cells; all numbers are little-endian.
//
//	 0  4 bytes  "SLTL"
//	 4  uint16   version, 1
//	 6  uint16   coding of the cells: 0 plain, 1 runs
//	 8  int64    from: left edge of column 0 in picoseconds; at most what was asked for
//	16  int64    step: width of a column in picoseconds
//	24  uint32   columns
//	28  uint32   rows
//	32  uint32   first: location of row 0, or with ranks its number among theirs
//	36  uint32   group: locations per row; the last row may have fewer
//	40  uint32   looked: how many locations of a row were looked at, at most group
//	44  uint32   generation of the run, see Run
//	48  uint32   color: 0 kind, 1 path, 2 wait, 3 cause
//	52  uint32   words: number of uint16 that follow
//	56  8 bytes  0
//	64  uint16[words]
//
// Plain cells are rows times columns categories, row by row. Coded as runs they are pairs (length minus one,
// category) in the same order; runs may go on in the next row. Column i lasts from + i*step to
// from + (i+1)*step; the columns cover what was asked for, as far as the run goes, and may begin before it and
// end after it: paint column i where its time is. There are at most width columns. A cell has the category
// that takes most of its time; of equals, the one with the smallest number. A row of several locations has the
// category that most of them have, likewise.
package explore
