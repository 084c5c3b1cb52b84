package explore

// The parameters of requests, by name. Numbers are decimal integers without sign.
//
//	run        index of a run, 0 if left out
//	from, to   a range of time in picoseconds since the start of the run, 0 <= from < to; left out: all of it. What
//	           lies after the end of the run is cut off
//	first, last  a range of locations, first <= location < last; left out: all of them
//	width      number of columns (pixels) that can be seen, 1 to MaxWidth
//	rows       number of rows that can be seen, 1 to MaxRows: more locations are put together into groups of
//	           equal size
//	limit      how many things are listed at most, up to MaxList
//	color      kind, path, wait or cause; the last two need the analysis, see Run.Analysis
const (
	MaxWidth    = 8192
	MaxRows     = 4096
	MaxCells    = 1 << 24 // width times rows
	MaxList     = 20_000
	MaxMatrix   = 512 // size of a matrix
	MaxExact    = 256 // locations of calls and states
	TokenHeader = "X-Slackline-Token"
)

// Error is the answer to a request that cannot be answered. Its status is 400 for parameters that make no sense, 403
// without the token, 404 for what there is not, 405 for methods other than GET and HEAD, 503 with the code
// "not_ready" while the analysis that is asked for has not ended yet (try again), 500 for mistakes of the server.
type Error struct {
	Error     string `json:"error"` // a sentence for people: what, and the mend
	Code      string `json:"code"`  // bad_request, forbidden, not_found, method, not_ready, failed
	Parameter string `json:"parameter,omitempty"`
}

// Runs is the answer of runs.
type Runs struct {
	Version string `json:"version"` // of slackline
	Runs    []Run  `json:"runs"`
}

// Run is an input that is open: a run, or a dataset.
type Run struct {
	Index      int    `json:"index"`
	Name       string `json:"name"`                // as the user wrote it
	Kind       string `json:"kind"`                // trace, simulated or dataset
	Machine    string `json:"machine,omitempty"`   // on which it was simulated
	Generation int    `json:"generation"`          // grows when the run was read again: what was asked before is void
	Changed    bool   `json:"changed,omitempty"`   // its files changed since they were read; runs?reload=K reads them again
	Reloading  bool   `json:"reloading,omitempty"` // that is under way

	Ranks       int    `json:"ranks"`
	Locations   int    `json:"locations"`
	Start       int64  `json:"start"`  // ps: time of the first event on the clock of the run
	Length      int64  `json:"length"` // ps, at least 1
	Simulated   bool   `json:"simulated"`
	Grid        *Grid  `json:"grid,omitempty"` // process grid
	Calls       int64  `json:"calls"`
	Messages    int64  `json:"messages"`
	Collectives int64  `json:"collectives"`
	Teams       int64  `json:"teams"`       // parallel regions
	Paths       int    `json:"paths"`       // call paths, "in no call" included
	ClockError  int64  `json:"clock_error"` // ps: times of different ranks are right within this much; -1: not known
	Host        string `json:"host,omitempty"`

	// Analysis is the state of what takes longer than reading: running, ready or failed. Before it is ready there
	// are runs, locations, legend, timeline (color kind and path), calls, messages and matrix.
	Analysis      string   `json:"analysis"`
	AnalysisError string   `json:"analysis_error,omitempty"`
	Colors        []string `json:"colors"`   // that timeline can be asked for now
	Machines      []string `json:"machines"` // that tolerance can be asked for; empty: no tolerance of this run
	Figures       []string `json:"figures"`  // kinds that figure can be asked for
	Warnings      []string `json:"warnings"`
}

// Grid is a process grid.
type Grid struct {
	Dims     []int   `json:"dims"`
	Periodic []bool  `json:"periodic"`
	Coords   [][]int `json:"coords"` // by rank; null: not in the grid. In runs only of up to MaxList ranks, else null
}

// Locations is the answer of locations.
type Locations struct {
	First     int        `json:"first"`
	Locations []Location `json:"locations"`
	Cut       bool       `json:"cut"` // there are more: up to MaxList are named
}

// Location is a thread of a rank: a row.
type Location struct {
	Rank   int    `json:"rank"`
	Thread int    `json:"thread"`
	Name   string `json:"name,omitempty"`
	Host   string `json:"host,omitempty"`
	First  int64  `json:"first"` // ps: its first and last event
	Last   int64  `json:"last"`
	Calls  int    `json:"calls"`
}

// Legend is the answer of legend: the categories of a colouring, by id. Ids that are not listed do not occur.
type Legend struct {
	Color      string     `json:"color"`
	Generation int        `json:"generation"`
	Categories []Category `json:"categories"`
}

// Category is what a cell of the timeline shows. The first 16 ids of kind, wait and cause are the kinds of activity,
// which mean the same in all three; wait and cause have the waits from 16 on. Those of path are call paths.
type Category struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`  // kind, call path, wait metric, or "rank 7: main/solve"
	Title string `json:"title"` // for people
	// Class is how it is to be coloured: computation, communication, runtime (OpenMP, noise, recording), outside,
	// wait or cause.
	Class string `json:"class"`
	// Slot tells those of a class apart, from 0 on. Slots of causes are by what they cost, the greatest first;
	// those of call paths are by region, so that a function has the same slot wherever it is called.
	Slot   int    `json:"slot"`
	Kind   string `json:"kind,omitempty"`   // of call paths and kinds, as in Composition
	Path   int    `json:"path,omitempty"`   // of call paths and causes
	Parent int    `json:"parent,omitempty"` // of call paths
	Rank   int    `json:"rank"`             // of causes, -1 for the rest of them and for all else
	Metric string `json:"metric,omitempty"` // of waits
	Cost   int64  `json:"cost,omitempty"`   // ps, of causes: all waiting that they caused
}

// Calls is the answer of calls: the calls that are open at some time of the window, in order of their beginning, at
// most limit of them and at most MaxExact locations.
type Calls struct {
	From      int64           `json:"from"`
	To        int64           `json:"to"`
	Cut       bool            `json:"cut"` // there are more: ask for less
	Locations []LocationCalls `json:"locations"`
}

// LocationCalls are calls of one location.
type LocationCalls struct {
	Location int    `json:"location"`
	Calls    []Call `json:"calls"`
}

// Call is a call.
type Call struct {
	Index int   `json:"index"` // among the calls of its location
	Path  int   `json:"path"`
	Depth int   `json:"depth"` // number of calls around it
	Enter int64 `json:"enter"`
	Leave int64 `json:"leave"`
	Polls int64 `json:"polls,omitempty"` // it stands for so many calls that found nothing
}

// States is the answer of states: wait states that overlap the window, by location, then time; or the largest ones of
// the run, the longest first.
type States struct {
	Cut    bool    `json:"cut"`
	States []State `json:"states"`
}

// State is one wait state: its location sat idle for Amount from At on.
type State struct {
	State         int    `json:"state"` // its number: wait?state=
	Location      int    `json:"location"`
	Rank          int    `json:"rank"`
	Thread        int    `json:"thread"`
	Call          int    `json:"call"` // index of the call that waits
	Path          int    `json:"path"`
	Metric        string `json:"metric"`
	Title         string `json:"title"` // of the metric
	At            int64  `json:"at"`
	Amount        int64  `json:"amount"`
	CauseLocation int    `json:"cause_location"` // who came late
	CauseRank     int    `json:"cause_rank"`
	CausePath     int    `json:"cause_path"`  // with which operation
	CauseEnter    int64  `json:"cause_enter"` // and when that began
	Met           bool   `json:"met"`         // whether the two had met before
	Since         int64  `json:"since"`       // when; 0 if not
	WrongOrder    bool   `json:"wrong_order,omitempty"`
	Uncertain     bool   `json:"uncertain,omitempty"` // shorter than the error of the clocks
	Category      int    `json:"category"`            // id of its root cause in the legend of color=cause
}

// Messages is the answer of messages: those on their way at some time of the window, with both ends in the range of
// locations.
type Messages struct {
	Total     int64     `json:"total"`     // messages in the window
	Estimated bool      `json:"estimated"` // Total is an estimate: not all messages were looked at
	Chosen    bool      `json:"chosen"`    // there are more than limit: of those looked at, limit are listed that matter most
	Messages  []Message `json:"messages"`  // by time of sending
}

// Message is a message from location to location.
type Message struct {
	From     int    `json:"from"`
	To       int    `json:"to"`
	Sent     int64  `json:"sent"`
	Received int64  `json:"received"`
	Size     int64  `json:"size"` // bytes
	Tag      int    `json:"tag"`
	Comm     string `json:"comm,omitempty"`
	Send     int    `json:"send"` // index of the call that sent it
	Recv     int    `json:"recv"` // index of the call that received it
	SendPath int    `json:"send_path"`
	RecvPath int    `json:"recv_path"`
	Wait     int64  `json:"wait"` // ps: how long its receiver or its sender waited in that call; 0 also before the analysis
}

// Critical is the answer of critical: the critical path in the window, by time.
type Critical struct {
	Length  int64           `json:"length"`  // ps: of the whole path
	Missing int64           `json:"missing"` // ps: run time before its first segment
	Pieces  []CriticalPiece `json:"pieces"`
	Paths   []CriticalPath  `json:"paths"` // of the whole path, the longest first
}

// CriticalPiece is a part of the path on one location; if several change places within a column, they are one piece of
// Segments, on the location that has most of its time.
type CriticalPiece struct {
	Location int    `json:"location"`
	From     int64  `json:"from"`
	To       int64  `json:"to"`
	Segments int    `json:"segments"`
	After    string `json:"after,omitempty"` // metric of the wait that ended here
}

// CriticalPath compares the time of a call path on the critical path with the average of all locations.
type CriticalPath struct {
	Path      int   `json:"path"`
	Time      int64 `json:"time"`
	Average   int64 `json:"average"`
	Imbalance int64 `json:"imbalance"`
}

// Waits is the answer of waits. All times are sums over ranks.
type Waits struct {
	Waiting      int64        `json:"waiting"`
	Unattributed int64        `json:"unattributed"` // waiting without cause: the two had never met before
	Uncertain    int64        `json:"uncertain"`    // in wait states shorter than the error of the clocks
	States       int          `json:"states"`
	Metrics      []WaitMetric `json:"metrics"` // those that occur, the greatest first
	Causes       []WaitCause  `json:"causes"`  // rank and call path, the most expensive first
	ByPath       []WaitCause  `json:"by_path"` // the same summed over ranks; their Rank is -1
	Cut          bool         `json:"cut"`
}

// WaitMetric is a kind of wait state.
type WaitMetric struct {
	Metric      string `json:"metric"`
	Title       string `json:"title"`
	Meaning     string `json:"meaning"`
	Advice      string `json:"advice"`
	Category    int    `json:"category"` // in the legend of color=wait
	PartOf      string `json:"part_of,omitempty"`
	Amount      int64  `json:"amount"`
	Direct      int64  `json:"direct"`
	Indirect    int64  `json:"indirect"`
	Propagating int64  `json:"propagating"`
	Terminal    int64  `json:"terminal"`
}

// WaitCause is what a call path costs others.
type WaitCause struct {
	Rank     int              `json:"rank"`
	Path     int              `json:"path"`
	Cost     int64            `json:"cost"`
	Short    int64            `json:"short"` // directly
	Long     int64            `json:"long"`  // through further waits
	Share    float64          `json:"share"` // of all waiting
	ByMetric map[string]int64 `json:"by_metric"`
	Category int              `json:"category"` // in the legend of color=cause
}

// WaitAnswer is the answer of wait: a wait state, and why.
type WaitAnswer struct {
	State       State       `json:"state"`
	Chain       []Step      `json:"chain"` // back along the greatest causes
	Explanation Explanation `json:"explanation"`
	Roots       []Root      `json:"roots"` // where it all began, the greatest first
	Rest        int64       `json:"rest"`  // what roots leave out
	Text        []Sentence  `json:"text"`
	Advice      string      `json:"advice"`
	Next        *StateRef   `json:"next,omitempty"`     // wait of the same kind at the same location
	Previous    *StateRef   `json:"previous,omitempty"` // likewise
}

// Step is a place to jump to on the way back to the cause.
type Step struct {
	Kind     string `json:"kind"` // wait: somebody waits; work: somebody computes longer than the one that waits; unknown
	Location int    `json:"location"`
	Rank     int    `json:"rank"`
	Path     int    `json:"path"`
	From     int64  `json:"from"` // ps: where to look: the wait, or the longest call of the path since the two had met
	To       int64  `json:"to"`
	Amount   int64  `json:"amount"`          // of a wait: how long; of work: the part of the wait before that it explains
	State    int    `json:"state"`           // of a wait: its number; else -1
	Title    string `json:"title,omitempty"` // of a wait: its kind
}

// Explanation says why waiting happened; shares of causes sum up to the amount.
type Explanation struct {
	Metric string  `json:"metric"`
	Rank   int     `json:"rank"`
	Path   int     `json:"path"`
	Count  int64   `json:"count"`
	Amount int64   `json:"amount"`
	Causes []Cause `json:"causes"`
}

// Cause is one reason why a rank came late.
type Cause struct {
	Kind    string       `json:"kind"` // excess, waited or unknown
	Rank    int          `json:"rank"`
	Path    int          `json:"path"`
	Metric  string       `json:"metric,omitempty"`
	Share   int64        `json:"share"`
	Because *Explanation `json:"because,omitempty"`
}

// Root is a call path on a rank where a chain of causes begins.
type Root struct {
	Rank  int   `json:"rank"`
	Path  int   `json:"path"`
	Share int64 `json:"share"`
}

// Sentence is a part of an explanation in words; deeper ones explain the one before.
type Sentence struct {
	Depth int    `json:"depth"`
	Text  string `json:"text"`
}

// StateRef is where another wait state is.
type StateRef struct {
	State    int   `json:"state"`
	Location int   `json:"location"`
	At       int64 `json:"at"`
	Amount   int64 `json:"amount"`
}

// Tree is the answer of tree: call paths, parents before children, with sums over all ranks.
type Tree struct {
	Metrics []TreeMetric `json:"metrics"`
	Nodes   []TreeNode   `json:"nodes"`
	Cut     bool         `json:"cut"` // there are more call paths
}

// TreeMetric is a metric of a tree.
type TreeMetric struct {
	Metric string `json:"metric"` // time, visits, sent, received, collective, waiting, waiting:METRIC, delay, critical
	Title  string `json:"title"`
	Unit   string `json:"unit"` // ps, bytes or count
	Parent string `json:"parent,omitempty"`
	Total  int64  `json:"total"`
}

// TreeNode is a call path. Exclusive and Inclusive are in the order of Tree.Metrics.
type TreeNode struct {
	Path      int     `json:"path"`
	Parent    int     `json:"parent"` // of path 0: -1
	Name      string  `json:"name"`   // of the last function
	Kind      string  `json:"kind"`
	File      string  `json:"file,omitempty"`
	Line      int     `json:"line,omitempty"`
	Exclusive []int64 `json:"exclusive"`
	Inclusive []int64 `json:"inclusive"`
}

// Distribution is the answer of distribution: a metric of a call path by rank. Parameters: path, metric as in
// TreeMetric, inclusive 0 or 1 (1 if left out).
type Distribution struct {
	Path      int     `json:"path"`
	Metric    string  `json:"metric"`
	Unit      string  `json:"unit"`
	Inclusive bool    `json:"inclusive"`
	Values    []int64 `json:"values"` // by rank
	Sum       int64   `json:"sum"`
	Min       int64   `json:"min"`
	Max       int64   `json:"max"`
	MinRank   int     `json:"min_rank"`
	MaxRank   int     `json:"max_rank"`
	Mean      float64 `json:"mean"`
	Median    float64 `json:"median"`
	Q1        float64 `json:"q1"`
	Q3        float64 `json:"q3"`
	Grid      *Grid   `json:"grid,omitempty"`
}

// Matrix is the answer of matrix: who sent how much to whom, in at most size x size cells (size up to MaxMatrix). A cell
// (i, j) stands for the ranks i*Group ... and j*Group ...; columns hold the cells that are not empty, by sender, then
// receiver. Collectives are not in it.
type Matrix struct {
	Ranks int     `json:"ranks"`
	Size  int     `json:"size"`
	Group int     `json:"group"`
	From  []int   `json:"from"`
	To    []int   `json:"to"`
	Count []int64 `json:"count"`
	Bytes []int64 `json:"bytes"`
}

// Iterations is the answer of iterations. Path is -1 and List empty if the program does not repeat itself.
type Iterations struct {
	Path   int         `json:"path"`
	Covers bool        `json:"covers"` // calls of the path are the iterations; else these last until the next one
	Cut    bool        `json:"cut"`
	List   []Iteration `json:"list"`
}

// Iteration is one of them; times in ps.
type Iteration struct {
	Begin          int64 `json:"begin"`
	Duration       int64 `json:"duration"`
	Computation    int64 `json:"computation"` // mean over ranks
	MaxComputation int64 `json:"max_computation"`
	MPI            int64 `json:"mpi"`     // mean over ranks, waiting included
	Waiting        int64 `json:"waiting"` // sum over ranks
}

// Composition is the answer of composition: what all locations do from the start of the run to its end.
type Composition struct {
	Total      int64      `json:"total"` // ps: run time x locations
	Parts      []Part     `json:"parts"`
	Efficiency Efficiency `json:"efficiency"`
}

// Part is the time of a kind of activity.
type Part struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Title string `json:"title"`
	Time  int64  `json:"time"`
}

// Efficiency are the POP efficiencies, fractions of 1.
type Efficiency struct {
	RunTime       int64   `json:"run_time"`
	Parallel      float64 `json:"parallel"`
	LoadBalance   float64 `json:"load_balance"`
	Communication float64 `json:"communication"`
	Serialisation float64 `json:"serialisation"`
	Transfer      float64 `json:"transfer"`
	Estimated     bool    `json:"estimated"` // serialisation and transfer are estimates
}

// Tolerance is the answer of tolerance: the run as a schedule, replayed on a machine; T as a function of the latency L.
// Parameters: machine, a name of Run.Machines (the first if left out); latency in picoseconds, if At is wanted.
type Tolerance struct {
	Machine    string           `json:"machine"`
	Given      int64            `json:"given"` // ps: latency of the machine; of several classes of links that of the first, and all move together
	T          int64            `json:"t"`     // ps: run time there
	LambdaL    int64            `json:"lambda_l"`
	LambdaG    int64            `json:"lambda_g"` // bytes
	LambdaO    int64            `json:"lambda_o"`
	Share      float64          `json:"share"` // of T that is latency
	Tolerances []LatencyLimit   `json:"tolerances"`
	Curve      []TolerancePoint `json:"curve"` // ends of the range and breakpoints; T is linear between them
	Cut        bool             `json:"cut"`   // breakpoints were left out of the curve
	At         *TolerancePoint  `json:"at,omitempty"`
}

// TolerancePoint is a point of the curve. Slopes count latencies on the critical path.
type TolerancePoint struct {
	Latency float64 `json:"latency"` // ps
	T       float64 `json:"t"`       // ps
	Before  int64   `json:"before"`
	After   int64   `json:"after"`
}

// LatencyLimit is the largest latency at which T is at most so much longer.
type LatencyLimit struct {
	Percent   string `json:"percent"`
	Latency   int64  `json:"latency"`
	Unbounded bool   `json:"unbounded,omitempty"`
}

// SeriesList is the answer of series: what is in a dataset.
type SeriesList struct {
	Parameters []string `json:"parameters"`
	Series     []Series `json:"series"`
	Cut        bool     `json:"cut"`
}

// Series is a metric of a call path over the parameters, with a model of it if there is one.
type Series struct {
	Series     int           `json:"series"` // its number: figure?series=
	CallPath   string        `json:"callpath"`
	Metric     string        `json:"metric"`
	Points     []SeriesPoint `json:"points"`
	Model      string        `json:"model,omitempty"`
	Growth     string        `json:"growth,omitempty"`     // of its largest term
	Confidence float64       `json:"confidence,omitempty"` // in that, 0 to 1; 0: not known
	Doubt      string        `json:"doubt,omitempty"`
}

// SeriesPoint are the repetitions at one place, as a box plot.
type SeriesPoint struct {
	At     []float64 `json:"at"` // by parameter
	Count  int       `json:"count"`
	Min    float64   `json:"min"`
	Q1     float64   `json:"q1"`
	Median float64   `json:"median"`
	Q3     float64   `json:"q3"`
	Max    float64   `json:"max"`
}
